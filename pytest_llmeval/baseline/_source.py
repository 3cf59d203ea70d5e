"""Where a baseline is found: by name, path, in another commit, or as the last run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pytest_llmeval.baseline._file import FOLDER, Baseline, parse_baseline
from pytest_llmeval.baseline._git import file_at_merge_base
from pytest_llmeval.baseline._standing import standing_of
from pytest_llmeval.errors import ConfigError, UserError, did_you_mean
from pytest_llmeval.store.runs import StoredRun, read_run, run_files

__all__ = ["NoBaseline", "baseline_path", "find_baseline"]

_NAME: Final = re.compile(r"[\w][\w.-]*")
_WAYS: Final = "a name, a path (.json, .jsonl), git:REF:NAME or last"


class NoBaseline(UserError):
    """There is no such baseline yet, which is no mistake."""


def baseline_path(root: Path, name: str) -> Path:
    """Return the file of a baseline.

    Args:
        root: The root directory.
        name: Letters, digits, dots, hyphens, underscores.

    Raises:
        ConfigError: The name can't be a file's, or means something else.
    """
    if not _NAME.fullmatch(name) or name == "last":
        message = (
            f"{name!r} is no name for a baseline: it has letters, digits, dots, hyphens "
            f"and underscores, and is not 'last'"
        )
        raise ConfigError(message)
    return root / FOLDER / f"{name.removesuffix('.json')}.json"


def find_baseline(spec: str, *, root: Path, base: Path) -> Baseline:
    """Return what a run is to be compared with.

    Args:
        spec: ``NAME``, a path, ``git:REF:NAME`` or ``last``.
        root: The root directory.
        base: Where a relative path begins.

    Raises:
        NoBaseline: There is none yet; the text says how to make one.
        UserError: It can't be read, or the spec is none.
    """
    if spec == "last":
        return _last(root)
    if spec.startswith("git:"):
        return _of_commit(spec, root)
    if spec.endswith((".json", ".jsonl")) or "/" in spec or "\\" in spec:
        return _of_path(base / spec, spec)
    path = baseline_path(root, spec)
    if not path.is_file():
        raise NoBaseline(_none_yet(spec, path))
    return parse_baseline(
        _content(path, f"{FOLDER}/{path.name}"), f"{FOLDER}/{path.name}"
    )


def _none_yet(name: str, path: Path) -> str:
    there = sorted(one.stem for one in path.parent.glob("*.json"))
    near = did_you_mean(name, [*there, "last"])
    known = f"; there are: {', '.join(there)}; " if there else ": "
    return f"no baseline {name!r} yet{near}{known}--llmeval-save={name} makes it"


def _last(root: Path) -> Baseline:
    """Return the newest run that came to its end."""
    for path in run_files(root / ".llmeval" / "runs"):
        try:
            run = read_run(path)
        except UserError:
            continue  # of another version, or damaged: not what was meant
        if run.footer is not None and run.records:
            return _of_run(run, "last")
    message = "no run has come to its end here yet: run once without comparing"
    raise NoBaseline(message)


def _of_run(run: StoredRun, name: str) -> Baseline:
    return Baseline(
        name=name,
        cases=tuple(map(standing_of, run.records)),
        created=str(run.header.get("started", "")),
        run=run.header,
    )


def _of_commit(spec: str, root: Path) -> Baseline:
    _, _, rest = spec.partition(":")
    ref, separator, name = rest.rpartition(":")
    if not separator or not ref or not name:
        message = f"{spec!r} is to be git:REF:NAME, such as git:origin/main:main"
        raise ConfigError(message)
    path = baseline_path(root, name)
    content, commit = file_at_merge_base(root, ref, f"{FOLDER}/{path.name}")
    if content is None:
        message = (
            f"no baseline {name!r} in {commit[:7]}, where this branch left {ref}: "
            f"commit {FOLDER}/{path.name} there"
        )
        raise NoBaseline(message)
    return parse_baseline(content, f"{commit[:7]}:{FOLDER}/{path.name}")


def _of_path(path: Path, shown: str) -> Baseline:
    if path.suffix == ".jsonl":
        return _of_run(read_run(path), shown)
    if path.suffix != ".json":
        raise ConfigError(f"{shown!r} is no baseline: give {_WAYS}")
    if not path.exists():
        message = f"no baseline {shown!r} yet: a named one is made by --llmeval-save"
        raise NoBaseline(message)
    return parse_baseline(_content(path, shown), shown)


def _content(path: Path, shown: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as exc:
        message = f"the baseline {shown!r} can't be read: {exc.strerror or exc}"
        raise UserError(message) from exc

"""Which files a path or glob names."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path, PurePath

from pytest_llmeval.config.files import folder_listing, inside, shown_path
from pytest_llmeval.datasets._read import suffix_of
from pytest_llmeval.errors import DatasetError

__all__ = ["DataFile", "find_files"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """One file of a dataset."""

    path: Path
    shown: str
    """Its name in error texts and sources."""
    prefix: str = ""
    """What the ids of rows that name none begin with: set where files are several."""


def find_files(
    path: str | PurePath, *, root: Path | None, base: Path | None
) -> list[DataFile]:
    """Return the file a path names, or all that a glob does, sorted.

    Args:
        path: A path or a glob, relative to `base`.
        root: Where every file must lie, None for no limit.
        base: Where relative paths begin, None for the current directory.

    Raises:
        DatasetError: There is none, it lies outside `root`, or has another suffix.
    """
    given = path.as_posix() if isinstance(path, PurePath) else path
    start = base if base is not None else Path()
    target = start / given
    # Not Path.exists, which raises for a name that no file can have.
    if glob.has_magic(given) and not os.path.exists(target):
        return _matches(given, start, root)
    inside(target, root, shown=given, error=DatasetError)
    if os.path.isdir(target):
        message = (
            f"{given!r} is a folder: give a file, or a glob such as "
            f"{given.rstrip('/') or '.'}/*.jsonl{folder_listing(target)}"
        )
        raise DatasetError(message)
    suffix_of(target.name)
    return [DataFile(path=target, shown=_shown(target, given, root))]


def _matches(pattern: str, start: Path, root: Path | None) -> list[DataFile]:
    found = sorted(
        PurePath(match)
        for match in glob.glob(pattern, root_dir=start, recursive=True)
        if os.path.isfile(start / match)
    )
    if not found:
        folder = _plain_start(pattern, start)
        message = f"no file matches {pattern!r}{folder_listing(folder / '*')}"
        raise DatasetError(message)
    stems = [match.stem for match in found]
    are_distinct = len(set(stems)) == len(stems)
    files = []
    for match in found:
        target = inside(start / match, root, shown=match.as_posix(), error=DatasetError)
        suffix_of(match.name)
        name = match.stem if are_distinct else match.as_posix()
        files.append(
            DataFile(
                path=target,
                shown=_shown(target, match.as_posix(), root),
                prefix=f"{name}-",
            )
        )
    return files


def _plain_start(pattern: str, start: Path) -> Path:
    """Return the deepest folder a glob names without a wildcard."""
    folder = start
    for part in PurePath(pattern).parts[:-1]:
        if glob.has_magic(part):
            break
        folder = folder / part
    return folder


def _shown(target: Path, given: str, root: Path | None) -> str:
    return given if root is None else shown_path(target, root)

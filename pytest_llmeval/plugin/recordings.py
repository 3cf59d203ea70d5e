"""Recordings of a run: they ride on reports, and the controller writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_llmeval.clients.shelf import SHARED
from pytest_llmeval.store.recordings import Entry, Recordings, recording_path

__all__ = ["RecordingWriter"]


class RecordingWriter:
    """Gathers what the cases of a run used, by file, and writes it at the end.

    Args:
        root: Root directory of the suite.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._entries: dict[Path, list[Entry]] = {}

    def add(self, nodeid: str | None, entries: list[Mapping[str, Any]]) -> None:
        """Take the replies that a case used, or that were asked outside of one."""
        if nodeid is None:
            path = recording_path(self._root, SHARED)
        else:
            file = PurePosixPath(nodeid.partition("::")[0])
            path = recording_path(self._root / file.parent, file.stem)
        found = self._entries.setdefault(path, [])
        found += (Entry.from_json(entry) for entry in entries)

    def write(self) -> Iterator[str]:
        """Write every file that changed; yield a line for the summary for each.

        Raises:
            OSError: A file can't be written.
        """
        for path, entries in sorted(self._entries.items()):
            if not entries:
                continue
            if Recordings.read(path).write(entries, only_these=False):
                yield f"recorded {path.relative_to(self._root).as_posix()}"

"""Recordings of a run: they ride on reports, and the controller writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_llmeval.config.files import shown_path
from pytest_llmeval.store.recordings import Entry, Filed, Recordings

__all__ = ["RecordingWriter"]


class RecordingWriter:
    """Gathers what the cases of a run used, by file, and writes it at the end.

    Args:
        root: Root directory of the suite.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._entries: dict[Path, list[Entry]] = {}

    def add(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Take the replies that were used, as they ride on reports."""
        for data in entries:
            filed = Filed.from_json(data, self._root)
            self._entries.setdefault(filed.path, []).append(filed.entry)

    def write(self) -> Iterator[str]:
        """Write every file that changed; yield a line for the summary for each.

        Raises:
            OSError: A file can't be written.
        """
        for path, entries in sorted(self._entries.items()):
            if Recordings.read(path).write(entries, only_these=False):
                yield f"recorded {shown_path(path, self._root)}"

"""The recordings of a session: found for the case that is running, kept with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_llmeval.config.files import shown_path
from pytest_llmeval.recorder import SampleRun, current_sample
from pytest_llmeval.redact import Redactor
from pytest_llmeval.store.difference import difference
from pytest_llmeval.store.key import request_key
from pytest_llmeval.store.recordings import FOLDER, Entry, Recordings, recording_path

__all__ = ["SHARED", "Shelf"]

#: The stem of the file with what was asked outside of a case.
SHARED = "_shared"
_MOST_LINES = 12


class Shelf:
    """Finds recorded replies and collects new ones.

    Args:
        root: Root directory of the suite.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.outside: list[dict[str, Any]] = []
        """Entries that were used outside of a case."""
        self._sources: list[Callable[[], Iterable[str]]] = []
        self._secrets: set[str] = set()
        self._redactor = Redactor(())
        self._files: dict[Path, Recordings] = {}
        self._kept: dict[str, Entry] = {}

    def hide(self, secrets: Callable[[], Iterable[str]]) -> None:
        """Take these values out of everything that is kept.

        Args:
            secrets: Yields them; asked each time, as a fixture may set a variable
                long after a model was built.
        """
        self._sources.append(secrets)

    @property
    def redactor(self) -> Redactor:
        """Takes out the secrets of every model there is."""
        found = {secret for source in self._sources for secret in source()}
        if not found <= self._secrets:
            self._secrets |= found
            self._redactor = Redactor(self._secrets)
        return self._redactor

    def clean(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a request without secrets, as it is kept and compared."""
        cleaned: Mapping[str, Any] = self.redactor.redact(request)
        return cleaned

    def find(self, request: Mapping[str, Any], sample: int) -> Entry | None:
        """Return the recorded reply, from the case's own file first.

        Its neighbours are looked at too: what a fixture of the session asks is kept
        with whichever test came first.
        """
        key = request_key(request, sample)
        own = self.path()
        for path in (own, *sorted(self._neighbours(own))):
            if (entry := self._file(path).entries.get(key)) is not None:
                return entry
        return None

    def kept(self, request: Mapping[str, Any], sample: int) -> Entry | None:
        """Return what this session has kept for a request, None when nothing."""
        return self._kept.get(request_key(request, sample))

    def keep(self, entry: Entry) -> Entry:
        """Put a reply that was used with the case that used it; return what is kept.

        A file holds one reply to a request. Where two cases ask the same at once, the
        first reply is kept and counts for both: what is replayed is what was scored.
        """
        entry = self._kept.setdefault(entry.key, entry)
        data: dict[str, Any] = self.redactor.redact(entry.to_json())
        sample = current_sample()
        (self.outside if sample is None else sample.recordings).append(data)
        return entry

    def check(self) -> None:
        """Read the running case's file, before anything is asked that goes into it.

        Raises:
            UserError: It is broken.
        """
        self._file(self.path())

    def miss(self, request: Mapping[str, Any]) -> str:
        """Return the text of a request that has no recording: what differs, what next.

        Args:
            request: What was asked.
        """
        sample = current_sample()
        rerun = sample.run.rerun if sample else ""
        command = re.sub(r" --llmeval-mode[= ]\S+", "", rerun or "pytest")
        command += " --llmeval-mode=record"
        path = self.path()
        shown = shown_path(path, self.root)
        nearest = self._file(path).nearest(request)
        if nearest is None:
            there = "is empty" if path.is_file() else "does not exist"
            return f"no recording: {shown} {there}; record it: {command}"
        lines = list(difference(request, nearest.request))
        if not lines:
            lines = ["the index of the repeat (sample)"]
        if len(lines) > _MOST_LINES:
            lines[_MOST_LINES:] = [f"and {len(lines) - _MOST_LINES} parts more"]
        listed = "\n".join(f"  {line}" for line in lines)
        return (
            f"no recording of this request in {shown}; the nearest entry differs in\n"
            f"{listed}\nrecord it: {command}"
        )

    def path(self) -> Path:
        """Return the file for what the running case asks."""
        return self._path_of(current_sample())

    def _path_of(self, sample: SampleRun | None) -> Path:
        if sample is None:
            return recording_path(self.root, SHARED)
        file = PurePosixPath(sample.run.nodeid.partition("::")[0])
        return recording_path(self.root / file.parent, file.stem)

    def _neighbours(self, own: Path) -> set[Path]:
        folders = {own.parent, self.root / FOLDER}
        return {path for f in folders for path in f.glob("*.jsonl")} - {own}

    def _file(self, path: Path) -> Recordings:
        if path not in self._files:
            self._files[path] = Recordings.read(path)
        return self._files[path]

"""The recordings of a session: found for the case that is running, kept with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_llmeval.recorder import SampleRun, current_sample
from pytest_llmeval.redact import Redactor
from pytest_llmeval.store.key import request_key
from pytest_llmeval.store.recordings import (
    FOLDER,
    Entry,
    Recordings,
    difference,
    recording_path,
)

__all__ = ["SHARED", "Shelf"]

#: The stem of the file with what was asked outside of a case.
SHARED = "_shared"


class Shelf:
    """Finds recorded replies and collects new ones.

    Args:
        root: Root directory of the suite.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.redactor = Redactor(())
        """Takes out the secrets of every model that was built."""
        self._secrets: set[str] = set()
        self.outside: list[dict[str, Any]] = []
        """Entries that were used outside of a case."""
        self._files: dict[Path, Recordings] = {}

    def hide(self, secrets: Iterable[str]) -> None:
        """Take these values out of everything that is kept."""
        self._secrets.update(secrets)
        self.redactor = Redactor(self._secrets)

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

    def keep(self, entry: Entry) -> None:
        """Put a reply that was used with the case that used it."""
        data: dict[str, Any] = self.redactor.redact(entry.to_json())
        sample = current_sample()
        (self.outside if sample is None else sample.recordings).append(data)

    def miss(self, request: Mapping[str, Any]) -> str:
        """Return the text of a request that has no recording: what differs, what next.

        Args:
            request: What was asked.
        """
        sample = current_sample()
        command = f"{sample.run.rerun} " if sample and sample.run.rerun else "pytest "
        command += "--llmeval-mode=record"
        path = self.path()
        shown = path.relative_to(self.root).as_posix()
        nearest = self._file(path).nearest(request)
        if nearest is None:
            there = "is empty" if path.is_file() else "does not exist"
            return f"no recording: {shown} {there}; record it: {command}"
        lines = "\n".join(f"  {line}" for line in difference(request, nearest.request))
        if not lines:
            lines = "  the index of the repeat (sample)"
        return (
            f"no recording of this request in {shown}; the nearest entry differs in\n"
            f"{lines}\nrecord it: {command}"
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

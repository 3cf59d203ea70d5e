"""The recordings of a session: found for the case that is running, kept with it."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_llmeval.config.files import shown_path
from pytest_llmeval.recorder import current_sample
from pytest_llmeval.redact import Redactor
from pytest_llmeval.store.answers import Answer, Answers
from pytest_llmeval.store.difference import difference
from pytest_llmeval.store.recordings import (
    FOLDER,
    Entry,
    Filed,
    Recordings,
    recording_path,
)

__all__ = ["SHARED", "Shelf", "module_recording"]

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
        self.answers: Answers | None = None
        """What a failure was answered, where one is run again."""
        self._sources: list[Callable[[], Iterable[str]]] = []
        self._secrets: set[str] = set()
        self._redactor = Redactor(())
        self._seen: dict[Any, Any] | None = None
        """The environment when the secrets were last asked for."""
        self._reading = threading.Lock()
        """Bodies replay on threads of their own, and a file is read once."""
        self._paths: dict[str, Path] = {}
        self._files: dict[Path, Recordings] = {}
        self._folders: dict[Path, dict[str, Filed]] = {}
        self._around: dict[Path, list[dict[str, Filed]]] = {}
        self._kept: dict[str, Filed] = {}

    def hide(self, secrets: Callable[[], Iterable[str]]) -> None:
        """Take these values out of everything that is kept.

        Args:
            secrets: Yields them; asked each time, as a fixture may set a variable
                long after a model was built.
        """
        self._sources.append(secrets)
        self._seen = None

    @property
    def redactor(self) -> Redactor:
        """Takes out the secrets of every model there is."""
        variables = _variables()
        if variables is not None and variables == self._seen:
            return self._redactor  # nothing was set since: a look at all costs 0.1 ms
        found = {secret for source in self._sources for secret in source()}
        if not found <= self._secrets:
            self._secrets |= found
            self._redactor = Redactor(self._secrets)
        self._seen = variables  # last: other threads go by it
        return self._redactor

    def clean(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a request without secrets, as it is kept and compared."""
        cleaned: Mapping[str, Any] = self.redactor.redact(request)
        return cleaned

    def find(self, key: str, module: str | None = None) -> Filed | None:
        """Return the recorded reply, from the case's own file first.

        Its neighbours are looked at too: what a fixture of the session asks is kept
        with whichever test came first.

        Args:
            key: Of the request.
            module: The file of the test that asks; None for that of the running case.
        """
        path = self.path() if module is None else self._path_of(module)
        with self._reading:
            own = self._file(path)
            if (entry := own.entries.get(key)) is not None:
                return Filed(path=own.path, entry=entry)
            for folder in self._neighbours(own.path):
                if (filed := folder.get(key)) is not None:
                    return filed
        return None

    def answered(self, key: str) -> Answer | None:
        """Return what the failure that is run again was answered, None if nothing."""
        return None if self.answers is None else self.answers.find(key)

    def kept(self, key: str) -> Filed | None:
        """Return what this session has kept for a request, None when nothing."""
        return self._kept.get(key)

    def keep(self, entry: Entry, path: Path | None = None) -> Entry:
        """Put a reply that was used with the case that used it; return what is kept.

        A file holds one reply to a request. Where two cases ask the same at once, the
        first reply is kept and counts for both: what is replayed is what was scored.

        Args:
            entry: The reply.
            path: The file it was found in. What a fixture asks stays there, whichever
                test comes first; what a body asks has its place in the case's own file.
        """
        sample = current_sample()
        own = self.path()
        if sample is not None and sample.is_in_setup:
            found = self.find(entry.key) if path is None else None
            own = path or (found.path if found else own)
        filed = Filed(path=own, entry=entry)
        first = self._kept.setdefault(entry.key, filed)
        filed = replace(filed, entry=first.entry)
        data: dict[str, Any] = self.redactor.redact(filed.to_json(self.root))
        (self.outside if sample is None else sample.recordings).append(data)
        return first.entry

    def check(self) -> None:
        """Read the running case's file, before anything is asked that goes into it.

        Raises:
            UserError: It is broken.
        """
        self._file(self.path())

    def check_module(self, nodeid: str) -> None:
        """Read the file of an item's module, before anything runs.

        Raises:
            UserError: It is broken.
        """
        self._file(module_recording(self.root, nodeid.partition("::")[0]))

    def miss(self, request: Mapping[str, Any]) -> str:
        """Return the text of a request that has no recording: what differs, what next.

        Args:
            request: What was asked.
        """
        sample = current_sample()
        rerun = sample.run.rerun if sample else ""
        if self.answers is not None:
            listed = _listed(self.answers.difference(request))
            near = f"it differs from the nearest one in\n{listed}\n" if listed else ""
            return (
                f"this was not asked when the case failed, so there is no answer to it\n"
                f"{near}run it live: {rerun or 'pytest'}"
            )
        command = re.sub(r" --llmeval-mode[= ]\S+", "", rerun or "pytest")
        command += " --llmeval-mode=record"
        path = self.path()
        shown = shown_path(path, self.root)
        nearest = self._file(path).nearest(request)
        if nearest is None:
            there = "is empty" if path.is_file() else "does not exist"
            return f"no recording: {shown} {there}; record it: {command}"
        lines = list(difference(request, nearest.request))
        listed = _listed(lines or ["the index of the repeat (sample)"])
        return (
            f"no recording of this request in {shown}; the nearest entry differs in\n"
            f"{listed}\nrecord it: {command}"
        )

    def path(self) -> Path:
        """Return the file for what the running case asks."""
        sample = current_sample()
        return self._path_of(sample.run.nodeid.partition("::")[0] if sample else "")

    def _path_of(self, name: str) -> Path:
        if name not in self._paths:
            self._paths[name] = (
                module_recording(self.root, name) if name else self._shared()
            )
        return self._paths[name]

    def _shared(self) -> Path:
        return recording_path(self.root, SHARED)

    def _neighbours(self, own: Path) -> list[dict[str, Filed]]:
        """Return what the folder of a file holds, and that of the root directory."""
        if own not in self._around:
            folders = dict.fromkeys((own.parent, self.root / FOLDER))
            self._around[own] = [self._folder(folder) for folder in folders]
        return self._around[own]

    def _folder(self, folder: Path) -> dict[str, Filed]:
        """Return what the files of a folder hold, each reply from the first one."""
        if folder not in self._folders:
            self._folders[folder] = {
                key: Filed(path=path, entry=entry)
                for path in sorted(folder.glob("*.jsonl"), reverse=True)
                for key, entry in self._file(path).entries.items()
            }
        return self._folders[folder]

    def _file(self, path: Path) -> Recordings:
        if path not in self._files:
            self._files[path] = Recordings.read(path)
        return self._files[path]


def _listed(lines: list[str]) -> str:
    if len(lines) > _MOST_LINES:
        more = f"and {len(lines) - _MOST_LINES} parts more"
        lines = [*lines[:_MOST_LINES], more]
    return "\n".join(f"  {line}" for line in lines)


def module_recording(root: Path, module: str) -> Path:
    """Return the file of a module or task.

    Args:
        root: Root directory of the suite.
        module: The part of a node id before the first ``::``.
    """
    file = PurePosixPath(module)
    return recording_path(root / file.parent, file.stem)


def _variables() -> dict[Any, Any] | None:
    """Return the environment, to be compared; None where that is not cheap."""
    data = getattr(os.environ, "_data", None)
    if not isinstance(data, dict):
        return None
    found = data.copy()  # at once: another thread may change it
    # pytest itself sets this one for each phase of each test.
    for own in (os.fsencode("PYTEST_CURRENT_TEST"), "PYTEST_CURRENT_TEST"):
        found.pop(own, None)
    return found

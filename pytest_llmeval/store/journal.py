"""Writing the journal of a run, as it goes or at once; `store.runs` has its format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from pytest_llmeval.store.kept import KeptRecord, Lines
from pytest_llmeval.store.lines import prepare_home, strict_json
from pytest_llmeval.store.runs import FORMAT, run_files
from pytest_llmeval.types import Record

__all__ = ["KEPT", "Journal", "new_name", "write_run"]

#: How many runs are kept.
KEPT: Final = 20


class Journal:
    """Writes a run to disk as it goes. Made by `Journal.open`.

    A folder that can't be written or a full disk never stops a run: `trouble` then says
    what happened, and nothing more is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trouble: str | None = None
        """One sentence for the person at the terminal, None when all is well."""
        self._descriptor: int | None = None
        self._lines: Lines | None = None
        self._last = (0, 0)
        """Start and size of the line that was written last."""

    @classmethod
    def open(
        cls,
        directory: Path,
        header: Mapping[str, Any],
        *,
        needed: Set[Path] = frozenset(),
    ) -> Self:
        """Begin a run and delete the oldest ones.

        Args:
            directory: The ``.llmeval`` of the root directory; made where missing.
            header: What is known of the run before its first case.
            needed: Earlier runs that this one still reads: they stay.
        """
        journal = cls(directory / "runs" / new_name())
        try:
            prepare_home(directory)
            journal._create(needed)
        except OSError as exc:
            journal._give_up(exc)
        journal._write({"format": FORMAT, "kind": "run", **header})
        return journal

    def append(self, record: Mapping[str, Any]) -> Record:
        """Keep a case that has ended.

        Args:
            record: The data of `Record.to_json`, its secrets removed.

        Returns:
            The record; what is long is read from here when it is needed, if it could
            be written.
        """
        self._write({"kind": "case", **record})
        if self._descriptor is None or self._lines is None:
            return Record.from_json(record)
        return KeptRecord.of(record, self._lines, *self._last)

    def forget(self) -> None:
        """Read nothing of it any more."""
        if self._lines is not None:
            self._lines.close()

    def close(self, footer: Mapping[str, Any]) -> None:
        """End the run: what is known only now goes into the footer."""
        self._write({"kind": "end", **footer})
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        try:
            os.close(descriptor)
        except OSError as exc:  # some file systems tell only now that they are full
            self._give_up(exc)

    def _create(self, needed: Set[Path]) -> None:
        self.path.parent.mkdir(exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        # Windows would turn each line feed into two characters.
        flags |= getattr(os, "O_BINARY", 0)
        self._descriptor = os.open(self.path, flags, 0o666)
        # Now, and not when something is read: others may delete an old run's file.
        self._lines = Lines(self.path)
        others = [path for path in run_files(self.path.parent) if path != self.path]
        for path in others[KEPT - 1 :]:
            if path not in needed:
                with suppress(OSError):  # in use, or another run has deleted it
                    path.unlink()

    def _write(self, data: Mapping[str, Any]) -> None:
        if self._descriptor is None:
            return
        line = f"{strict_json(data)}\n".encode()
        # Before it is written: Ctrl-C may strike right after it.
        self._last = (sum(self._last), len(line))
        try:
            written = os.write(self._descriptor, line)
            if written < len(line):
                message = f"only {written} of {len(line)} bytes were written"
                raise OSError(message)
        except OSError as exc:
            self._give_up(exc)

    def _give_up(self, exc: OSError) -> None:
        self.trouble = (
            f"could not write the journal of this run, {str(self.path)!r}: "
            f"{exc.strerror or exc}; the run goes on, but what needs its journal "
            f"(comparing, resuming) will not find it whole"
        )
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):
                os.close(descriptor)


def new_name() -> str:
    """Return the name of a journal that begins now."""
    now = datetime.now(UTC)
    stamp = f"{now:%Y-%m-%dT%H%M%S.%f}Z"
    return f"{stamp}-{os.urandom(4).hex()}.jsonl"


def write_run(
    path: Path,
    header: Mapping[str, Any],
    records: Iterable[Record],
    footer: Mapping[str, Any] | None,
) -> str | None:
    """Write a journal at once: a reader sees the whole of it, or what was there before.

    Args:
        path: The file.
        header: What `StoredRun.header` is to be.
        records: Of all cases.
        footer: None for a run that did not come to its end.

    Returns:
        What went wrong, for people; None when all is well.
    """
    lines = [
        {"format": FORMAT, "kind": "run", **header},
        *({"kind": "case", **record.to_json()} for record in records),
        *([] if footer is None else [{"kind": "end", **footer}]),
    ]
    draft = path.with_name(f".{path.name}-{os.urandom(4).hex()}.tmp")
    try:
        try:
            if path.parent.name == "runs" and path.parent.parent.name == ".llmeval":
                prepare_home(path.parent.parent)
            path.parent.mkdir(parents=True, exist_ok=True)
            with draft.open("wb") as file:
                file.writelines(f"{strict_json(line)}\n".encode() for line in lines)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as exc:
        return f"could not write {str(path)!r}: {exc.strerror or exc}"
    return None

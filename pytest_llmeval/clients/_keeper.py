"""Where the state of a host is kept: in this process, or for all workers of a run.

Workers of xdist share a small SQLite file in ``.llmeval``, one for the run, in which each
says how many slots it holds: those of a worker that was killed come back. Times are
those of the event loop's clock, which is the same for all processes of a machine.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pytest_llmeval.clients._host import Host
from pytest_llmeval.clients._shared_file import SharedFile, Unshared
from pytest_llmeval.config import Limits

if TYPE_CHECKING:
    import sqlite3

__all__ = ["InProcess", "Keeper", "Shared"]

#: How long a slot that another worker gave back may lie unused.
_POLL_SECONDS = 0.005
_BEAT_SECONDS = 1.0
#: Who was not heard of for so long holds nothing any more.
_SILENT_SECONDS = 10.0


class Keeper(Protocol):
    """Where the state of a host is kept."""

    @property
    def poll_seconds(self) -> float:
        """How often to look whether others gave slots back; infinite for never."""

    @property
    def beat_seconds(self) -> float:
        """How often who holds a slot must be heard of; infinite for never."""

    def bound(self, limits: Limits) -> None:
        """Keep to these limits besides those before."""

    def host(self, now: float) -> AbstractContextManager[Host]:
        """Return what yields the state; changes made inside are kept."""


class InProcess:
    """Keeps the state in this process.

    Args:
        limits: What is allowed.
    """

    poll_seconds = math.inf
    beat_seconds = math.inf

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._state = Host.of(limits)

    def bound(self, limits: Limits) -> None:
        """Keep to these limits besides those before."""
        self._limits = self._limits.stricter(limits)
        self._state.bound(self._limits)

    @contextmanager
    def host(self, now: float) -> Iterator[Host]:
        """Yield the state."""
        yield self._state


@dataclass(slots=True, kw_only=True)
class Shared:
    """Keeps the state of one host for all workers of a run."""

    file: SharedFile
    name: str
    """Of the host."""
    limits: Limits
    poll_seconds: float = _POLL_SECONDS
    beat_seconds: float = _BEAT_SECONDS
    _slots: int = 0
    _said: tuple[int, int] = (0, 0)
    """Slots and waiting calls, as they stand in the file."""
    _seen: float = -math.inf
    _own: Host | None = None
    """The state of this worker alone, once the file can't be used any more."""

    def bound(self, limits: Limits) -> None:
        """Keep to these limits besides those before."""
        self.limits = self.limits.stricter(limits)

    @contextmanager
    def host(self, now: float) -> Iterator[Host]:
        """Yield the state as the last worker left it; nobody changes it meanwhile.

        Where the file can't be used any more, this worker goes on by itself.
        """
        found = self._begun(now)
        if found is None:
            assert self._own is not None
            self._own.bound(self.limits)
            yield self._own
            return
        host, held = found
        before = json.dumps(host.dump())
        try:
            yield host
        except BaseException:
            self.file.roll_back()
            raise
        self._slots = host.in_flight - held
        try:
            with self.file.guarded():
                self._leave(host, before, now)
        except Unshared:
            self._go_alone(host)

    def _go_alone(self, host: Host) -> None:
        """Keep the state here from now on: what the others hold is not known."""
        host.in_flight, host.room = self._slots, math.inf
        self._own = host
        self.poll_seconds = self.beat_seconds = math.inf

    def _begun(self, now: float) -> tuple[Host, int] | None:
        """Return what the file says; None where this worker goes on by itself."""
        if self._own is not None:
            return None
        try:
            with self.file.guarded():
                return self._as_left(now)
        except Unshared:
            self._go_alone(Host.of(self.limits))
            return None

    def _as_left(self, now: float) -> tuple[Host, int]:
        """Return the state as it stands in the file, and how many slots others hold."""
        connection = self.file.begin()
        row = connection.execute(
            "SELECT state FROM host WHERE name = ?", (self.name,)
        ).fetchone()
        host = Host.of(self.limits)
        if row:
            host.load(json.loads(row[0]))
            host.bound(self.limits)
        others = self._others(connection, now)
        held = sum(slots for slots, _ in others)
        host.in_flight = held + self._slots
        host.room = self._room(host, others)
        return host, held

    def _leave(self, host: Host, before: str, now: float) -> None:
        """Write the state where it has changed."""
        connection = self.file.begun
        after = json.dumps(host.dump())
        if after != before:
            connection.execute(
                "INSERT OR REPLACE INTO host VALUES (?, ?)", (self.name, after)
            )
        self._be_seen(connection, now, host.waiting)
        self.file.commit()

    def _others(
        self, connection: sqlite3.Connection, now: float
    ) -> list[tuple[int, int]]:
        """Return slots and waiting calls of the others, those of the dead taken away."""
        found = []
        for process, slots, waiting, seen in connection.execute(
            "SELECT process, slots, waiting, seen FROM holder WHERE host = ?",
            (self.name,),
        ).fetchall():
            if process == self.file.process:
                continue
            silent = now - seen
            if silent < _BEAT_SECONDS or (
                silent < _SILENT_SECONDS and self.file.is_alive(process)
            ):
                found.append((slots, waiting))
            elif slots or waiting:
                connection.execute(
                    "DELETE FROM holder WHERE host = ? AND process = ?",
                    (self.name, process),
                )
        return found

    def _room(self, host: Host, others: list[tuple[int, int]]) -> float:
        """Return how many more slots this process may take.

        Once others wait it is a fair share: no worker starves beside a long queue.
        """
        if not any(waiting for _, waiting in others):
            return math.inf
        active = 1 + sum(bool(slots or waiting) for slots, waiting in others)
        return math.ceil(int(host.allowed) / active) - self._slots

    def _be_seen(
        self, connection: sqlite3.Connection, now: float, waiting: int
    ) -> None:
        """Say what this process holds, where that is news or is to be said again."""
        said = (self._slots, waiting)
        if said == self._said and now - self._seen < _BEAT_SECONDS:
            return
        connection.execute(
            "INSERT OR REPLACE INTO holder VALUES (?, ?, ?, ?, ?)",
            (self.name, self.file.process, *said, now),
        )
        self._said, self._seen = said, now

"""Where the state of a host is kept: in this process, or for all workers of a run.

Workers of xdist share a small SQLite file in ``.llmeval``, one for the run. Each says
there how many slots it holds. That it is alive is told by a lock it keeps on a file of
its own, which the system takes back however the process ends: so the slots of a worker
that was killed come back at once, on every system. Times are those of the event loop's clock, which is monotonic and the
same for all processes of a machine.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pytest_llmeval.clients._base import Owner
from pytest_llmeval.clients._host import Host
from pytest_llmeval.clients._process import forget_old
from pytest_llmeval.config import Limits
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.store.lines import prepare_home

if TYPE_CHECKING:
    import sqlite3

__all__ = ["InProcess", "Keeper", "Shared", "SharedFile", "remove_shared"]

#: How long a slot that another worker gave back may lie unused.
_POLL_SECONDS = 0.005
_BEAT_SECONDS = 1.0
#: Who was not heard of for so long holds nothing any more.
_SILENT_SECONDS = 10.0
_BUSY_SECONDS = 30.0

_TABLES = """
CREATE TABLE IF NOT EXISTS host (name TEXT PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS holder (
    host TEXT NOT NULL, process INTEGER NOT NULL, slots INTEGER NOT NULL,
    waiting INTEGER NOT NULL, seen REAL NOT NULL, PRIMARY KEY (host, process)
);
"""


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
class SharedFile:
    """The file that the workers of a run share."""

    home: Path
    """The suite's ``.llmeval`` folder."""
    owner: Owner
    process: int = field(default_factory=os.getpid)
    _connection: sqlite3.Connection | None = None
    _life: sqlite3.Connection | None = None
    """Holds the lock that says that this process is alive."""

    @property
    def path(self) -> Path:
        """Where it is; `Owner.process` in its name tells when it is old."""
        return self.home / f"limits-{self.owner.process}-{self.owner.run}.sqlite"

    def is_alive(self, process: int) -> bool:
        """Return whether another process that has opened the file is still there."""
        import sqlite3

        life = self._life_of(process)
        if not life.exists():
            return False
        with closing(sqlite3.connect(life, timeout=0, isolation_level=None)) as other:
            try:
                other.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError:
                return True
        return False

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, with nobody else writing; roll back on an error.

        Raises:
            ConfigError: The file can't be used.
        """
        import sqlite3

        try:
            if self._connection is None:
                self._connection = self._opened()
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as exc:
            message = (
                f"the workers can't share their limits in {str(self.path)!r}: {exc}; "
                f"run without -n, or make the folder one that can be written to"
            )
            raise ConfigError(message) from exc

    def close(self) -> None:
        """Close the file."""
        for connection in (self._connection, self._life):
            if connection is not None:
                connection.close()
        self._connection = self._life = None

    def _opened(self) -> sqlite3.Connection:
        import sqlite3

        prepare_home(self.home)
        self._life = sqlite3.connect(
            self._life_of(self.process), timeout=_BUSY_SECONDS, isolation_level=None
        )
        self._life.execute("BEGIN EXCLUSIVE")
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None
        )
        # Worth nothing after the run: a power cut may take it.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(_TABLES)
        return connection

    def _life_of(self, process: int) -> Path:
        return self.path.with_name(f"{self.path.stem}-{process}.life")


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

    def bound(self, limits: Limits) -> None:
        """Keep to these limits besides those before."""
        self.limits = self.limits.stricter(limits)

    @contextmanager
    def host(self, now: float) -> Iterator[Host]:
        """Yield the state as the last worker left it; nobody changes it meanwhile."""
        with self.file.transaction() as connection:
            row = connection.execute(
                "SELECT state FROM host WHERE name = ?", (self.name,)
            ).fetchone()
            host = Host.of(self.limits)
            before = row[0] if row else ""
            if before:
                host.load(json.loads(before))
                host.bound(self.limits)
            others = self._others(connection, now)
            held = sum(slots for slots, _ in others)
            host.in_flight = held + self._slots
            host.room = self._room(host, others)
            yield host
            self._slots = host.in_flight - held
            after = json.dumps(host.dump())
            if after != before:
                connection.execute(
                    "INSERT OR REPLACE INTO host VALUES (?, ?)", (self.name, after)
                )
            self._be_seen(connection, now, host.waiting)

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


def remove_shared(home: Path) -> None:
    """Remove what workers of this process have shared, and of processes long gone.

    Args:
        home: The suite's ``.llmeval`` folder.
    """
    for path in home.glob(f"limits-{os.getpid()}-*"):
        with suppress(OSError):  # Windows: a worker that still ends has it open
            path.unlink(missing_ok=True)
    forget_old(home, "limits")

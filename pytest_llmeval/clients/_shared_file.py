"""The file that the workers of a run share, and how they tell who is alive.

Each keeps a lock on a file of its own, which the system takes back however the process
ends: no beat of a heart has to be waited for, and no id of a process that is gone and
not buried, or given to another, can deceive.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.clients._base import Owner
from pytest_llmeval.clients._process import forget_old
from pytest_llmeval.store.lines import prepare_home

if TYPE_CHECKING:
    import sqlite3

__all__ = ["SharedFile", "Unshared", "remove_shared"]

_BUSY_SECONDS = 30.0

_TABLES = """
CREATE TABLE IF NOT EXISTS host (name TEXT PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS holder (
    host TEXT NOT NULL, process INTEGER NOT NULL, slots INTEGER NOT NULL,
    waiting INTEGER NOT NULL, seen REAL NOT NULL, PRIMARY KEY (host, process)
);
"""


class Unshared(Exception):
    """The file can't be used: the disk is full, or nobody may write there."""


@dataclass(slots=True, kw_only=True)
class SharedFile:
    """The file that the workers of a run share."""

    home: Path
    """The suite's ``.llmeval`` folder."""
    owner: Owner
    process: int = field(default_factory=os.getpid)
    trouble: str | None = None
    """Why it can't be used, once that has turned out."""
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
    def guarded(self) -> Iterator[None]:
        """Note that the file can't be used when it turns out so, and raise that.

        Raises:
            Unshared: It can't be used.
        """
        import sqlite3

        try:
            yield
        except (sqlite3.Error, OSError) as exc:
            self.trouble = self.trouble or (
                f"the workers can't share their limits in {str(self.home)!r} ({exc}): "
                f"each keeps to them by itself"
            )
            self.roll_back()
            raise Unshared(self.trouble) from exc

    def begin(self) -> sqlite3.Connection:
        """Return the connection, with nobody else writing until `commit`.

        Raises:
            Unshared: It has turned out before that the file can't be used.
        """
        if self.trouble is not None:
            raise Unshared(self.trouble)
        if self._connection is None:
            self._connection = self._opened()
        self._connection.execute("BEGIN IMMEDIATE")
        return self._connection

    @property
    def begun(self) -> sqlite3.Connection:
        """The connection, after `begin`."""
        assert self._connection is not None
        return self._connection

    def commit(self) -> None:
        """Keep what was written since `begin`."""
        self.begun.execute("COMMIT")

    def roll_back(self) -> None:
        """Forget what was written since `begin`; others may write again."""
        import sqlite3

        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.rollback()

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


def remove_shared(home: Path) -> None:
    """Remove what workers of this process have shared, and of processes long gone.

    Args:
        home: The suite's ``.llmeval`` folder.
    """
    for path in home.glob(f"limits-{os.getpid()}-*"):
        with suppress(OSError):  # Windows: a worker that still ends has it open
            path.unlink(missing_ok=True)
    forget_old(home, "limits")

"""The cache: replies of models in one SQLite file, shared by all processes.

``.llmeval/cache.sqlite``, one row a reply, under the key of its request. What is in it
can always be had again, so trouble with it costs a line in the summary and never a case.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from pytest_llmeval.store.cachefile import (
    DamagedError,
    connect,
    connect_to_read,
    is_damage,
)
from pytest_llmeval.store.lines import strict_json
from pytest_llmeval.store.replies import is_reply

if TYPE_CHECKING:
    import sqlite3

__all__ = ["CACHE_FILE", "Cache", "CacheTotals", "Reply"]

CACHE_FILE: Final = "cache.sqlite"

_DAY: Final = 86_400.0
#: Bytes of a reply; the length of a text would be its characters.
_SIZE: Final = "length(CAST(response AS BLOB)) + length(key)"
#: As bytes and numbers, whatever a damaged row holds.
_READ: Final = (
    "SELECT CAST(response AS BLOB), CAST(run AS BLOB), CAST(made AS REAL), "
    "CAST(used AS REAL) FROM replies WHERE key = ?"
)
_WRITE: Final = (
    "INSERT OR REPLACE INTO replies (key, response, model, run, made, used) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reply to be kept."""

    key: str
    response: dict[str, Any]
    """The data of `replies.packed`, its secrets removed."""
    model: str
    """For people: what was asked."""
    run: str = ""
    """The run that asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheTotals:
    """What a cache holds."""

    replies: int
    bytes: int
    """Of the replies alone."""
    oldest: float | None
    """When the oldest reply was made, in seconds since 1970."""
    newest: float | None
    models: tuple[tuple[str, int], ...]
    """Replies of each model, the most first."""


class Cache:
    """An open cache; its threads take turns. Made by `Cache.open`.

    Raises:
        DamagedError: From every method, when the file turns out to be broken.
        sqlite3.Error: From every method: the disk is full, the file is locked.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.is_read_only = False
        self._connection = connection
        self._lock = threading.Lock()
        self._stale: set[str] = set()

    @classmethod
    def open(cls, path: Path) -> Self:
        """Return the cache in a file, made where it is missing.

        Raises:
            DamagedError: The file is no cache of this version.
            sqlite3.Error: It can't be opened.
        """
        return cls(path, connect(path))

    @classmethod
    def open_to_read(cls, path: Path) -> Self:
        """Return the cache in a file of a folder that can't be written to.

        Raises:
            DamagedError: The file is no cache of this version.
            sqlite3.Error: It can't be opened.
        """
        cache = cls(path, connect_to_read(path))
        cache.is_read_only = True
        return cache

    def find(
        self, key: str, *, since: float = 0.0, run: str | None = None
    ) -> dict[str, Any] | None:
        """Return the data of a reply, None when there is none.

        Args:
            key: Of the request.
            since: Replies made before, in seconds since 1970, are too old.
            run: Only a reply of this run will do; None for any.
        """
        found = self._all(_READ, key)
        if not found:
            return None
        text, maker, made, used = found[0]
        if made < since or (run is not None and run.encode() != maker):
            return None
        if used < time.time() - _DAY:
            self._stale.add(key)
        try:
            data = json.loads(text)
        except ValueError:  # a flipped bit: the reply is asked for again
            return None
        return data if is_reply(data) else None

    def made(self, key: str) -> float | None:
        """Return when a reply was made, in seconds since 1970; None: there is none.

        Looking is no use: it does not keep a reply from being pruned.
        """
        found = self._all("SELECT CAST(made AS REAL) FROM replies WHERE key = ?", key)
        return found[0][0] if found else None

    def put(self, replies: Iterable[Reply]) -> None:
        """Keep replies, in one transaction."""
        now = time.time()
        rows = [
            (r.key, strict_json(r.response), r.model, r.run, now, now) for r in replies
        ]
        self._change(_WRITE, rows)

    def note_use(self) -> None:
        """Write down which replies were used, to the day: pruning drops others first."""
        stale, self._stale = self._stale, set()
        if stale and not self.is_read_only:
            now = time.time()
            rows = [(now, key) for key in stale]
            self._change("UPDATE replies SET used = ? WHERE key = ?", rows)

    def totals(self) -> CacheTotals:
        """Return what it holds."""
        row = self._all(
            f"SELECT count(*), coalesce(sum({_SIZE}), 0), min(made), max(made) "
            f"FROM replies"
        )
        models = self._all(
            "SELECT model, count(*) AS n FROM replies GROUP BY model ORDER BY n DESC"
        )
        replies, size_in_bytes, oldest, newest = row[0]
        return CacheTotals(
            replies=replies,
            bytes=size_in_bytes,
            oldest=oldest,
            newest=newest,
            models=tuple(models),
        )

    def prune(self, *, made_before: float | None, to_bytes: int | None) -> int:
        """Drop replies and return how many; the file becomes as small as what is left.

        Args:
            made_before: Those made before, in seconds since 1970.
            to_bytes: Then those used longest ago, until the rest is no larger.
        """
        before = self.totals().replies
        if made_before is not None:
            self._all("DELETE FROM replies WHERE made < ?", made_before)
        if to_bytes is not None:
            self._all(
                f"DELETE FROM replies WHERE id IN (SELECT id FROM (SELECT id, "
                f"sum({_SIZE}) OVER (ORDER BY used DESC, made DESC, id DESC) AS size "
                f"FROM replies) WHERE size > ?)",
                to_bytes,
            )
        dropped = before - self.totals().replies
        if dropped:
            self._all("VACUUM")
            self._all("PRAGMA wal_checkpoint(TRUNCATE)")
        return dropped

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _all(self, statement: str, *values: Any) -> list[Any]:
        import sqlite3

        try:
            with self._lock:
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as exc:
            if is_damage(exc):
                raise DamagedError(str(exc)) from exc
            raise

    def _change(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        import sqlite3

        try:
            with self._lock:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    self._connection.executemany(statement, rows)
                    self._connection.execute("COMMIT")
                finally:
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
        except sqlite3.Error as exc:
            if is_damage(exc):
                raise DamagedError(str(exc)) from exc
            raise

"""The file of the cache: opened, made, and set aside where it is none of ours."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_llmeval.errors import LLMEvalError

if TYPE_CHECKING:
    import sqlite3

__all__ = [
    "SET_ASIDE",
    "DamagedError",
    "connect",
    "connect_to_read",
    "is_damage",
    "set_aside",
]

#: In the header of every cache: "llme".
_APPLICATION: Final = 0x6C6C6D65
#: Of the table below.
_FORMAT: Final = 1
_TABLE: Final = """
    CREATE TABLE replies (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        response TEXT NOT NULL,
        model TEXT NOT NULL,
        run TEXT NOT NULL,
        made REAL NOT NULL,
        used REAL NOT NULL
    )
"""
#: How long another process may keep the file locked.
_PATIENCE_SECONDS: Final = 5.0
#: Names of files that were set aside.
SET_ASIDE: Final = "cache.damaged-*.sqlite"
#: What SQLite keeps beside its file.
_BESIDE: Final = ("-wal", "-shm")


class DamagedError(LLMEvalError):
    """The file is no cache, or one that can't be read any more."""


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection to the cache, made where it is missing.

    Threads may share it if they take turns.

    Raises:
        DamagedError: The file is something else, or broken.
        sqlite3.Error: It can't be opened, made or locked.
    """
    import sqlite3

    connection = sqlite3.connect(
        path, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        _prepare(connection)
    except sqlite3.Error as exc:
        connection.close()
        if is_damage(exc):
            raise DamagedError(str(exc)) from exc
        raise
    except DamagedError:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Return a connection to a cache in a folder that nobody can write to.

    Raises:
        DamagedError: The file is something else, or broken.
        sqlite3.Error: It can't be opened.
    """
    import sqlite3

    # Immutable, because a reader of WAL files otherwise makes files beside them.
    address = f"{path.absolute().as_uri()}?immutable=1"
    connection = sqlite3.connect(
        address, uri=True, isolation_level=None, check_same_thread=False
    )
    try:
        reason = _foreign(connection)
    except sqlite3.Error:
        connection.close()
        raise
    if reason is not None:
        connection.close()
        raise DamagedError(reason)
    return connection


def is_damage(exc: sqlite3.Error) -> bool:
    """Return whether an error says that the file's content is broken."""
    import sqlite3

    code = getattr(exc, "sqlite_errorcode", None)
    broken = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
    return code is not None and code & 0xFF in broken


def set_aside(path: Path) -> Path:
    """Give a damaged file another name, which is returned; nothing is deleted.

    Raises:
        OSError: It can't be renamed.
    """
    stamp = time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime())
    aside = path.with_name(f"cache.damaged-{stamp}-{os.urandom(2).hex()}.sqlite")
    os.replace(path, aside)
    for end in _BESIDE:
        with suppress(FileNotFoundError):
            os.replace(f"{path}{end}", f"{aside}{end}")
    return aside


def _prepare(connection: sqlite3.Connection) -> None:
    reason = _foreign(connection)
    if reason is not None and not _is_empty(connection):
        raise DamagedError(reason)
    # A reader never waits for a writer, and a commit for no disk. What the power takes
    # with it was a cache's.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    if reason is None:
        return
    connection.execute("BEGIN IMMEDIATE")
    if _is_empty(connection):  # and not made by another process just now
        connection.execute(_TABLE)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_FORMAT}")
    connection.execute("COMMIT")


def _is_empty(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return not tables and not _number(connection, "application_id")


def _foreign(connection: sqlite3.Connection) -> str | None:
    """Return why a database is no cache that can be used, None when it is one."""
    if _number(connection, "application_id") != _APPLICATION:
        return "it is the database of something else"
    version = _number(connection, "user_version")
    if version != _FORMAT:
        return f"it has format {version}, and this version reads {_FORMAT}"
    columns = {row[1] for row in connection.execute("PRAGMA table_info(replies)")}
    if not columns >= {"key", "response", "model", "run", "made", "used"}:
        return "its table is not whole"
    return None


def _number(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])

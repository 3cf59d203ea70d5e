"""A cache that costs no case: what goes wrong with its file becomes a line of text."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, TypeVar

from pytest_llmeval.config.files import shown_path
from pytest_llmeval.store.cache import CACHE_FILE, Cache, Reply
from pytest_llmeval.store.cachefile import DamagedError, set_aside
from pytest_llmeval.store.claims import Claims
from pytest_llmeval.store.lines import prepare_home

__all__ = ["SafeCache"]

_Found = TypeVar("_Found")
#: Claimed while the file is opened or set aside.
_OPENING: Final = "f" * 15
_PATIENCE_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.005


class SafeCache:
    """The cache in a folder, opened with the first question; threads may share it.

    A file that is no cache is set aside. Where nothing can be written, what is there is
    read; where nothing can be read either, nothing is found.

    Args:
        home: The ``.llmeval`` of the root directory.
    """

    def __init__(self, home: Path) -> None:
        self.path = home / CACHE_FILE
        self.notes: list[str] = []
        """A line for each thing that went wrong, for the person at the terminal."""
        self._home = home
        self._lock = threading.RLock()
        self._process: int | None = None
        self._cache: Cache | None = None
        self._claims: Claims | None = None
        self._identity: tuple[int, int] | None = None
        self._is_writable = True
        self._times_damaged = 0

    def find(
        self, key: str, *, since: float = 0.0, run: str | None = None
    ) -> dict[str, Any] | None:
        """Return the data of a reply, None when there is none: as `Cache.find`."""
        return self._read(lambda cache: cache.find(key, since=since, run=run))

    def made(self, key: str) -> float | None:
        """Return when a reply was made, None when there is none: as `Cache.made`."""
        return self._read(lambda cache: cache.made(key))

    def _read(self, look: Callable[[Cache], _Found | None]) -> _Found | None:
        import sqlite3

        cache = self._opened()
        if cache is None:
            return None
        try:
            return look(cache)
        except DamagedError as exc:
            self._replace(cache, exc)
        except sqlite3.Error as exc:
            self._give_up(exc)
        return None

    def put(self, replies: Iterable[Reply]) -> None:
        """Keep replies where that can be done."""
        import sqlite3

        cache = self._opened()
        if cache is None or not self._is_writable:
            return
        try:
            cache.put(replies)
        except DamagedError as exc:
            self._replace(cache, exc)
        except sqlite3.Error as exc:
            self._stop_writing(exc)

    def take(self, key: str) -> bool:
        """Claim a question; return False while another process asks it."""
        if self._opened() is None or self._claims is None or not self._is_writable:
            return True  # what it would wait for could not be kept
        return self._claims.take(key)

    def give_back(self, key: str) -> None:
        """Let others ask."""
        if self._claims is not None:
            self._claims.give_back(key)

    def close(self) -> None:
        """Close the file; it is opened again when something is asked."""
        import sqlite3

        with self._lock:
            cache, self._cache = self._cache, None
            claims, self._claims = self._claims, None
            opened_by, self._process = self._process, None
        if opened_by != os.getpid():
            return  # after a fork these belong to the parent
        if cache is not None:
            try:
                cache.note_use()
                cache.close()
            except (sqlite3.Error, DamagedError):
                pass  # nothing of a reply is lost
        if claims is not None:
            claims.close()

    def _opened(self) -> Cache | None:
        if self._process == os.getpid():
            return self._cache
        with self._lock:
            if self._process != os.getpid():
                # A child process must not use, or close, what its parent opened.
                self._cache = self._claims = None
                self._is_writable = True
                self._open()
                self._process = os.getpid()
            return self._cache

    def _open(self) -> None:
        import sqlite3

        try:
            prepare_home(self._home)
            self._claims = Claims(self._home / "cache.lock")
        except OSError as exc:
            self._open_to_read(exc)
            return
        _wait_for(self._claims)
        try:
            self._cache = self._opened_or_new()
            self._identity = _identity(self.path)
        except (sqlite3.Error, OSError, DamagedError) as exc:
            self._give_up(exc)
        finally:
            self._claims.give_back(_OPENING)

    def _opened_or_new(self) -> Cache:
        try:
            return Cache.open(self.path)
        except DamagedError as exc:
            self._set_aside(exc)
        return Cache.open(self.path)

    def _open_to_read(self, reason: OSError) -> None:
        import sqlite3

        self._is_writable = False
        if not self.path.is_file():
            self._give_up(reason)
            return
        try:
            self._cache = Cache.open_to_read(self.path)
        except (DamagedError, sqlite3.Error) as exc:
            self._give_up(exc)
        else:
            self._note_unwritable(reason)

    def _replace(self, damaged: Cache, exc: DamagedError) -> None:
        """Go on with a new file; another thread or process may have begun one."""
        import sqlite3

        with self._lock:
            if self._cache is not damaged:
                return
            self._cache = None
            self._times_damaged += 1
            if self._times_damaged > 1 or self._claims is None:
                self._give_up(exc)
                return
            _wait_for(self._claims)
            try:
                damaged.close()
                if _identity(self.path) == self._identity:
                    self._set_aside(exc)
                self._cache = self._opened_or_new()
                self._identity = _identity(self.path)
            except (sqlite3.Error, OSError, DamagedError) as trouble:
                self._give_up(trouble)
            finally:
                self._claims.give_back(_OPENING)

    def _set_aside(self, exc: DamagedError) -> None:
        aside = set_aside(self.path)
        self._note(f"was unusable ({exc}): it is now {aside.name}, and a new one begun")

    def _stop_writing(self, exc: Exception) -> None:
        with self._lock:
            if self._is_writable:
                self._is_writable = False
                self._note_unwritable(exc)

    def _give_up(self, exc: Exception) -> None:
        with self._lock:
            self._cache = None
            self._is_writable = False
            self._note(f"can't be used ({exc}): everything is asked, nothing is kept")

    def _note_unwritable(self, exc: Exception) -> None:
        self._note(f"can't be written ({exc}): it is read, and nothing new is kept")

    def _note(self, what: str) -> None:
        shown = shown_path(self.path, self._home.parent)
        self.notes.append(f"the cache {shown} {what}")


def _wait_for(claims: Claims) -> None:
    """Wait until no other process opens the file, but not for ever."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not claims.take(_OPENING) and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino

"""Claims on questions, seen by every process of the machine.

A claim is a lock on one byte of a file, at a place that the question's key says. The
operating system gives it back when its process ends, however that ends: nobody waits for
a worker that is gone. Processes exclude each other here, threads of one do not.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["Claims"]

#: What a lock that somebody else holds is called on different systems.
_HELD: Final = frozenset({errno.EACCES, errno.EAGAIN, errno.EDEADLK})


class Claims:
    """The claims of this process.

    Closing one of two that a process has on a file gives back the claims of both: a
    process keeps one open while it asks.

    Args:
        path: The file; made where it is missing.

    Raises:
        OSError: It can't be made.
    """

    def __init__(self, path: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._descriptor = os.open(path, flags, 0o666)
        # Windows locks where the file's one position is.
        self._lock = threading.Lock()

    def take(self, key: str) -> bool:
        """Claim a question; return whether no other process has.

        Where a file system knows no locks everybody may ask.

        Args:
            key: Hexadecimal digits, 15 or more.
        """
        try:
            with self._lock:
                _lock(self._descriptor, _place(key))
        except OSError as exc:
            return exc.errno not in _HELD
        return True

    def give_back(self, key: str) -> None:
        """Let others ask."""
        with suppress(OSError), self._lock:
            _unlock(self._descriptor, _place(key))

    def close(self) -> None:
        """Give back everything."""
        with suppress(OSError):
            os.close(self._descriptor)


def _place(key: str) -> int:
    return int(key[:15], 16)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, place: int) -> None:
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int, place: int) -> None:
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int, place: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)

    def _unlock(descriptor: int, place: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, place)

"""A thread that writes replies into the cache, several in one transaction.

A commit may wait for the disk or for another process, and the event loop waits for
nobody.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final

from pytest_llmeval.store.cache import Reply
from pytest_llmeval.store.safecache import SafeCache

__all__ = ["CacheWriter"]

_MOST: Final = 500
_PATIENCE_SECONDS: Final = 10.0

#: A reply, and what to do when it can be found.
_Order = tuple[Reply, Callable[[], None]]


class CacheWriter:
    """Writes in the background; its thread starts with the first reply.

    Args:
        cache: Where to.
    """

    def __init__(self, cache: SafeCache) -> None:
        self._cache = cache
        self._lock = threading.Lock()
        self._orders: SimpleQueue[_Order | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._process = os.getpid()

    def put(self, reply: Reply, done: Callable[[], None]) -> None:
        """Keep a reply; call `done` once it can be found, or can't be kept."""
        with self._lock:
            if self._thread is None or self._process != os.getpid():
                self._start()
            self._orders.put((reply, done))

    def close(self) -> None:
        """Return when everything is written."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None and self._process == os.getpid():
                self._orders.put(None)
                thread.join(_PATIENCE_SECONDS)

    def _start(self) -> None:
        self._process = os.getpid()
        self._orders = SimpleQueue()
        self._thread = threading.Thread(
            target=self._work, args=(self._orders,), name="llmeval-cache", daemon=True
        )
        self._thread.start()

    def _work(self, orders: SimpleQueue[_Order | None]) -> None:
        order = orders.get()
        while order is not None:
            batch = [order]
            try:
                while len(batch) < _MOST:
                    following = orders.get_nowait()
                    if following is None:
                        orders.put(None)  # seen again when the batch is written
                        break
                    batch.append(following)
            except Empty:
                pass
            try:
                self._cache.put(reply for reply, _ in batch)
            finally:
                for _, done in batch:
                    done()
            order = orders.get()

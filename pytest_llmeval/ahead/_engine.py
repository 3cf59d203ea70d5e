"""The engine: so many bodies at once, plain ones on threads, async ones on the loop.

The threads are daemons with a queue of their own: an executor's are joined when the
interpreter ends, and a body that hangs would keep it from ending.
"""

from __future__ import annotations

import threading
from collections import deque
from queue import SimpleQueue
from typing import Final

from pytest_llmeval.ahead._body import Body
from pytest_llmeval.loop import LoopThread

__all__ = ["Engine"]

#: Bodies whose call waits for its next attempt give their place to others, until there
#: are so many times as many as were asked for.
_MOST_WAITING: Final = 4


class Engine:
    """Runs bodies, up to the width of each at once, in the order they were given.

    Args:
        loop: Runs the async ones.
    """

    def __init__(self, loop: LoopThread) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._queue: deque[Body] = deque()
        self._active: set[Body] = set()
        self._waiting = 0
        self._idle: SimpleQueue[Body | None] = SimpleQueue()
        self._idle_threads = 0
        self._is_closed = False

    @property
    def running(self) -> int:
        """How many bodies have begun and not ended."""
        return len(self._active)

    @property
    def waiting(self) -> int:
        """How many of them wait for the next attempt of a call."""
        return self._waiting

    def submit(self, body: Body, *, is_next: bool = False) -> None:
        """Run a body when there is room for it; before all others where it is next."""
        with self._lock:
            if is_next:
                self._queue.appendleft(body)
            else:
                self._queue.append(body)
        self._fill()

    def drop(self, body: Body, *, hangs: bool = False) -> None:
        """Let nobody wait for a body any more: it does not begin, or is cancelled.

        Args:
            body: A plain one that has begun can't be stopped; it keeps its place until
                it ends, for it is still at work.
            hangs: Whether its place is given to others all the same.
        """
        with self._lock:
            if not body.is_started:
                self._queue.remove(body)
                return
            if hangs:
                self._active.discard(body)
        if body.cancel is not None:
            body.cancel()
        self._fill()

    def close(self) -> None:
        """Begin nothing more, cancel what can be, let threads end."""
        with self._lock:
            self._is_closed = True
            left = [body for body in self._active if not body.is_done]
            self._queue.clear()
            idle, self._idle_threads = self._idle_threads, 0
        for body in left:
            self.drop(body)
        for _ in range(idle):
            self._idle.put(None)

    def pause(self, is_waiting: bool) -> None:
        """Note that a body's call waits for another attempt, or no longer does.

        Meanwhile its place is another's.
        """
        with self._lock:
            self._waiting += 1 if is_waiting else -1
        if is_waiting:
            self._fill()

    def _fill(self) -> None:
        """Begin bodies while there is room."""
        while True:
            with self._lock:
                body = self._next()
                if body is None:
                    return
                has_thread = self._idle_threads > 0
                if has_thread and not body.is_async:
                    self._idle_threads -= 1
            if body.is_async:
                self._start_task(body)
            elif has_thread:
                self._idle.put(body)
            else:
                threading.Thread(
                    target=self._work, args=(body,), name="llmeval-body", daemon=True
                ).start()

    def _next(self) -> Body | None:
        """Take the next body that may begin now. The lock is held."""
        if not self._queue:
            return None
        width = self._queue[0].width
        room = min(width + self._waiting, width * _MOST_WAITING)
        if len(self._active) >= room:
            return None
        body = self._queue.popleft()
        body.is_started = True
        self._active.add(body)
        return body

    def _start_task(self, body: Body) -> None:
        async def run() -> None:
            try:
                await body.run_async()
            finally:
                self._ended(body)

        body.cancel = body.context.run(self._loop.start, run())

    def _ended(self, body: Body) -> None:
        with self._lock:
            self._active.discard(body)
        self._fill()

    def _work(self, first: Body) -> None:
        """Run bodies on this thread: the next that is due, or the next it is given."""
        body: Body | None = first
        while body is not None:
            body.run()
            body = self._following(body) or self._idle.get()

    def _following(self, body: Body) -> Body | None:
        """End a body; return another that can begin on the same thread at once."""
        with self._lock:
            self._active.discard(body)
            if self._queue and not self._queue[0].is_async:
                following = self._next()
                if following is not None:
                    return following
            if self._is_closed:
                self._idle.put(None)
            else:
                self._idle_threads += 1
        self._fill()
        return None

"""Every question is under way once: for all tasks, threads and processes.

Whoever asks first leads; who asks the same meanwhile waits for that reply. An error
counts for those who wait in the same process, and is kept for nobody else. When a
leader is cancelled, or its process dies, the next one asks.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.store.cache import Reply
from pytest_llmeval.store.cachewriter import CacheWriter
from pytest_llmeval.store.safecache import SafeCache

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["Flights", "Landed", "Wanted"]

#: How long to wait between two looks at a question that another process asks.
_PAUSES_SECONDS: Final = (0.002, 0.05)

_Outcome = dict[str, Any] | LLMEvalError | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A question, and which kept replies will do."""

    key: str
    since: float = 0.0
    """Replies made before, in seconds since 1970, are too old."""
    run: str | None = None
    """Only a reply of this run will do; None for any."""
    patience_seconds: float = 300.0
    """How long another process may take: one that was suspended asks for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """What asking brought the one who asked."""

    reply: Reply
    is_kept: bool
    """Whether it goes into the cache."""


class Flights:
    """The questions under way in this process.

    Args:
        cache: Where replies are kept, and other processes' claims are seen.
    """

    def __init__(self, cache: SafeCache) -> None:
        self.cache = cache
        self._writer = CacheWriter(cache)
        self._lock = threading.Lock()
        self._flights: dict[str, Future[_Outcome]] = {}
        self._process = os.getpid()

    async def fetch(
        self, wanted: Wanted, ask: Callable[[], Awaitable[Landed]]
    ) -> dict[str, Any] | None:
        """Return the data of a reply that is kept or that somebody else asks for.

        None where the caller's own `ask` was called: it has the reply itself.

        Args:
            wanted: The question.
            ask: Asks; called at most once.

        Raises:
            LLMEvalError: What `ask` raised, here or for whoever leads.
        """
        import asyncio

        kept = self.cache.find(wanted.key, since=wanted.since, run=wanted.run)
        while kept is None:
            flight, leads = self._join(wanted.key)
            if leads:
                return await self._lead(flight, wanted, ask)
            # Shielded: who stops waiting must not stop the others.
            outcome = await asyncio.shield(asyncio.wrap_future(flight))
            if isinstance(outcome, LLMEvalError):
                raise _twin(outcome)
            kept = outcome
        return kept

    def close(self) -> None:
        """Return when all replies are written, and close the cache."""
        self._writer.close()
        self.cache.close()

    def _join(self, key: str) -> tuple[Future[_Outcome], bool]:
        from concurrent.futures import Future

        with self._lock:
            if self._process != os.getpid():
                # Leaders stay behind in the parent.
                self._process = os.getpid()
                self._flights = {}
            found = self._flights.get(key)
            if found is not None:
                return found, False
            flight = self._flights[key] = Future()
            return flight, True

    async def _lead(
        self,
        flight: Future[_Outcome],
        wanted: Wanted,
        ask: Callable[[], Awaitable[Landed]],
    ) -> dict[str, Any] | None:
        outcome: _Outcome = None
        landed: Landed | None = None
        try:
            outcome = await self._found_meanwhile(wanted)
            if outcome is not None:
                return outcome
            landed = await ask()
            outcome = landed.reply.response
        except LLMEvalError as exc:
            outcome = exc
            raise
        finally:
            self._land(flight, wanted.key, outcome, landed)
        return None

    async def _found_meanwhile(self, wanted: Wanted) -> dict[str, Any] | None:
        """Claim a question; return what another process has kept until then."""
        import asyncio

        pause, longest = _PAUSES_SECONDS
        until = time.monotonic() + wanted.patience_seconds
        while not self.cache.take(wanted.key) and time.monotonic() < until:
            await asyncio.sleep(pause)
            pause = min(longest, pause * 1.5)
        return self.cache.find(wanted.key, since=wanted.since, run=wanted.run)

    def _land(
        self,
        flight: Future[_Outcome],
        key: str,
        outcome: _Outcome,
        landed: Landed | None,
    ) -> None:
        def done() -> None:
            with self._lock:
                if self._flights.get(key) is flight:
                    del self._flights[key]
            self.cache.give_back(key)

        if landed is None or not landed.is_kept:
            done()
        else:
            # Until it can be found on disk, it is found here.
            self._writer.put(landed.reply, done)
        flight.set_result(outcome)


def _twin(error: LLMEvalError) -> LLMEvalError:
    """Return an error of one's own: its traceback and notes are for one to change."""
    twin = copy(error)
    twin.__cause__ = error.__cause__
    return twin

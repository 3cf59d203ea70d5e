"""The limiter of one server under one key, shared by all clients that ask it.

A slot is held while a request is under way, and never while a call waits for its retry.
Who has waited for a retry goes first; else the order of asking holds.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_llmeval.clients._host import Ended, Host, How
from pytest_llmeval.clients._keeper import InProcess, Keeper, Shared
from pytest_llmeval.clients._shared_file import SharedFile
from pytest_llmeval.config import Limits
from pytest_llmeval.errors import ProviderError

if TYPE_CHECKING:
    import asyncio

    from pytest_llmeval.clients._base import Request

__all__ = ["Limiter", "Limiters", "Slot"]

#: Of English text, roughly, with every tokenizer.
_CHARACTERS_A_TOKEN = 4
_FIRST_GUESS_TOKENS = 200.0


@dataclass(slots=True, kw_only=True)
class Slot:
    """The right to one request."""

    number: int
    began: float
    used_tokens: int | None = None
    """To be set when the server has said it."""


@dataclass(order=True, slots=True, kw_only=True)
class _Waiter:
    is_new: bool
    """Whether it is a call's first attempt."""
    number: int
    tokens: float = field(compare=False)
    deadline: float = field(compare=False)
    granted: asyncio.Future[Slot] = field(compare=False)


class Limiter:
    """Lets requests go out as their host bears them, on one event loop.

    Args:
        keeper: Where the state of the host is kept.
    """

    def __init__(self, keeper: Keeper) -> None:
        self._has_answered = False
        self.is_given_up = False
        """Whether a call tried in vain a host that nobody has ever heard: where nobody
        is, every further call asks once."""
        self._keeper = keeper
        self._queue: list[_Waiter] = []
        self._count = 0
        self._held = 0
        self._is_closed = False
        self._timer: asyncio.TimerHandle | None = None
        self._output = _FIRST_GUESS_TOKENS

    @asynccontextmanager
    async def slot(
        self, request: Request, *, is_new: bool, deadline: float
    ) -> AsyncIterator[Slot]:
        """Hold a slot: wait for it, and give it back.

        Args:
            request: What is to be asked.
            is_new: Whether it is the call's first attempt.
            deadline: Time of the event loop; a pause of the host that lasts beyond it
                is an error at once.

        Raises:
            ProviderError: The host has paused for so long.
        """
        read = _characters(request) / _CHARACTERS_A_TOKEN
        guess = read + self._output
        slot = await self._granted(guess, is_new, deadline)
        how: How = "lost"
        asked = None
        try:
            yield slot
            how = "answered"
        except ProviderError as exc:
            if exc.status is not None:
                is_refused = exc.status == 429 and exc.is_transient
                how = "refused" if is_refused else "answered"
            asked = exc.retry_after_seconds
            raise
        finally:
            if how != "lost":
                self._has_answered, self.is_given_up = True, False
            beyond = 0.0
            if slot.used_tokens is not None:
                beyond = slot.used_tokens - guess
                self._output = 0.8 * self._output + 0.2 * (slot.used_tokens - read)
            self._advance(
                Ended(
                    number=slot.number,
                    began=slot.began,
                    how=how,
                    retry_after_seconds=asked,
                    tokens_beyond=beyond,
                )
            )

    def close(self) -> None:
        """Grant nothing any more."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()

    def give_up(self) -> None:
        """Note that a call has made all its attempts and heard nothing."""
        self.is_given_up = not self._has_answered

    async def _granted(self, tokens: float, is_new: bool, deadline: float) -> Slot:
        """Return a slot, having waited for it."""
        import asyncio

        loop = asyncio.get_running_loop()
        self._count += 1
        waiter = _Waiter(
            is_new=is_new,
            number=self._count,
            tokens=tokens,
            deadline=deadline,
            granted=loop.create_future(),
        )
        heapq.heappush(self._queue, waiter)
        self._advance()
        try:
            return await waiter.granted
        except asyncio.CancelledError:
            granted = waiter.granted
            if granted.done() and not granted.cancelled() and not granted.exception():
                slot = granted.result()
                self._advance(Ended(number=slot.number, began=slot.began, how="lost"))
            raise

    def _advance(self, ended: Ended | None = None) -> None:
        """Give back the slot of a request that ended, and grant what can be granted."""
        import asyncio

        if self._is_closed:
            return
        loop = asyncio.get_running_loop()
        now = loop.time()
        with self._keeper.host(now) as host:
            if ended is not None:
                host.end(now, ended)
                self._held -= 1
            wait = self._grant(host, now)
            host.waiting = len(self._queue)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._queue and wait == math.inf:
            wait = self._keeper.poll_seconds
        if self._held or self._queue:
            wait = min(wait, self._keeper.beat_seconds)
        if wait < math.inf:
            self._timer = loop.call_later(wait, self._advance)

    def _grant(self, host: Host, now: float) -> float:
        """Grant what can be granted; return how long whoever is next must wait."""
        if host.paused_until > now:
            self._send_away(host.paused_until, now)
        while self._queue:
            waiter = self._queue[0]
            if not waiter.granted.done():
                if (wait := host.wait(now)) > 0:
                    return wait
                number = host.begin(now, waiter.tokens)
                waiter.granted.set_result(Slot(number=number, began=now))
                self._held += 1
            heapq.heappop(self._queue)
        return math.inf

    def _send_away(self, until: float, now: float) -> None:
        """End the waiting of those whose deadline is before a pause's end."""
        for waiter in self._queue:
            if waiter.deadline < until and not waiter.granted.done():
                message = (
                    f"the server refuses every request (429) and asks for a pause of "
                    f"{math.ceil(until - now):,} s, longer than a call may take (limits: "
                    f"deadline_seconds)"
                )
                waiter.granted.set_exception(ProviderError(message, status=429))


def _characters(request: Request) -> int:
    given = request.given
    if given is not None:
        return len(given.text) + len(given.context or "")
    if request.texts:
        return sum(map(len, request.texts))
    return len(request.prompt.text)


class Limiters:
    """One limiter a server and key.

    Args:
        file: What the workers of a run share; None where there is one process.
    """

    def __init__(self, file: SharedFile | None = None) -> None:
        self._file = file
        self._made: dict[str, tuple[Limiter, Keeper]] = {}

    def of(self, host: str, limits: Limits) -> Limiter:
        """Return the limiter of a host, the same one for all who ask it.

        Args:
            host: The name of server and key.
            limits: Of who asks; with several the strictest hold.
        """
        if host not in self._made:
            keeper = self._keeper(host, limits)
            self._made[host] = (Limiter(keeper), keeper)
        limiter, keeper = self._made[host]
        keeper.bound(limits)
        return limiter

    @property
    def trouble(self) -> str | None:
        """Why the workers can't share their limits, None where they can."""
        return self._file.trouble if self._file is not None else None

    def close(self) -> None:
        """Close what is shared; who still holds a slot gives it back to nobody."""
        for limiter, _ in self._made.values():
            limiter.close()
        self._made.clear()
        if self._file is not None:
            self._file.close()

    def _keeper(self, host: str, limits: Limits) -> Keeper:
        if self._file is None:
            return InProcess(limits)
        return Shared(file=self._file, name=host, limits=limits)

"""Asking again: what may pass by itself, finitely, and never past the call's deadline."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_llmeval.clients._base import Request
from pytest_llmeval.clients._layer import Layer
from pytest_llmeval.clients.limits import Limiter
from pytest_llmeval.config import Limits
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.recorder import pause
from pytest_llmeval.types import Response

if TYPE_CHECKING:
    import asyncio

    import tenacity

__all__ = ["RetryBackend"]

#: Without a word of the server's: up to half a second, then up to twice as long each
#: time ("full jitter"), but never up to more than the longest.
_FIRST_SECONDS = 0.5
_LONGEST_SECONDS = 30.0
#: Who was told the same wait comes back a little later, each by itself.
_SPREAD = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryBackend(Layer):
    """Asks a model again while its server fails in a way that may pass.

    Every attempt takes a slot of the limiter; none is held while the call waits.
    """

    limiter: Limiter
    limits: Limits
    draw: Callable[[], float] = random.random
    """Returns a number from 0 to 1."""

    async def answer(self, request: Request) -> Response:
        """Return the reply of the first attempt that gets one.

        Raises:
            ProviderError: The last attempt's error, with the number of attempts.
        """
        call = _Call(self, request)
        try:
            return await call.attempt()
        except ProviderError as exc:
            call.first_failure = exc
        # Not before: it takes a tenth of a call, and most calls need no second attempt.
        import tenacity

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(_may_pass),
            wait=call.wait,
            stop=call.is_over,
            sleep=_paused,
            reraise=True,
        )
        try:
            return await retrying(call.next_attempt)
        except ProviderError as exc:
            raise call.told(exc) from None


class _Call:
    """One call under way."""

    def __init__(self, backend: RetryBackend, request: Request) -> None:
        self._backend = backend
        self._limits = backend.limits
        self._request = request
        self._trail = request.trail
        self._deadline: float | None = None
        """Time of the event loop; counts from the first request."""
        self._ended_at = 0.0
        self._failure: ProviderError | None = None
        """Of the attempt before."""
        self.first_failure: ProviderError | None = None
        """Of the first attempt, until it is told to who decides on a second."""
        self._why_no_more = ""

    async def next_attempt(self) -> Response:
        """Return the reply of the next attempt; at first tell how the first one failed.

        Raises:
            ProviderError: It failed.
        """
        failure, self.first_failure = self.first_failure, None
        if failure is not None:
            raise failure
        return await self.attempt()

    async def attempt(self) -> Response:
        """Return the reply to one request, sent when there is a slot.

        Raises:
            ProviderError: There is none.
        """
        import asyncio

        loop = asyncio.get_running_loop()
        sent = self._trail.attempts
        try:
            async with asyncio.timeout_at(self._deadline) as timeout:
                return await self._asked(loop, timeout)
        except ProviderError as exc:
            self._failure = exc
            raise
        except TimeoutError:
            raise self._too_late(is_sent=self._trail.attempts > sent) from None
        finally:
            self._ended_at = loop.time()

    async def _asked(
        self, loop: asyncio.AbstractEventLoop, timeout: asyncio.Timeout
    ) -> Response:
        seconds = self._limits.deadline_seconds
        async with self._backend.limiter.slot(
            self._request,
            is_new=self._deadline is None,
            deadline=self._deadline or loop.time() + seconds,
        ) as slot:
            self._trail.attempts += 1
            if self._deadline is None:
                self._deadline = loop.time() + seconds
                timeout.reschedule(self._deadline)
            else:
                self._trail.waits.append(loop.time() - self._ended_at)
            response = await self._backend.inner.answer(self._request)
            slot.used_tokens = response.usage.total if response.usage else None
            return response

    def _too_late(self, *, is_sent: bool) -> ProviderError:
        """Return the error of a call whose deadline came, its request sent or not."""
        seconds = self._limits.deadline_seconds
        if self._failure is None or is_sent:
            message = (
                f"{self._backend.name}: no whole reply within {seconds:g} s (limits: "
                f"deadline_seconds)"
            )
            return ProviderError(message)
        self._why_no_more = (
            f"its deadline of {seconds:g} s (limits: deadline_seconds) came while it "
            f"waited for its turn"
        )
        return self._failure

    def wait(self, state: tenacity.RetryCallState) -> float:
        """Return the seconds to wait before the next attempt."""
        number = state.attempt_number
        asked = self._failure.retry_after_seconds if self._failure else None
        draw = self._backend.draw()
        if asked is not None and (asked > 0 or number == 1):
            return asked * (1 + _SPREAD * draw)
        # Also where a server that asked for no wait has refused again.
        return draw * min(_FIRST_SECONDS * 2.0 ** (number - 1), _LONGEST_SECONDS)

    def is_over(self, state: tenacity.RetryCallState) -> bool:
        """Return whether there is no further attempt."""
        import asyncio

        is_last = state.attempt_number > self._limits.retries
        if is_last or self._backend.limiter.is_given_up or self._why_no_more:
            return True
        begins = asyncio.get_running_loop().time() + state.upcoming_sleep
        if self._deadline is None or begins < self._deadline:
            return False
        asked = self._failure.retry_after_seconds if self._failure else None
        seconds = f"{self._limits.deadline_seconds:g} s (limits: deadline_seconds)"
        self._why_no_more = (
            f"the deadline of {seconds} leaves no time for another"
            if asked is None
            else f"the server asks to wait {math.ceil(asked):,} s, longer than the "
            f"deadline of {seconds} leaves"
        )
        return True

    def told(self, error: ProviderError) -> ProviderError:
        """Return the last error with what was tried."""
        if error.is_transient and error.status is None:
            self._backend.limiter.give_up()
        sent = self._trail.attempts
        tried = [f"{sent} attempts were made"] if sent > 1 else []
        if self._why_no_more:
            tried.append(self._why_no_more)
        if tried:
            error.reason = f"{error.reason}; {', and '.join(tried)}"
            error.args = (error.reason,)
        return error


async def _paused(seconds: float) -> None:
    """Sleep, while other cases run in the place of the one that waits."""
    import asyncio

    with pause():
        await asyncio.sleep(seconds)


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, ProviderError) and error.is_transient

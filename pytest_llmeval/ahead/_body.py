"""One run of a test's body: what to call, where it stands, what came of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass
from logging import LogRecord
from typing import Any

__all__ = ["Body", "Outcome", "Piece"]

#: What a body wrote: the name of a stream and a text, or a record of a logger.
Piece = tuple[str, str] | LogRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a body ended."""

    seconds: float
    """Of the body alone, waiting for models included, waiting for its turn not."""
    value: Any = None
    """What it returned."""
    exception: BaseException | None = None
    """What it raised, whatever that is."""


class Body:
    """One run of a test's body, on a thread or on the event loop.

    Args:
        call: Runs it; returns a coroutine where `is_async`.
        context: Holds the case that runs: what is asked and written finds it there.
        is_async: Whether it runs on the event loop.
        width: How many bodies of its test may run at once.
    """

    __slots__ = (
        "_done",
        "call",
        "cancel",
        "context",
        "is_async",
        "is_started",
        "outcome",
        "pieces",
        "width",
    )

    def __init__(
        self,
        call: Callable[[], Any],
        *,
        context: Context,
        is_async: bool = False,
        width: int = 1,
    ) -> None:
        self.call = call
        self.context = context
        self.is_async = is_async
        self.width = width
        self.pieces: list[Piece] = []
        self.outcome: Outcome | None = None
        self.is_started = False
        self.cancel: Callable[[], None] | None = None
        """Ends it where that can be done: on the event loop."""
        self._done = threading.Event()

    def wait(self, seconds: float) -> bool:
        """Return whether it has ended, after `seconds` at the latest."""
        return self._done.wait(seconds)

    @property
    def is_done(self) -> bool:
        """Whether it has ended."""
        return self._done.is_set()

    def run(self) -> None:
        """Run a plain body to its end; whatever it raises is kept."""
        __tracebackhide__ = True
        value, exception = None, None
        started = time.perf_counter()
        try:
            value = self.context.run(self.call)
        except BaseException as exc:  # noqa: BLE001 - raised again in the item's turn
            exception = exc
        self._end(started, value, exception)

    async def run_async(self) -> None:
        """Run an ``async def`` body to its end; whatever it raises is kept.

        The loop's own thread would end by a KeyboardInterrupt that gets out.
        """
        __tracebackhide__ = True
        value, exception = None, None
        started = time.perf_counter()
        try:
            value = await self.call()
        except BaseException as exc:  # noqa: BLE001 - raised again in the item's turn
            exception = exc
        self._end(started, value, exception)

    def _end(self, started: float, value: Any, exception: BaseException | None) -> None:
        seconds = time.perf_counter() - started
        self.outcome = Outcome(seconds=seconds, value=value, exception=exception)
        self._done.set()

"""The main thread while it waits for a body: it shows how the run stands."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import pytest

from pytest_llmeval.ahead import Body, Outcome
from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.plugin.progress import Progress, Standing
from pytest_llmeval.recorder import SampleRun

__all__ = ["Standing", "Tally", "Waiting"]

#: Between two lines of progress; on Windows Ctrl-C is heard no faster either.
_TICK_SECONDS: Final = 0.2


class Waiting:
    """Waits for bodies.

    Args:
        config: The pytest config.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._progress = Progress(config)

    def wait_for(self, body: Body, standing: Callable[[], Standing]) -> Outcome:
        """Return how a body ended.

        Args:
            body: It has been given to the engine.
            standing: Returns how the run stands.

        Raises:
            UnscoredError: pytest-timeout ended the waiting.
        """
        __tracebackhide__ = True
        try:
            while not body.wait(_TICK_SECONDS):
                if self._progress.is_wanted:
                    self._progress.show(standing())
        except pytest.fail.Exception as exc:
            # From pytest-timeout's signal: our waiting is what it interrupts.
            message = f"the case was still running: {exc}"
            raise UnscoredError(message, cause="interrupted") from None
        finally:
            self._progress.wipe()
        assert body.outcome is not None
        return body.outcome


class Tally:
    """Counts what has ended."""

    def __init__(self) -> None:
        self.ended = 0
        """Evaluations that have had their turn."""
        self._cost: float | None = None
        self._began = time.monotonic()

    def take(self, sample: SampleRun) -> None:
        """Add what a case cost."""
        for call in sample.calls:
            if call.response is not None and call.response.cost is not None:
                self._cost = (self._cost or 0.0) + call.response.cost

    def standing(
        self, total: int, *, done: int, running: int, retrying: int
    ) -> Standing:
        """Return how the run stands.

        Args:
            total: Evaluations of the session.
            done: Bodies that have ended and not had their turn.
            running: Bodies that have begun and not ended.
            retrying: Calls that wait for another attempt.
        """
        return Standing(
            done=self.ended + done,
            total=total,
            running=running,
            retrying=retrying,
            cost=self._cost,
            seconds=time.monotonic() - self._began,
        )

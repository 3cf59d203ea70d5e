from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import settings

# By the clock an example takes as long as whatever else the machine is doing.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


class _Selector(selectors.DefaultSelector):
    """Never blocks: where the loop would wait for a timer, the time is turned on."""

    now = 1000.0

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if not found and timeout:
            self.now += timeout
        return found


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now


@pytest.fixture
def in_virtual_time() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Return what runs a coroutine on a loop whose timers take no time.

    Exact and fast: `asyncio.sleep(300)` returns at once, 300 seconds later by the
    loop's own clock.
    """

    def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
        with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
            return runner.run(coroutine)

    return run

"""The engine: so many bodies at once, in order, with outcomes of their own."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pytest_llmeval.ahead import Body, Engine
from pytest_llmeval.loop import LoopThread

#: No test waits longer for what never comes.
PATIENCE_SECONDS = 20


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    loop = LoopThread()
    yield loop
    loop.close()


@pytest.fixture
def engine(loop: LoopThread) -> Iterator[Engine]:
    engine = Engine(loop)
    yield engine
    engine.close()


def body(call: Callable[[], Any], *, width: int = 2, is_async: bool = False) -> Body:
    context = contextvars.copy_context()
    return Body(call, context=context, is_async=is_async, width=width)


def outcome_of(one: Body) -> Any:
    assert one.wait(PATIENCE_SECONDS)
    return one.outcome


def test_plain_bodies_run_at_once(engine: Engine) -> None:
    meeting = threading.Barrier(3, timeout=PATIENCE_SECONDS)
    bodies = [body(meeting.wait, width=3) for _ in range(3)]

    for one in bodies:
        engine.submit(one)

    assert sorted(outcome_of(one).value for one in bodies) == [0, 1, 2]


def test_async_bodies_run_at_once(engine: Engine) -> None:
    meeting = asyncio.Barrier(3)

    async def call() -> int:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await meeting.wait()

    bodies = [body(call, width=3, is_async=True) for _ in range(3)]
    for one in bodies:
        engine.submit(one)

    assert sorted(outcome_of(one).value for one in bodies) == [0, 1, 2]


@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
def test_never_more_than_the_width_run(engine: Engine, is_async: bool) -> None:
    now, most = 0, 0
    lock = threading.Lock()

    def enter(change: int) -> None:
        nonlocal now, most
        with lock:
            now += change
            most = max(most, now)

    def plain() -> None:
        enter(1)
        threading.Event().wait(0.001)
        enter(-1)

    async def on_loop() -> None:
        enter(1)
        await asyncio.sleep(0.001)
        enter(-1)

    bodies = [
        body(on_loop if is_async else plain, is_async=is_async) for _ in range(60)
    ]
    for one in bodies:
        engine.submit(one)
    for one in bodies:
        outcome_of(one)

    assert most == 2


def test_bodies_begin_in_the_order_they_were_given(engine: Engine) -> None:
    begun: list[int] = []
    bodies = [body(lambda n=n: begun.append(n), width=1) for n in range(50)]  # type: ignore[misc]

    for one in bodies:
        engine.submit(one)
    outcome_of(bodies[-1])

    assert begun == list(range(50))


def test_the_one_whose_turn_it_is_goes_before_those_that_wait(engine: Engine) -> None:
    gate = threading.Event()
    begun: list[str] = []
    engine.submit(body(gate.wait, width=1))
    last = body(lambda: begun.append("last"), width=1)
    engine.submit(last)
    engine.submit(body(lambda: begun.append("next"), width=1), is_next=True)

    gate.set()
    outcome_of(last)

    assert begun == ["next", "last"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
def test_what_a_body_raises_is_kept_and_the_engine_goes_on(
    engine: Engine, is_async: bool, error: type[BaseException]
) -> None:
    def plain() -> None:
        raise error("no")

    async def on_loop() -> None:
        raise error("no")

    bad = body(on_loop if is_async else plain, is_async=is_async, width=1)
    good = body(lambda: "fine", width=1)
    engine.submit(bad)
    engine.submit(good)

    assert isinstance(outcome_of(bad).exception, error)
    assert outcome_of(good).value == "fine"


def test_a_body_that_is_dropped_keeps_its_place_until_it_ends(engine: Engine) -> None:
    gate = threading.Event()
    dropped = body(gate.wait, width=1)
    following = body(lambda: "fine", width=1)
    engine.submit(dropped)
    engine.submit(following)

    engine.drop(dropped)

    assert not following.is_started
    gate.set()
    assert outcome_of(following).value == "fine"


def test_a_body_that_hangs_gives_its_place_when_it_is_dropped(engine: Engine) -> None:
    gate = threading.Event()
    hung = body(gate.wait, width=1)
    following = body(lambda: "fine", width=1)
    engine.submit(hung)
    engine.submit(following)

    engine.drop(hung, hangs=True)

    assert outcome_of(following).value == "fine"
    gate.set()


def test_a_dropped_async_body_is_cancelled(engine: Engine) -> None:
    begun = threading.Event()

    async def forever() -> None:
        begun.set()
        await asyncio.Event().wait()

    hung = body(forever, is_async=True)
    engine.submit(hung)
    assert begun.wait(PATIENCE_SECONDS)

    engine.drop(hung)

    assert isinstance(outcome_of(hung).exception, asyncio.CancelledError)


def test_what_is_queued_when_it_closes_never_begins(loop: LoopThread) -> None:
    engine = Engine(loop)
    gate = threading.Event()
    begun: list[str] = []
    first = body(gate.wait, width=1)
    engine.submit(first)
    engine.submit(body(lambda: begun.append("second"), width=1))

    engine.close()
    gate.set()
    outcome_of(first)

    assert begun == []
    assert engine.running == 0


def test_threads_end_when_it_closes(loop: LoopThread) -> None:
    before = set(threading.enumerate())
    engine = Engine(loop)
    meeting = threading.Barrier(4, timeout=PATIENCE_SECONDS)
    bodies = [body(meeting.wait, width=4) for _ in range(4)]
    for one in bodies:
        engine.submit(one)
    for one in bodies:
        outcome_of(one)

    engine.close()

    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()


def test_who_waits_for_another_attempt_gives_its_place_meanwhile(
    engine: Engine,
) -> None:
    gate = threading.Event()

    def waits() -> None:
        engine.pause(True)
        gate.wait(PATIENCE_SECONDS)
        engine.pause(False)

    waiting = body(waits, width=1)
    following = body(gate.set, width=1)
    engine.submit(waiting)
    engine.submit(following)

    assert outcome_of(waiting).exception is None
    assert engine.waiting == 0

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Iterator

import pytest

from pytest_llmeval.loop import BlockingCallError, LoopThread, in_daemon_thread

number: contextvars.ContextVar[int] = contextvars.ContextVar("number", default=0)


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


async def read_number() -> int:
    await asyncio.sleep(0)
    return number.get()


def test_a_coroutine_runs_in_the_callers_context(loop: LoopThread) -> None:
    token = number.set(7)

    result = loop.run(read_number(), instead="")

    number.reset(token)
    assert result == 7


def test_an_exception_comes_back_with_its_traceback(loop: LoopThread) -> None:
    async def fail() -> None:
        raise ValueError("boom")

    with pytest.raises(ValueError, match="boom") as caught:
        loop.run(fail(), instead="")

    assert any(entry.name == "fail" for entry in caught.traceback)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_exit_in_a_coroutine_does_not_kill_the_loop(
    loop: LoopThread, kind: type[BaseException]
) -> None:
    async def leave() -> None:
        raise kind

    with pytest.raises(kind):
        loop.run(leave(), instead="")

    assert loop.run(read_number(), instead="") == 0


def test_a_blocking_call_on_the_loop_names_the_awaitable(loop: LoopThread) -> None:
    async def block() -> int:
        return loop.run(read_number(), instead="await generator.acall(...)")

    with pytest.raises(BlockingCallError, match="await generator.acall"):
        loop.run(block(), instead="")


def test_another_event_loop_can_await(loop: LoopThread) -> None:
    async def elsewhere() -> int:
        number.set(3)
        return await loop.bridge(read_number())

    assert asyncio.run(elsewhere()) == 3


def test_the_loop_itself_can_await(loop: LoopThread) -> None:
    async def inside() -> int:
        return await loop.bridge(read_number())

    assert loop.run(inside(), instead="") == 0


def test_a_closed_loop_starts_anew(loop: LoopThread) -> None:
    loop.run(read_number(), instead="")
    loop.close()

    assert loop.run(read_number(), instead="") == 0


def test_closing_leaves_no_thread(loop: LoopThread) -> None:
    loop.run(read_number(), instead="")
    loop.close()

    assert not any(t.name == "llmeval-loop" for t in threading.enumerate())


def test_closing_cancels_what_waits() -> None:
    loop = LoopThread()
    cancelled = threading.Event()
    started = threading.Event()

    async def wait() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    caller = threading.Thread(target=lambda: _ignore(loop, wait()), daemon=True)
    caller.start()
    assert started.wait(5)
    loop.close()

    assert cancelled.wait(5)


def _ignore(loop: LoopThread, coroutine: object) -> None:
    with pytest.raises(BaseException):  # noqa: B017, PT011 - how it ends is not the point
        loop.run(coroutine, instead="")  # type: ignore[arg-type]


def test_a_plain_function_runs_on_a_thread_in_the_same_context(
    loop: LoopThread,
) -> None:
    async def call() -> tuple[int, str]:
        number.set(5)
        return await in_daemon_thread(
            lambda: (number.get(), threading.current_thread().name)
        )

    assert loop.run(call(), instead="") == (5, "llmeval-call")


def test_an_exception_of_a_thread_comes_back(loop: LoopThread) -> None:
    def fail() -> None:
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        loop.run(in_daemon_thread(fail), instead="")


def test_what_waits_for_nothing_runs_in_the_caller_s_thread() -> None:
    loop = LoopThread()

    async def here() -> threading.Thread:
        return threading.current_thread()

    assert loop.run_at_once(here(), instead="") is threading.current_thread()


def test_what_waits_after_all_is_told() -> None:
    async def waits() -> None:
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="waits for something"):
        LoopThread().run_at_once(waits(), instead="")


def test_a_call_at_once_on_the_loop_thread_is_refused_too() -> None:
    loop = LoopThread()

    async def nothing() -> None: ...

    async def blocks() -> None:
        loop.run_at_once(nothing(), instead="await it")

    with pytest.raises(BlockingCallError, match="await it"):
        loop.run(blocks(), instead="")
    loop.close()


def test_a_loop_that_is_blocked_is_waited_for_no_longer_than_told() -> None:
    loop = LoopThread()
    gate = threading.Event()

    async def blocks() -> None:
        gate.wait()

    with pytest.raises(TimeoutError):
        loop.run(blocks(), instead="", seconds=0.01)

    gate.set()
    loop.close()


def test_a_thread_of_the_loop_s_executor_keeps_no_interpreter() -> None:
    loop = LoopThread()

    async def where() -> bool:
        return await asyncio.to_thread(lambda: threading.current_thread().daemon)

    assert loop.run(where(), instead="")
    loop.close()


def test_a_body_that_stops_the_loop_stops_no_other(loop: LoopThread) -> None:
    async def stop() -> None:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)

    async def value() -> int:
        await asyncio.sleep(0)
        return 7

    loop.run(stop(), instead="")

    assert loop.run(value(), instead="") == 7


def test_a_body_can_not_close_the_loop(loop: LoopThread) -> None:
    async def close() -> None:
        asyncio.get_running_loop().close()

    with pytest.raises(RuntimeError, match="running event loop"):
        loop.run(close(), instead="")

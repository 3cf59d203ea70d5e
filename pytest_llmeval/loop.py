"""The one event-loop thread of a process.

Clients are written once, async. Synchronous callers block on this thread; callers in
another event loop await it. ``asyncio.run`` in the caller's own thread would break a
user's later ``get_event_loop`` and fail inside a running loop.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_llmeval.errors import LLMEvalError, UserError

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["BlockingCallError", "LoopThread", "in_daemon_thread"]

T = TypeVar("T")

#: For a loop to end; one that is blocked by a body ends with the process.
_PATIENCE_SECONDS = 2.0


class BlockingCallError(UserError):
    """A blocking call on the loop thread, which would wait for itself for ever."""


class LoopThread:
    """An event loop on a daemon thread, started on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()
        self._process = os.getpid()

    def run(
        self,
        coroutine: Coroutine[Any, Any, T],
        *,
        instead: str,
        seconds: float | None = None,
        is_body: bool = False,
    ) -> T:
        """Return what `coroutine` returns, run on the loop thread; blocks.

        Args:
            coroutine: Runs in a copy of the caller's context.
            instead: The awaitable form, named when the caller is on the loop thread.
            seconds: How long to wait for it; None for ever.
            is_body: Whether it is a test's: an error then keeps its place in it.

        Raises:
            BlockingCallError: The caller is on the loop thread.
            TimeoutError: It did not end in time; it is cancelled.
        """
        __tracebackhide__ = True
        self._refuse_here(coroutine, instead)
        future, cancel = self._submit(coroutine)
        try:
            return future.result(seconds)
        except LLMEvalError as exc:
            if is_body:
                raise
            # Where it was raised inside this package tells a reader nothing.
            raise exc.with_traceback(None)  # noqa: B904 - the same exception
        except BaseException:
            # Ctrl-C in the waiting thread: nothing may go on behind its back.
            cancel()
            raise

    def run_at_once(self, coroutine: Coroutine[Any, Any, T], *, instead: str) -> T:
        """Return what a coroutine returns that waits for nothing, run by the caller.

        To the loop thread and back is most of what such a call would take.

        Args:
            coroutine: It never suspends, and asks for no event loop.
            instead: As in `run`.

        Raises:
            BlockingCallError: The caller is on the loop thread.
        """
        __tracebackhide__ = True
        self._refuse_here(coroutine, instead)
        try:
            coroutine.send(None)
        except StopIteration as done:
            result: T = done.value
            return result
        except LLMEvalError as exc:
            raise exc.with_traceback(None)  # noqa: B904 - the same exception
        coroutine.close()
        message = f"{coroutine!r} waits for something"
        raise RuntimeError(message)

    def _refuse_here(self, coroutine: Coroutine[Any, Any, Any], instead: str) -> None:
        __tracebackhide__ = True
        if threading.current_thread() is self._thread:
            coroutine.close()
            message = f"this call would block the event loop it runs on: {instead}"
            raise BlockingCallError(message)

    def start(self, coroutine: Coroutine[Any, Any, None]) -> Callable[[], None]:
        """Run `coroutine` on the loop thread, wait for nothing; return what cancels it.

        It runs in a copy of the caller's context.
        """
        return self._submit(coroutine)[1]

    async def bridge(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Return what `coroutine` returns, awaited from any event loop."""
        import asyncio

        if asyncio.get_running_loop() is self._loop:
            return await coroutine
        future, _ = self._submit(coroutine)
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Cancel what still runs and end the thread; a later call starts anew."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None or self._process != os.getpid():
            return
        self._ended.set()
        loop.call_soon_threadsafe(_cancel_and_stop, loop)
        thread.join(_PATIENCE_SECONDS)
        if not thread.is_alive():
            loop.close()

    def _submit(
        self, coroutine: Coroutine[Any, Any, T]
    ) -> tuple[Future[T], Callable[[], None]]:
        from concurrent.futures import Future

        loop = self._started()
        future: Future[T] = Future()
        tasks: list[asyncio.Task[None]] = []
        context = contextvars.copy_context()

        def start() -> None:
            # The loop keeps only weak references to tasks: `tasks` holds this one.
            tasks.append(loop.create_task(_fill(future, coroutine), context=context))

        loop.call_soon_threadsafe(start)
        return future, lambda: _cancel(loop, tasks)

    def _started(self) -> asyncio.AbstractEventLoop:
        import asyncio

        with self._lock:
            if self._loop is None or self._process != os.getpid():
                # After a fork the thread is gone: the child gets a loop of its own.
                self._process = os.getpid()
                self._loop = asyncio.new_event_loop()
                self._loop.set_default_executor(_daemon_executor())
                self._ended = threading.Event()
                self._thread = threading.Thread(
                    target=_serve,
                    args=(self._loop, self._ended),
                    name="llmeval-loop",
                    daemon=True,
                )
                self._thread.start()
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop, ended: threading.Event) -> None:
    """Run a loop until we end it: a body that stops it would stop all others too."""
    while not ended.is_set():
        loop.run_forever()


async def _fill(future: Future[T], coroutine: Coroutine[Any, Any, T]) -> None:
    """Carry the outcome into `future`; nothing may escape into the loop itself."""
    try:
        result = await coroutine
    except BaseException as exc:  # noqa: BLE001 - handed to the caller whole
        future.set_exception(exc)
    else:
        future.set_result(result)


def _cancel(loop: asyncio.AbstractEventLoop, tasks: list[asyncio.Task[None]]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])


def _cancel_and_stop(loop: asyncio.AbstractEventLoop) -> None:
    import asyncio

    for task in asyncio.all_tasks(loop):
        task.cancel()
    # One more turn, so that cancelled tasks end before the loop does.
    loop.call_soon(loop.stop)


def _daemon_executor() -> ThreadPoolExecutor:
    """Return an executor whose threads no interpreter waits for at its end.

    `asyncio.to_thread` and the look-up of names use it.
    """
    from concurrent.futures import Future, ThreadPoolExecutor

    class DaemonExecutor(ThreadPoolExecutor):
        def submit(
            self, function: Callable[..., T], /, *args: Any, **keywords: Any
        ) -> Future[T]:
            future: Future[T] = Future()

            def work() -> None:
                try:
                    result = function(*args, **keywords)
                except BaseException as exc:  # noqa: BLE001 - handed over whole
                    future.set_exception(exc)
                else:
                    future.set_result(result)

            if future.set_running_or_notify_cancel():
                threading.Thread(target=work, name="llmeval-call", daemon=True).start()
            return future

    return DaemonExecutor()


async def in_daemon_thread(function: Callable[..., T], *args: Any) -> T:
    """Return ``function(*args)``, run on a daemon thread in the caller's context.

    Daemon, because the interpreter joins the threads of an executor at exit: a model
    that hangs would keep pytest from ending.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            set_outcome(outcome)

    def work() -> None:
        try:
            result = context.run(function, *args)
        except BaseException as exc:  # noqa: BLE001 - handed to the caller whole
            outcome: tuple[Callable[[Any], None], Any] = (future.set_exception, exc)
        else:
            outcome = (future.set_result, result)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=work, name="llmeval-call", daemon=True).start()
    return await future


async def maybe_await(value: Awaitable[T] | T) -> T:
    """Return `value`, awaited where it is awaitable."""
    import inspect

    return await value if inspect.isawaitable(value) else value

"""What an ``async def`` body is shown of an error: its own line, none of ours."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from pytest_llmeval.errors import LLMEvalError

__all__ = ["awaited"]

P = ParamSpec("P")
T = TypeVar("T")


def awaited(
    method: Callable[P, Coroutine[Any, Any, T]],
) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return an async method whose errors begin where it is awaited.

    Blocking calls have that of the loop that runs them.
    """

    @wraps(method)
    async def called(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True
        try:
            return await method(*args, **kwargs)
        except LLMEvalError as exc:
            raise exc.with_traceback(None)  # noqa: B904 - the same exception

    return called

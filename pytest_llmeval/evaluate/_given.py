"""What a test gives as a reply: its text, or what was given by mistake.

Whatever else is given has a text too (``<coroutine object ...>``, ``None``), and a
metric or judge would score it.
"""

from __future__ import annotations

from collections.abc import Awaitable
from inspect import iscoroutine
from numbers import Number
from types import AsyncGeneratorType, GeneratorType
from typing import Any

from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.metrics import text_of
from pytest_llmeval.types import Case, Pairwise, Response, Score, Verdict, as_text

__all__ = ["check_expected", "check_reply", "not_awaited", "reply_text"]


def check_reply(value: Any, name: str = "response") -> None:
    """Refuse what can't be a reply: all but a Response, a text, a number.

    None is let through: there is no reply, which is for who scores it to say.

    Args:
        value: What was given.
        name: The argument's name.

    Raises:
        ConfigError: It can't be a reply; the text says what it is and what to do.
    """
    __tracebackhide__ = True
    if value is None or isinstance(value, Response | str | Number):
        return
    message = not_awaited(value, name) or f"{name} is {_kind(value)}"
    raise ConfigError(message)


def check_expected(value: Any) -> None:
    """Refuse an expected value that isn't there yet.

    Raises:
        ConfigError: It was not awaited.
    """
    __tracebackhide__ = True
    if (message := not_awaited(value, "expected")) is not None:
        raise ConfigError(message)


def reply_text(value: Any, case: Case, name: str = "response") -> str:
    """Return the text of a reply that a judge is to see.

    Args:
        value: What was given.
        case: Its row: where an empty text is expected, an empty reply is one.
        name: The argument's name.

    Raises:
        ConfigError: It can't be a reply.
        UnscoredError: There is none, or a model replied with nothing.
    """
    __tracebackhide__ = True
    check_reply(value, name)
    if value is None:
        message = f"there is no reply to judge: {name} is None"
        raise UnscoredError(message, cause="application")
    expected = case.expected if isinstance(case.expected, list) else [case.expected]
    return text_of(value, [as_text(one) for one in expected if one is not None])


def not_awaited(value: Any, name: str) -> str | None:
    """Return the text about a result that was not awaited, None if it is no such thing.

    A coroutine is closed: nobody will await it, and Python would warn about it.
    """
    if iscoroutine(value):
        value.close()
        return f"{name} is the coroutine {value.__qualname__!r}: await it"
    if isinstance(value, Awaitable):
        return f"{name} is a {type(value).__name__} to be awaited: await it"
    return None


def _kind(value: Any) -> str:
    """Return what a value is that can't be a reply, and what to give."""
    if isinstance(value, Case):
        return f"the case {value.id!r}: the reply comes first, the case second"
    if isinstance(value, Verdict | Pairwise | Score):
        return f"a {type(value).__name__}: give the reply it is about"
    if isinstance(value, GeneratorType | AsyncGeneratorType):
        return f"the generator {value.__qualname__!r}: join what it yields to a text"
    if callable(value):
        return f"{_short(value)}, which is to be called: give what it returns"
    return (
        f"{_short(value)} (a {type(value).__name__}), and a reply is a Response or a "
        f"text: give the text in it"
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."

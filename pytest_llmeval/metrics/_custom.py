"""A user's own metrics: the decorator, the names, and what they may return."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.metrics._base import (
    Declaration,
    references_of,
    scored_by,
    text_of,
)
from pytest_llmeval.metrics._table import MODULES, Metric
from pytest_llmeval.types import Case, Score

__all__ = ["REGISTERED", "metric"]

#: The metrics of users by name. A decorator has no other place to put them; nothing
#: but `metric` writes here, while test modules are imported.
REGISTERED: Final[dict[str, Metric]] = {}
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*")

UserFunction = Callable[..., Any]


def metric(
    name: str,
    *,
    low: float = 0.0,
    high: float = 1.0,
    higher_is_better: bool = True,
    binary: bool = False,
    version: int = 1,
    extra: str | None = None,
    needs_expected: bool = True,
) -> Callable[[UserFunction], Callable[..., Score]]:
    """Register a function as a metric, for `assert_metric`, `score` and reports.

    The function gets the text of the reply and the expected value as the row has it (a
    list stays a list), and its own options by keyword. It returns a number, true or
    false, a ``(number, reason)`` pair, None (nothing to score) or a Score. What is
    returned to the caller is always a Score.

    Args:
        name: The metric's name in reports; not one of a built-in metric.
        low: The least value it can have.
        high: The greatest.
        higher_is_better: False where a threshold is a greatest value.
        binary: Pass or fail, nothing between.
        version: To be raised when its values change.
        extra: The optional dependency it needs.
        needs_expected: Whether a row without an expected value is unscored.

    Raises:
        ConfigError: The name can't be used, or another function has it.
    """
    if not _NAME.fullmatch(name):
        message = (
            f"{name!r} can't be the name of a metric: use letters, digits, _, . and -, "
            f"as in @metric('politeness')"
        )
        raise ConfigError(message)
    if name in MODULES:
        message = f"{name!r} is a built-in metric: give yours another name"
        raise ConfigError(message)
    if not low < high:
        message = f"metric {name!r}: low ({low!r}) is not below high ({high!r})"
        raise ConfigError(message)
    declaration = Declaration(
        name=name,
        low=low,
        high=high,
        higher_is_better=higher_is_better,
        binary=binary,
        version=version,
        extra=extra,
    )

    def register(function: UserFunction) -> Callable[..., Score]:
        scoring = _adapted(declaration, function, needs_expected)
        _register(Metric(declaration=declaration, function=scoring), function)
        return scoring

    return register


def _register(found: Metric, function: UserFunction) -> None:
    other = REGISTERED.get(found.name)
    # A test module imported twice brings the same function again.
    if other is not None and _place(other.function) != _place(function):
        message = (
            f"two metrics are called {found.name!r}: {_place(other.function)} and "
            f"{_place(function)}; rename one of them"
        )
        raise ConfigError(message)
    REGISTERED[found.name] = found


def _place(function: UserFunction) -> str:
    names = (getattr(function, part, "?") for part in ("__module__", "__qualname__"))
    return ".".join(names)


def _adapted(
    declaration: Declaration, function: UserFunction, needs_expected: bool
) -> Callable[..., Score]:
    @wraps(function)
    def scoring(response: Any, expected: Any = None, **options: Any) -> Score:
        references = references_of(expected) if needs_expected else ()
        value = expected.expected if isinstance(expected, Case) else expected
        text = text_of(response, references)
        result = function(text, value, **options)
        return _as_score(declaration, result, {"response": text, "expected": value})

    return scored_by(declaration)(scoring)


def _as_score(declaration: Declaration, result: Any, details: dict[str, Any]) -> Score:
    if isinstance(result, Score):
        return result
    value, reason = result if _is_pair(result) else (result, "")
    if value is None:
        message = reason or f"metric {declaration.name!r} returned no value"
        return declaration.unscored(message, "data", details)
    if not isinstance(value, bool | int | float):
        value = _number_of(value, declaration)
    if (problem := _problem(declaration, float(value))) is not None:
        raise UnscoredError(problem, cause="suite")
    return declaration.scored(float(value), reason, details)


def _is_pair(result: Any) -> bool:
    return isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], str)


def _number_of(value: Any, declaration: Declaration) -> float:
    """Return a number of another library (numpy's, Decimal) as a float."""
    if hasattr(value, "__float__") and not isinstance(value, str):
        return float(value)
    message = (
        f"metric {declaration.name!r} returned {value!r}; a metric returns a number, "
        f"true or false, (number, reason), None or a Score"
    )
    raise UnscoredError(message, cause="suite")


def _problem(declaration: Declaration, value: float) -> str | None:
    low, high, name = declaration.low, declaration.high, declaration.name
    if math.isnan(value) or not low <= value <= high:
        return (
            f"metric {name!r} returned {value!r}, outside its range {low:g} to "
            f"{high:g}; declare another by @metric({name!r}, low=..., high=...)"
        )
    if declaration.binary and value not in (0, 1):
        return f"metric {name!r} is pass or fail, and returned {value!r}"
    return None

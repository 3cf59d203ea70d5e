"""A user's own metrics: the decorator, the names, and what they may return."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, Final

from pytest_llmeval.errors import ConfigError, UnscoredError, did_you_mean
from pytest_llmeval.metrics._base import Declaration, scored_by
from pytest_llmeval.metrics._table import MODULES, Metric
from pytest_llmeval.metrics._texts import references_of, text_of
from pytest_llmeval.types import Case, Score

__all__ = ["REGISTERED", "imported", "metric", "register_all", "registered_as"]

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


def register_all(given: Any, source: str) -> None:
    """Register what a hook gives: functions of `metric`, or a mapping of names.

    Args:
        given: A list of functions decorated with `metric`, or plain ones by name.
        source: Who gave them, for error texts.

    Raises:
        ConfigError: It gives something else, or a name that is taken.
    """
    if given is None:
        return
    if isinstance(given, Mapping):
        for name, function in given.items():
            if not callable(function):
                message = f"{source}: metric {name!r} is {function!r:.60}, no function"
                raise ConfigError(message)
            if registered_as(function) is None:
                metric(name)(function)
        return
    if isinstance(given, str) or not isinstance(given, Iterable):
        message = f"{source} returns a list or a mapping of metrics, not {given!r:.60}"
        raise ConfigError(message)
    for function in given:
        if registered_as(function) is None:
            message = (
                f"{source} lists {function!r:.60}, which is not decorated with "
                f"@metric('name'); of plain functions give a mapping by name"
            )
            raise ConfigError(message)


def registered_as(function: Any) -> Metric | None:
    """Return the metric that a decorated function is, None if it is none."""
    found = (one for one in REGISTERED.values() if one.function is function)
    return next(found, None)


def imported(path: str) -> Metric:
    """Return the metric that stands in a module: ``package.module:name``.

    A plain function is adapted as `metric` does it, under its path as the name.

    Raises:
        ConfigError: There is no such module or name, or it is no function.
    """
    module_name, _, name = path.partition(":")
    try:
        module = import_module(module_name)
    except ImportError as exc:
        message = f"metric {path!r}: can't import {module_name!r}: {exc}"
        raise ConfigError(message) from exc
    function: Any = module
    for part in name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        names = [n for n in vars(module) if not n.startswith("_")]
        message = (
            f"metric {path!r}: {module_name} has no function {name!r}"
            f"{did_you_mean(name, names)}"
        )
        raise ConfigError(message)
    if (known := registered_as(function)) is not None:
        return known
    declaration = Declaration(name=path)
    return Metric(
        declaration=declaration,
        function=_adapted(declaration, function, needs_expected=True),
    )


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

"""Checks of a text by a metric."""

from __future__ import annotations

from typing import Any, Literal

from pytest_llmeval import metrics
from pytest_llmeval.assertions._arguments import checked_threshold
from pytest_llmeval.assertions._settle import settle_score
from pytest_llmeval.errors import ConfigError, UserError
from pytest_llmeval.evaluate import check_expected, check_reply, not_awaited
from pytest_llmeval.types import Score

__all__ = [
    "assert_contains",
    "assert_exact",
    "assert_f1",
    "assert_metric",
    "assert_number",
    "assert_regex",
    "scored",
]


def assert_exact(
    response: Any, expected: Any, *, preset: str = "default", name: str | None = None
) -> Score:
    """Fail unless the reply equals the expected text after normalisation.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text, or a list of acceptable ones.
        preset: How texts are normalised, see `metrics.exact`.
        name: The check's name in reports.

    Raises:
        ConfigError: There is no such preset, or the reply is none.
        EvalAssertionError: It equals none of them.
        UnscoredError: The row expects nothing, or a model replied with nothing.
    """
    __tracebackhide__ = True
    score = scored("exact", response, expected, preset=preset)
    return settle_score(score, "==", 1, name=name)


def assert_f1(
    response: Any,
    expected: Any,
    *,
    threshold: float,
    preset: str = "default",
    name: str | None = None,
) -> Score:
    """Fail if the token F1 of the reply and the expected text is below `threshold`.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text, or a list whose best one counts.
        threshold: Least value, 0 to 1.
        preset: How texts are normalised, see `metrics.f1`.
        name: The check's name in reports.

    Raises:
        ConfigError: There is no such preset, the threshold is not from 0 to 1, or the
            reply is none.
        EvalAssertionError: It is below.
        UnscoredError: The row expects nothing, or a model replied with nothing.
    """
    __tracebackhide__ = True
    bar = checked_threshold(threshold, "f1")
    score = scored("f1", response, expected, preset=preset)
    return settle_score(score, ">=", bar, name=name)


def assert_contains(
    response: Any,
    expected: Any,
    *,
    mode: Literal["all", "any"] = "all",
    negate: bool = False,
    ignore_case: bool = True,
    name: str | None = None,
) -> Score:
    """Fail unless the reply contains the expected text, or all or any of a list.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text or a list of texts.
        mode: Whether all texts of a list must be there, or any.
        negate: Fail if it does contain them.
        ignore_case: Whether upper and lower case are the same.
        name: The check's name in reports.

    Raises:
        ConfigError: There is no such mode, or the reply is none.
        EvalAssertionError: It does not.
        UnscoredError: The row expects nothing, or a model replied with nothing.
    """
    __tracebackhide__ = True
    score = scored(
        "contains",
        response,
        expected,
        mode=mode,
        negate=negate,
        ignore_case=ignore_case,
    )
    return settle_score(score, "==", 1, name=name)


def assert_regex(
    response: Any, expected: Any, *, negate: bool = False, name: str | None = None
) -> Score:
    """Fail unless a part of the reply matches the pattern.

    Args:
        response: A Response or a text.
        expected: A pattern, or a case whose ``expected`` is one.
        negate: Fail if a part does match.
        name: The check's name in reports.

    Raises:
        ConfigError: A pattern of the test can't be compiled, or the reply is none.
        EvalAssertionError: No part matches.
        UnscoredError: The row has no usable pattern, or a model replied with nothing.
    """
    __tracebackhide__ = True
    score = scored("regex", response, expected, negate=negate)
    return settle_score(score, "==", 1, name=name)


def assert_number(
    response: Any,
    expected: Any,
    *,
    tolerance: float = 1e-6,
    name: str | None = None,
) -> Score:
    """Fail unless the number the reply ends in equals the expected one.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a number or a text that holds one.
        tolerance: Greatest absolute difference.
        name: The check's name in reports.

    Raises:
        ConfigError: The tolerance is no number of 0 or more, or the reply is none.
        EvalAssertionError: It differs, or the reply holds no number.
        UnscoredError: The row holds no number, or a model replied with nothing.
    """
    __tracebackhide__ = True
    score = scored("number", response, expected, tolerance=tolerance)
    return settle_score(score, "==", 1, name=name)


def assert_metric(
    response: Any,
    expected: Any,
    metric: str,
    *,
    threshold: float,
    name: str | None = None,
    **options: Any,
) -> Score:
    """Fail if a metric's value is on the wrong side of `threshold`.

    Args:
        response: A Response or a text; the model (the generator) for a metric that asks
            how likely texts are.
        expected: A case (its ``expected``) or a value.
        metric: The name of a metric, built in or registered.
        threshold: Least value; greatest where lower is better.
        name: The check's name in reports.
        **options: Options of the metric.

    Raises:
        ConfigError: There is no such metric or option, the threshold is not on the
            metric's scale, or the reply is none.
        EvalAssertionError: It does not hold.
        UnscoredError: It could not be scored.
    """
    __tracebackhide__ = True
    bar = checked_threshold(threshold, metric)
    score = scored(metric, response, expected, **options)
    operator = ">=" if score.higher_is_better else "<="
    return settle_score(score, operator, bar, name=name)


def scored(metric: str, response: Any, expected: Any, **options: Any) -> Score:
    """Return the score of what a test gives, mistakes in it refused."""
    __tracebackhide__ = True
    check_expected(expected)
    try:
        found = metrics.get_metric(metric)
        if found.declaration.takes == "text":
            check_reply(response)
        elif (message := not_awaited(response, "response")) is not None:
            raise ConfigError(message)
        return found(response, expected, **options)
    except UserError as exc:
        # Where it was found inside the metric tells a reader nothing.
        raise exc.with_traceback(None)  # noqa: B904 - the same exception

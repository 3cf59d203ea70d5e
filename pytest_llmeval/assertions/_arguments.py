"""Mistakes in what a test gives to an assertion helper, told before anything is asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from pytest_llmeval import judging, metrics
from pytest_llmeval.errors import ConfigError, did_you_mean, percent_hint

__all__ = ["accepted_words", "checked_threshold", "scale_bar"]


def checked_threshold(threshold: Any, metric: str) -> float:
    """Return a bar on the metric's scale; another one would hold always or never.

    Args:
        threshold: What the test gives.
        metric: The metric's name.

    Raises:
        ConfigError: It is no number of the metric's range, or there is no such metric.
    """
    __tracebackhide__ = True
    try:
        declaration = metrics.get_metric(metric).declaration
    except ConfigError as exc:
        # Where the name was looked up tells a reader nothing.
        raise exc.with_traceback(None)  # noqa: B904 - the same exception
    low, high = declaration.low, declaration.high
    scale = f"{low:g} to {high:g}"
    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        message = f"threshold is a number on the scale of {metric}, {scale}, "
        raise ConfigError(f"{message}not {threshold!r}")
    bar = float(threshold)
    if math.isfinite(bar) and low <= bar <= high:
        return bar
    message = f"threshold={threshold!r} is not on the scale of {metric}, {scale}"
    if (low, high) == (0, 1):
        message += percent_hint(bar)
    raise ConfigError(message)


def accepted_words(
    expect: Any, available: Sequence[str], *, check: str
) -> tuple[str, ...]:
    """Return the outcomes that pass a check, one or several of `available`.

    Raises:
        ConfigError: There is another one, or none.
    """
    __tracebackhide__ = True
    words = (expect,) if isinstance(expect, str) else expect
    if not isinstance(words, tuple | list | set | frozenset) or not words:
        message = f"expect of {check} is one of {', '.join(available)}, not {expect!r}"
        raise ConfigError(message)
    for word in words:
        if word not in available:
            message = (
                f"expect of {check} knows no {word!r}"
                f"{did_you_mean(str(word), available)}; there are: "
                f"{', '.join(available)}"
            )
            raise ConfigError(message)
    return tuple(words)


def scale_bar(
    score_map: Mapping[str, float] | None,
    threshold: Any,
    *,
    is_labelled: bool,
    expect: str,
) -> float | None:
    """Return the bar for a judge's labels, None where it says PASS or FAIL.

    Args:
        score_map: Labels and their values.
        threshold: The least value that passes.
        is_labelled: Whether a Verdict was given that is a label.
        expect: The verdict that passes: of no meaning for labels.

    Raises:
        ConfigError: One of them is missing, or the bar decides nothing.
    """
    __tracebackhide__ = True
    if score_map is None and not is_labelled:
        if threshold is not None:
            message = (
                f"threshold={threshold!r} is a bar for the values of a score map, and "
                f"there is none: PASS passes, or give score_map={{'Good': 1, 'Bad': 0}}"
            )
            raise ConfigError(message)
        return None
    if score_map is not None:
        judging.check_scores(score_map)
    if expect != "PASS":
        message = "expect= is for PASS and FAIL; of a score map, threshold= decides"
        raise ConfigError(message)
    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        message = (
            f"a score map needs threshold=, the least value that passes, and not "
            f"{threshold!r}"
        )
        raise ConfigError(message)
    bar = float(threshold)
    values = sorted(score_map.values()) if score_map else []
    if not math.isfinite(bar) or (values and not values[0] < bar <= values[-1]):
        message = (
            f"threshold={threshold!r} decides nothing: the values of the score map are "
            f"{', '.join(f'{value:g}' for value in values)}, so all labels pass it or none"
        )
        raise ConfigError(message)
    return bar

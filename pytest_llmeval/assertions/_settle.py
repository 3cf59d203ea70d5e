"""From a score to an outcome: keep the check, pass, fail or give up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_llmeval.assertions.message import failure_text, unscored_text
from pytest_llmeval.errors import ConfigError, EvalAssertionError, UnscoredError
from pytest_llmeval.recorder import current_sample
from pytest_llmeval.types import Check, Score

__all__ = ["score_of", "settle_score"]


def score_of(
    metric: str, make: Callable[[], Score]
) -> tuple[Score, UnscoredError | None]:
    """Return the score that `make` returns, an unscored one where it can't.

    Args:
        metric: The name of the score without a value.
        make: Asks a judge, and may raise UnscoredError.

    Returns:
        The score, and the error where there is one.
    """
    __tracebackhide__ = True
    try:
        return make(), None
    except UnscoredError as exc:
        score = Score(
            metric=metric, value=None, reason=exc.reason, cause=exc.cause, binary=True
        )
        return score, exc


def settle_score(
    score: Score,
    operator: str,
    bar: float,
    *,
    name: Any = None,
    because: UnscoredError | None = None,
) -> Score:
    """Return `score` if it holds against `bar`; keep the check in any case.

    Args:
        score: What the metric or judge said.
        operator: ``>=``, ``<=`` or ``==``.
        bar: What the value is held against.
        name: The check's name in reports, by default the metric's.
        because: What kept the score from having a value.

    Raises:
        EvalAssertionError: It does not hold.
        UnscoredError: There is no value.
    """
    __tracebackhide__ = True
    if name is not None and not (isinstance(name, str) and name.strip()):
        message = f"name is what reports call the check, a text, and not {name!r}"
        raise ConfigError(message)
    check = score.check(operator, bar, name=name)
    sample = current_sample()
    if sample is not None:
        sample.add_check(check)
    if check.passed:
        return score
    if check.passed is None:
        error = _unscored(check, because)
    else:
        error = EvalAssertionError(failure_text(check, sample))
    if sample is None:
        raise error
    sample.stop_or_defer(error)
    return score


def _unscored(
    check: Check, because: UnscoredError | None
) -> UnscoredError | EvalAssertionError:
    error = UnscoredError(unscored_text(check), cause=check.cause or "data")
    # Of what lies behind, only an exception of the user's own code is news.
    root: BaseException | None = because
    while isinstance(root, UnscoredError):
        root = root.__cause__
    error.__cause__ = root
    return error

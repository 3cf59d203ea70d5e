"""From a score to an outcome: keep the check, pass, fail or give up."""

from __future__ import annotations

from pytest_llmeval.assertions.message import failure_text
from pytest_llmeval.errors import EvalAssertionError, UnscoredError
from pytest_llmeval.recorder import current_sample
from pytest_llmeval.types import Score

__all__ = ["settle_score"]


def settle_score(
    score: Score, operator: str, bar: float, *, name: str | None = None
) -> Score:
    """Return `score` if it holds against `bar`; keep the check in any case.

    Args:
        score: What the metric or judge said.
        operator: ``>=``, ``<=`` or ``==``.
        bar: What the value is held against.
        name: The check's name in reports, by default the metric's.

    Raises:
        EvalAssertionError: It does not hold.
        UnscoredError: There is no value.
    """
    __tracebackhide__ = True
    check = score.check(operator, bar, name=name)
    sample = current_sample()
    if sample is not None:
        sample.add_check(check)
    if check.passed:
        return score
    error: EvalAssertionError | UnscoredError
    if check.passed is None:
        text = f"{check.name} unscored: {check.reason}"
        error = UnscoredError(text, cause=score.cause or "data")
    else:
        error = EvalAssertionError(failure_text(check, sample))
    if sample is None:
        raise error
    sample.stop_or_defer(error)
    return score

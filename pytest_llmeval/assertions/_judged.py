"""Checks by a judge: a verdict on one reply, a comparison of two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pytest_llmeval.assertions._settle import settle_score
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.evaluate import as_judge
from pytest_llmeval.types import Case, Pairwise, Score, Verdict

__all__ = ["assert_judge", "assert_pairwise"]

#: Of the judge's own words in a failure's first line.
_REASON_WIDTH = 80


def assert_judge(
    response: Any,
    case: Case,
    judge: Any,
    *,
    rubric: str | None = None,
    template: str | None = None,
    inputs: Mapping[str, Any] | None = None,
    expect: Literal["PASS", "FAIL"] = "PASS",
    name: str | None = None,
) -> Score:
    """Fail unless the judge says PASS (or what `expect` says).

    Args:
        response: A Response or a text.
        case: Its row; ``expected`` is the judge's reference and may be None.
        judge: The judge fixture, a client, or a Verdict awaited before.
        rubric: What a passing reply does, in a sentence or two.
        template: A Jinja template of your own (text or path) instead of the rubric.
        inputs: Further variables of the template.
        expect: The verdict that passes.
        name: The check's name in reports.

    Raises:
        EvalAssertionError: The judge decided otherwise.
        UnscoredError: The judge gave no verdict, or could not be asked.
    """
    __tracebackhide__ = True
    if expect not in {"PASS", "FAIL"}:
        message = f"expect is 'PASS' or 'FAIL', not {expect!r}"
        raise ConfigError(message)
    verdict = judge
    if not isinstance(verdict, Verdict):
        verdict = as_judge(judge)(
            response, case, rubric=rubric, template=template, inputs=inputs
        )
    return settle_score(_verdict_score(verdict, response, expect), "==", 1, name=name)


def _verdict_score(verdict: Verdict, response: Any, expect: str) -> Score:
    decided = verdict.verdict is not None
    said = f"the judge said {verdict.verdict}"
    if verdict.verdict != expect:
        said += f", not {expect}" if expect == "FAIL" else ""
        said += f": {_beginning(verdict.reason)}" if verdict.reason else ""
    return Score(
        metric="judge",
        value=float(verdict.verdict == expect) if decided else None,
        reason=said if decided else verdict.reason,
        cause=verdict.cause,
        binary=True,
        details={
            "response": str(response),
            "judge": verdict.reason,
            "rubric": verdict.rubric,
        },
    )


def _beginning(text: str) -> str:
    """Return the first words of a reason; the whole of it stands below."""
    line = " ".join(text.split())
    if len(line) <= _REASON_WIDTH:
        return line
    return f"{line[:_REASON_WIDTH].rsplit(' ', 1)[0]}…"


def assert_pairwise(
    response: Any,
    case: Case,
    judge: Any,
    *,
    against: Any,
    template: str | None = None,
    inputs: Mapping[str, Any] | None = None,
    score_map: Mapping[str, float] | None = None,
    mirror: Mapping[str, str] | None = None,
    expect: tuple[str, ...] | str = ("win", "tie"),
    consistency: bool = True,
    name: str | None = None,
) -> Score:
    """Fail unless the judge finds the reply better than another, or as good.

    Args:
        response: The reply under test.
        case: Its row.
        judge: The judge fixture, a client, or a Pairwise awaited before.
        against: The other reply.
        template: A Jinja template of your own instead of ours.
        inputs: Further variables of the template.
        score_map: The judge's labels and their values; a higher one favours
            Response B, which is the reply under test in the first order.
        mirror: What each label means with the replies swapped, where it isn't plain.
        expect: The outcomes that pass: win, tie, loss; inconsistent passes only if
            named.
        consistency: Ask in both orders; False asks once, and the reason says so.
        name: The check's name in reports.

    Raises:
        EvalAssertionError: The outcome is not one of `expect`.
        UnscoredError: The orders contradict each other, or one gave no label.
    """
    __tracebackhide__ = True
    accepted = (expect,) if isinstance(expect, str) else tuple(expect)
    for word in accepted:
        if word not in {"win", "tie", "loss", "inconsistent"}:
            message = f"expect takes win, tie, loss and inconsistent, not {word!r}"
            raise ConfigError(message)
    settled = judge
    if not isinstance(settled, Pairwise):
        settled = as_judge(judge).compare(
            response,
            case,
            against=against,
            template=template,
            inputs=inputs,
            score_map=score_map,
            mirror=mirror,
            consistency=consistency,
        )
    score = _pairwise_score(settled, response, against, accepted)
    return settle_score(score, "==", 1, name=name)


def _pairwise_score(
    settled: Pairwise, response: Any, against: Any, accepted: tuple[str, ...]
) -> Score:
    outcome: str | None = settled.outcome
    if settled.cause == "inconsistent" and "inconsistent" in accepted:
        outcome = "inconsistent"
    verb = {"win": "better than", "tie": "as good as", "loss": "worse than"}
    said = f"the judge found it {verb[outcome]} the other" if outcome in verb else ""
    if outcome in verb and settled.consistent is None:
        said += " (asked in one order only)"
    return Score(
        metric="pairwise",
        value=None if outcome is None else float(outcome in accepted),
        reason=said if outcome else settled.reason,
        cause=settled.cause if outcome is None else None,
        binary=True,
        details={
            "response": str(response),
            "against": str(against),
            "first": (settled.first, settled.first_reason),
            "swapped": (settled.swapped, settled.swapped_reason),
            "preference": settled.score,
        },
    )

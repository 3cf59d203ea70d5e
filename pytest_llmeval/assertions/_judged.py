"""Checks by a judge: a verdict on one reply, a comparison of two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pytest_llmeval.assertions._arguments import accepted_words
from pytest_llmeval.assertions._given import given_pairwise, given_verdict
from pytest_llmeval.assertions._settle import score_of, settle_score
from pytest_llmeval.evaluate import as_judge
from pytest_llmeval.types import Case, Pairwise, Score, Verdict, as_text

__all__ = ["assert_judge", "assert_pairwise"]

#: Of the judge's own words in a failure's first line.
_REASON_WIDTH = 80


def assert_judge(
    response: Any,
    case: Case,
    judge: Any,
    *,
    rubric: str | None = None,
    template: Any = None,
    inputs: Mapping[str, Any] | None = None,
    expect: Literal["PASS", "FAIL"] = "PASS",
    name: str | None = None,
) -> Score:
    """Fail unless the judge says PASS (or what `expect` says).

    Args:
        response: A Response or a text.
        case: Its row; ``expected`` is the judge's reference and may be None.
        judge: The judge fixture, a client, or a Verdict awaited before.
        rubric: What a passing reply does, in a sentence or two; without one it answers
            the question, in agreement with the reference where there is one.
        template: A Jinja template of your own (text or path) instead of ours.
        inputs: Further variables of the template.
        expect: The verdict that passes.
        name: The check's name in reports.

    Raises:
        ConfigError: An argument can't be used, or the Verdict is about another reply.
        EvalAssertionError: The judge decided otherwise.
        UnscoredError: The judge gave no verdict or could not be asked, or a model
            replied with nothing.
    """
    __tracebackhide__ = True
    (accepted,) = accepted_words([expect], ("PASS", "FAIL"), check="assert_judge")
    options = {"rubric": rubric, "template": template, "inputs": inputs}

    def scored() -> Score:
        __tracebackhide__ = True
        verdict = given_verdict(judge, response, case, options)
        if verdict is None:
            verdict = as_judge(judge)(response, case, **options)
        return _verdict_score(verdict, case, accepted, rubric)

    score, error = score_of("judge", scored)
    return settle_score(score, "==", 1, name=name, because=error)


def _verdict_score(
    verdict: Verdict, case: Case, expect: str, rubric: str | None
) -> Score:
    decided = verdict.verdict is not None
    said = f"the judge said {verdict.verdict}"
    if verdict.verdict != expect:
        said += f", not {expect}" if expect == "FAIL" else ""
        said += f": {_beginning(verdict.reason)}" if verdict.reason else ""
    return Score(
        metric="judge",
        value=float(verdict.verdict == expect) if decided else None,
        reason=said if decided else verdict.reason or "the judge gave no verdict",
        cause=None if decided else verdict.cause or "judge",
        binary=True,
        details={
            "response": verdict.response,
            "judge": verdict.reason or "(no reason)",
            "rubric": verdict.rubric or rubric,
            "reference": None if case.expected is None else as_text(case.expected),
        },
    )


def _beginning(text: str) -> str:
    """Return the first words of a reason; the whole of it stands below."""
    line = " ".join(text[: 4 * _REASON_WIDTH].split())
    if len(line) <= _REASON_WIDTH:
        return line
    return f"{line[:_REASON_WIDTH].rsplit(' ', 1)[0]}…"


def assert_pairwise(
    response: Any,
    case: Case,
    judge: Any,
    *,
    against: Any,
    template: Any = None,
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
        template: A Jinja template of your own (text or path) instead of ours.
        inputs: Further variables of the template.
        score_map: The judge's labels and their values; a higher one favours
            Response B, which is the reply under test in the first order.
        mirror: What each label means with the replies swapped, where it isn't plain.
        expect: The outcomes that pass: win, tie, loss; inconsistent passes only if
            named.
        consistency: Ask in both orders; False asks once, and the reason says so.
        name: The check's name in reports.

    Raises:
        ConfigError: An argument can't be used, or the Pairwise is about other replies.
        EvalAssertionError: The outcome is not one of `expect`.
        UnscoredError: The orders contradict each other, one gave no label, or a reply
            is missing.
    """
    __tracebackhide__ = True
    outcomes = ("win", "tie", "loss", "inconsistent")
    accepted = accepted_words(expect, outcomes, check="assert_pairwise")
    options: dict[str, Any] = {
        "template": template,
        "inputs": inputs,
        "score_map": score_map,
        "mirror": mirror,
    }

    def scored() -> Score:
        __tracebackhide__ = True
        settled = given_pairwise(judge, response, against, case, options)
        if settled is None:
            settled = as_judge(judge).compare(
                response, case, against=against, consistency=consistency, **options
            )
        return _pairwise_score(settled, accepted)

    score, error = score_of("pairwise", scored)
    return settle_score(score, "==", 1, name=name, because=error)


def _pairwise_score(settled: Pairwise, accepted: tuple[str, ...]) -> Score:
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
        reason=said if outcome else settled.reason or "the judge settled nothing",
        cause=settled.cause or "judge" if outcome is None else None,
        binary=True,
        details={
            "response": settled.response,
            "against": settled.against,
            "first": (settled.first, settled.first_reason),
            "swapped": (settled.swapped, settled.swapped_reason),
            "preference": settled.score,
        },
    )

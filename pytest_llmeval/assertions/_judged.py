"""The check by a judge: a verdict on one reply, or a label's value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from pytest_llmeval.assertions._arguments import accepted_words, scale_bar
from pytest_llmeval.assertions._given import given_verdict
from pytest_llmeval.assertions._settle import score_of, settle_score
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.evaluate import as_judge
from pytest_llmeval.types import Case, Score, Verdict, as_text

__all__ = ["assert_judge", "share_text"]

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
    language: str = "en",
    score_map: Mapping[str, float] | None = None,
    threshold: float | None = None,
    expect: Literal["PASS", "FAIL"] = "PASS",
    votes: int = 1,
    name: str | None = None,
) -> Score:
    """Fail unless the judge says PASS (or what `expect` says), or a label that is enough.

    Args:
        response: A Response or a text.
        case: Its row; ``expected`` is the judge's reference and may be None.
        judge: The judge fixture, a client, or a Verdict awaited before.
        rubric: What a passing reply does, in a sentence or two; without one it answers
            the question, in agreement with the reference where there is one.
        template: A Jinja template of your own (text or path) instead of ours.
        inputs: Further variables of the template.
        language: Of the request for a verdict that a reply lacks: en, ja, de.
        score_map: Labels and their values, to be chosen from in place of PASS and FAIL.
        threshold: The least value that passes; needs a score map.
        expect: The verdict that passes.
        votes: How many times each judge is asked; more than half decide.
        name: The check's name in reports.

    Raises:
        ConfigError: An argument can't be used, or the Verdict is about another reply.
        EvalAssertionError: The judge decided otherwise.
        UnscoredError: The judge gave no verdict or could not be asked, or a model
            replied with nothing.
    """
    __tracebackhide__ = True
    (accepted,) = accepted_words([expect], ("PASS", "FAIL"), check="assert_judge")
    given = judge.label is not None if isinstance(judge, Verdict) else False
    bar = scale_bar(score_map, threshold, is_labelled=given, expect=expect)
    options: dict[str, Any] = {
        "rubric": rubric,
        "template": template,
        "inputs": inputs,
        "score_map": score_map,
        "language": language,
        "votes": votes,
    }

    def scored() -> Score:
        __tracebackhide__ = True
        verdict = given_verdict(judge, response, case, options)
        if verdict is None:
            verdict = as_judge(judge)(response, case, **options)
        if bar is not None:
            return _scale_score(verdict, case, score_map)
        if verdict.rubric is None:
            verdict = replace(verdict, rubric=rubric)
        return _verdict_score(verdict, case, accepted)

    score, error = score_of("judge", scored)
    if bar is not None:
        return settle_score(score, ">=", bar, name=name, because=error)
    return settle_score(score, "==", 1, name=name, because=error)


def _verdict_score(verdict: Verdict, case: Case, expect: str) -> Score:
    if verdict.label is not None:
        message = (
            f"the Verdict is the label {verdict.label!r} of a score map: give the "
            f"threshold= it should reach"
        )
        raise ConfigError(message)
    decided = verdict.verdict is not None
    said = f"the judge said {verdict.verdict}"
    if verdict.verdict != expect and expect == "FAIL":
        said += f", not {expect}"
    return Score(
        metric="judge",
        value=float(verdict.verdict == expect) if decided else None,
        reason=_reason(verdict, said, is_right=verdict.verdict == expect),
        cause=None if decided else verdict.cause or "judge",
        binary=True,
        details=_details(verdict, case),
    )


def _scale_score(
    verdict: Verdict, case: Case, score_map: Mapping[str, float] | None
) -> Score:
    if verdict.verdict is not None:
        message = (
            f"the Verdict is {verdict.verdict}, which has no value in a score map: give "
            f"score_map= where the judge is asked"
        )
        raise ConfigError(message)
    values = [*map(float, (score_map or {}).values()), verdict.score or 0.0]
    said = f"the judge said {verdict.label!r}"
    return Score(
        metric="judge",
        value=verdict.score,
        reason=_reason(verdict, said, is_right=False),
        cause=None if verdict.is_decided else verdict.cause or "judge",
        low=min(values),
        high=max(values),
        details=_details(verdict, case),
    )


def _reason(verdict: Verdict, said: str, *, is_right: bool) -> str:
    if not verdict.is_decided:
        return verdict.reason or "the judge gave no verdict"
    said += share_text(verdict)
    if is_right or not verdict.reason:
        return said
    return f"{said}: {_beginning(verdict.reason)}"


def share_text(verdict: Verdict) -> str:
    """Return how many votes were for what was decided: `` (2 of 3 votes)``."""
    word = verdict.label or verdict.verdict
    total = len(verdict.votes)
    if total < 2:
        return ""
    share = sum(vote.said == word for vote in verdict.votes)
    return f" ({share} of {total} votes{', unstable' if verdict.is_unstable else ''})"


def _details(verdict: Verdict, case: Case) -> dict[str, Any]:
    reason = verdict.reason or "(no reason)"
    return {
        "response": verdict.response,
        "judge": f"{verdict.label}: {reason}" if verdict.label else reason,
        "votes": verdict.votes if len(verdict.votes) > 1 else (),
        "rubric": verdict.rubric,
        "reference": None if case.expected is None else as_text(case.expected),
        "record": verdict.to_json(),
    }


def _beginning(text: str) -> str:
    """Return the first words of a reason; the whole of it stands below."""
    line = " ".join(text[: 4 * _REASON_WIDTH].split())
    if len(line) <= _REASON_WIDTH:
        return line
    return f"{line[:_REASON_WIDTH].rsplit(' ', 1)[0]}…"

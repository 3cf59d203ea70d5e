"""The check by a judge of two replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_llmeval.assertions._arguments import accepted_words
from pytest_llmeval.assertions._given import given_pairwise
from pytest_llmeval.assertions._settle import score_of, settle_score
from pytest_llmeval.evaluate import as_judge
from pytest_llmeval.types import Case, Pairwise, Score

__all__ = ["assert_pairwise"]


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
    language: str = "en",
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
        inputs: Further variables of the template; a pair ``(of A, of B)`` swaps with
            the replies.
        score_map: The judge's labels and their values; a higher one favours
            Response B, which is the reply under test in the first order.
        mirror: What each label means with the replies swapped, where it isn't plain.
        language: Of the request for a label that a reply lacks: en, ja, de.
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
        "language": language,
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
    if outcome == "inconsistent":
        said = settled.reason
    elif outcome in verb and settled.consistent is None:
        said += " (asked in one order only)"
    if settled.members:
        share = sum(one.outcome == settled.outcome for one in settled.members)
        said += f" ({share} of {len(settled.members)} judges)"
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
            "members": [one.to_json() for one in settled.members],
            "record": settled.to_json(),
        },
    )

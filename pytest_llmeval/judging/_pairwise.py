"""Comparing two replies, in both orders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.judging._judge import Ask, problem_of
from pytest_llmeval.judging._labels import read_label, reason_of
from pytest_llmeval.judging._material import default_template, judge_prompt
from pytest_llmeval.judging._settle import (
    DEFAULT_SCORE_MAP,
    check_score_map,
    outcome_of,
    settle,
)
from pytest_llmeval.judging._verdict import printable
from pytest_llmeval.prompts import Template
from pytest_llmeval.types import Pairwise

__all__ = ["compare_replies"]


async def compare_replies(
    ask: Ask,
    *,
    response: str,
    against: str,
    question: str,
    reference: str | None = None,
    context: str | None = None,
    source: str | None = None,
    against_source: str | None = None,
    template: Template | None = None,
    inputs: Mapping[str, Any] | None = None,
    score_map: Mapping[str, float] | None = None,
    mirror: Mapping[str, str] | None = None,
    consistency: bool = True,
) -> Pairwise:
    """Return how `response` stands against another reply.

    In a template of the caller's, ``gen_output_a`` and ``gen_output_b`` are the
    replies, ``src_a`` and ``src_b`` their sources, ``user_query`` and ``ref_output`` the
    question and the reference, each between marker lines; ``labels`` are the labels.

    Args:
        ask: Asks the judge's model.
        response: The reply under test: B in the first order, A in the second.
        against: The other one.
        question: What both reply to.
        reference: The right answer, None when the row has none.
        context: What both should keep to, None when there is none.
        source: What `response` rests on.
        against_source: What `against` rests on.
        template: A template instead of ours.
        inputs: Further variables of the template.
        score_map: The labels and their values, rising towards Response B.
        mirror: What each label means with the replies swapped, where it isn't plain.
        consistency: Whether to ask in both orders.

    Raises:
        ConfigError: The score map is not symmetric.
        TemplateError: The template can't be used.
        UnscoredError: The judge could not be asked in the only order.
    """
    import asyncio

    scores = score_map or DEFAULT_SCORE_MAP
    if consistency:
        check_score_map(scores, mirror)
    used = template or default_template("pairwise")

    async def order(
        a: str, b: str, a_source: str | None, b_source: str | None
    ) -> _Said:
        prompt = judge_prompt(
            used,
            {
                "question": (question, ("user_query", "question", "input")),
                "reference": (reference, ("ref_output", "reference", "expected")),
                "context": (context, ("context", "src")),
                "source A": (a_source, ("src_a",)),
                "source B": (b_source, ("src_b",)),
                "response A": (a, ("gen_output_a",)),
                "response B": (b, ("gen_output_b",)),
            },
            plain={"labels": list(scores)},
            inputs=inputs,
        )
        return await _said(ask, prompt, scores)

    orders = [order(against, response, against_source, source)]
    if consistency:
        orders.append(order(response, against, source, against_source))
    said = await asyncio.gather(*orders)
    return _settled(said, scores, mirror, response=response, against=against)


class _Said:
    """What the judge said in one order."""

    def __init__(self, label: str | None, reason: str, cause: str | None) -> None:
        self.label = label
        self.reason = reason
        self.cause = cause


async def _said(ask: Ask, prompt: Any, scores: Mapping[str, float]) -> _Said:
    """Ask in one order; what goes wrong there must not lose the other."""
    try:
        answer = await ask(prompt, _schema(scores))
    except UnscoredError as exc:
        return _Said(None, exc.reason, exc.cause)
    if (problem := problem_of(answer)) is not None:
        return _Said(None, problem.reason, problem.cause)
    label = read_label(answer.text, scores)
    if label is None:
        reason = (
            f"the reply names none of {', '.join(map(repr, scores))} plainly: "
            f"{printable(answer.text)}"
        )
        return _Said(None, reason, "judge")
    return _Said(label, reason_of(answer.text, label), None)


def _schema(scores: Mapping[str, float]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "verdict": {"type": "string", "enum": list(scores)},
        },
        "required": ["reason", "verdict"],
        "additionalProperties": False,
    }


def _settled(
    said: list[_Said],
    scores: Mapping[str, float],
    mirror: Mapping[str, str] | None,
    *,
    response: str,
    against: str,
) -> Pairwise:
    from dataclasses import replace

    first = said[0]
    if len(said) == 1:
        label = first.label
        found = Pairwise(
            score=None if label is None else scores[label],
            consistent=None,
            outcome=None if label is None else outcome_of(label, scores),
            first=label,
            cause=first.cause,
            reason=first.reason if label is None else "",
        )
    else:
        found = settle(first.label, said[1].label, score_map=scores, mirror=mirror)
    missing = [one for one in said if one.label is None]
    if missing and found.score is None and found.consistent is None:
        reason = "; ".join(dict.fromkeys(one.reason for one in missing))
        found = replace(found, cause=missing[0].cause, reason=reason)
    return replace(
        found,
        first_reason=first.reason,
        swapped_reason=said[1].reason if len(said) > 1 else "",
        response=response,
        against=against,
    )

"""Comparing two replies, in both orders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.judging._judge import Ask, problem_of
from pytest_llmeval.judging._labels import read_label, reason_of
from pytest_llmeval.judging._material import default_template, judge_prompt
from pytest_llmeval.judging._verdict import printable
from pytest_llmeval.prompts import Template
from pytest_llmeval.types import Pairwise

__all__ = ["DEFAULT_SCORE_MAP", "check_score_map", "compare_replies", "settle"]

#: Scores rise towards Response B, which is the reply under test in the first order.
DEFAULT_SCORE_MAP: Final[Mapping[str, float]] = {
    "Response A": 0.0,
    "Tie": 0.5,
    "Response B": 1.0,
}
_SIDE = re.compile(r"(?<![^\W_])([AaBb])(?![^\W_])")
_OTHER = {"A": "B", "B": "A", "a": "b", "b": "a"}


def settle(
    first: str | None,
    swapped: str | None,
    *,
    score_map: Mapping[str, float] | None = None,
    mirror: Mapping[str, str] | None = None,
) -> Pairwise:
    """Return what two labels say together.

    They are consistent when the second is the first seen from the other side: the
    label with A and B exchanged, or one of the mirrored rank where a label names no
    side. Ranks are those of the distinct scores, so spacing does not matter and two
    labels may share a score.

    Args:
        first: The judge's label; A was the other reply, B the one under test.
        swapped: Its label with the replies swapped.
        score_map: Labels and their values, rising towards Response B.
        mirror: What each label means with the replies swapped, where it isn't plain.

    Returns:
        The first order's score if they are consistent, else None.
    """
    scores = score_map or DEFAULT_SCORE_MAP
    one, other = _known(first, scores), _known(swapped, scores)
    if one is None or other is None:
        which = [o for o, x in (("first", one), ("swapped", other)) if x is None]
        return Pairwise(
            score=None,
            consistent=None,
            outcome=None,
            first=first,
            swapped=swapped,
            cause="judge",
            reason=f"the judge gave no label in the {' and the '.join(which)} order",
        )
    if not _is_consistent(one, other, scores, mirror):
        return Pairwise(
            score=None,
            consistent=False,
            outcome=None,
            first=first,
            swapped=swapped,
            cause="inconsistent",
            reason=(
                f"the judge contradicted itself: {one!r}, and with the replies swapped "
                f"{other!r}"
            ),
        )
    return Pairwise(
        score=scores[one],
        consistent=True,
        outcome=_outcome(one, scores),
        first=first,
        swapped=swapped,
    )


def check_score_map(
    scores: Mapping[str, float], mirror: Mapping[str, str] | None
) -> None:
    """Refuse a map in which a label can never be consistent.

    Raises:
        ConfigError: A label has no mirror, or one of another strength.
    """
    if len(set(scores.values())) < 2:
        message = f"a score map tells at least two values apart, and this not: {scores}"
        raise ConfigError(message)
    for label in scores:
        if not any(_is_consistent(label, other, scores, mirror) for other in scores):
            message = (
                f"the score map is not symmetric: no label is {label!r} seen from the "
                f"other side ({', '.join(map(repr, scores))}); add it, or give "
                f"mirror={{{label!r}: ...}}"
            )
            raise ConfigError(message)


async def compare_replies(
    ask: Ask,
    *,
    response: str,
    against: str,
    question: str,
    reference: str | None = None,
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
            outcome=None if label is None else _outcome(label, scores),
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


def _known(label: str | None, scores: Mapping[str, float]) -> str | None:
    if label is None or label in scores:
        return label
    folded = [name for name in scores if name.casefold() == label.casefold().strip()]
    return folded[0] if len(folded) == 1 else None


def _is_consistent(
    one: str,
    other: str,
    scores: Mapping[str, float],
    mirror: Mapping[str, str] | None,
) -> bool:
    if mirror is not None and (one in mirror or other in mirror):
        return mirror.get(one) == other or mirror.get(other) == one
    seen = _SIDE.sub(lambda match: _OTHER[match[1]], one)
    if seen != one:
        return other == seen and _ranks_mirror(one, other, scores)
    return not _SIDE.search(other) and _ranks_mirror(one, other, scores)


def _ranks_mirror(one: str, other: str, scores: Mapping[str, float]) -> bool:
    ranks = sorted(set(scores.values()))
    return ranks.index(scores[one]) + ranks.index(scores[other]) == len(ranks) - 1


def _outcome(label: str, scores: Mapping[str, float]) -> Literal["win", "tie", "loss"]:
    ranks = sorted(set(scores.values()))
    side = 2 * ranks.index(scores[label]) - (len(ranks) - 1)
    return "win" if side > 0 else "loss" if side < 0 else "tie"

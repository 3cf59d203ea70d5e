"""Comparing two replies, in both orders, by one judge or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmeval.errors import TemplateError
from pytest_llmeval.judging._again import check_language
from pytest_llmeval.judging._ask import Juror, Question, Said, ask_all
from pytest_llmeval.judging._fingerprint import fingerprint
from pytest_llmeval.judging._material import default_template, judge_prompt
from pytest_llmeval.judging._panel import settled_together
from pytest_llmeval.judging._settle import (
    DEFAULT_SCORE_MAP,
    check_score_map,
    outcome_of,
    settle,
)
from pytest_llmeval.judging._words import Words, check_scores, warn_of_labels
from pytest_llmeval.prompts import Template
from pytest_llmeval.types import Pairwise, as_text

__all__ = ["Side", "compare_replies"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two replies."""

    text: str
    source: str | None = None
    """What it rests on."""
    inputs: Mapping[str, Any]
    """Its own further variables, without the ``_a`` or ``_b`` of their names."""


async def compare_replies(
    jurors: Sequence[Juror],
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
    language: str = "en",
    consistency: bool = True,
) -> Pairwise:
    """Return how `response` stands against another reply.

    In a template of the caller's, ``gen_output_a`` and ``gen_output_b`` are the
    replies, ``src_a`` and ``src_b`` their sources, ``user_query`` and ``ref_output`` the
    question and the reference, each between marker lines; ``labels`` are the labels.

    Args:
        jurors: The judges: one model, or those of a panel.
        response: The reply under test: B in the first order, A in the second.
        against: The other one.
        question: What both reply to.
        reference: The right answer, None when the row has none.
        context: What both should keep to, None when there is none.
        source: What `response` rests on.
        against_source: What `against` rests on.
        template: A template instead of ours.
        inputs: Further variables of the template; a pair ``(of A, of B)`` under NAME
            becomes ``NAME_a`` and ``NAME_b``, which swap with the replies.
        score_map: The labels and their values, rising towards Response B.
        mirror: What each label means with the replies swapped, where it isn't plain.
        language: Of the request for a label that a reply lacks: en, ja, de.
        consistency: Whether to ask in both orders.

    Raises:
        ConfigError: The score map is not symmetric.
        TemplateError: The template can't be used.
    """
    import asyncio

    scores = DEFAULT_SCORE_MAP if score_map is None else score_map
    if consistency:
        check_score_map(scores, mirror)
    else:
        check_scores(scores)
    words = Words(labels=tuple(scores))
    used = template or default_template("pairwise")
    common, of_a, of_b = _shared_out(inputs or {})
    one = Side(text=against, source=against_source, inputs=of_a)
    other = Side(text=response, source=source, inputs=of_b)
    material = {
        "question": (question, ("user_query", "question", "input")),
        "reference": (reference, ("ref_output", "reference", "expected")),
        "context": (context, ("context", "src")),
    }

    def asked(a: Side, b: Side) -> Question:
        prompt = judge_prompt(
            used,
            {
                **material,
                "source A": (a.source, ("src_a",)),
                "source B": (b.source, ("src_b",)),
                "response A": (a.text, ("gen_output_a",)),
                "response B": (b.text, ("gen_output_b",)),
            },
            plain={"labels": list(scores)},
            inputs={**common, **_named(a, "a"), **_named(b, "b")},
        )
        return Question(prompt=prompt, words=words, language=check_language(language))

    questions = [asked(one, other), *([asked(other, one)] if consistency else [])]
    if template is not None:
        warn_of_labels(template, words, map(as_text, (inputs or {}).values()))
    orders = await asyncio.gather(*(ask_all(jurors, each) for each in questions))
    found = settled_together(
        [_settled(said, scores, mirror) for said in zip(*orders, strict=True)], scores
    )
    return replace(
        found,
        response=response,
        against=against,
        prompts=tuple(each.prompt for each in questions),
        fingerprint=fingerprint(
            template=used.text,
            rubric=None,
            identities=[juror.identity for juror in jurors],
            score_map=scores,
            mirror=mirror,
            language=language,
            orders=len(questions),
        ),
    )


def _shared_out(
    inputs: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the inputs of both replies, and those of each side."""
    pairs = {k: v for k, v in inputs.items() if isinstance(v, tuple) and len(v) == 2}
    common = {name: value for name, value in inputs.items() if name not in pairs}
    for name in pairs:
        for taken in (f"{name}_a", f"{name}_b"):
            if taken in common:
                message = f"inputs has {taken!r}, and {name!r} is a pair that makes it"
                raise TemplateError(message)
    return (
        common,
        {name: pair[0] for name, pair in pairs.items()},
        {name: pair[1] for name, pair in pairs.items()},
    )


def _named(side: Side, letter: str) -> dict[str, Any]:
    return {f"{name}_{letter}": value for name, value in side.inputs.items()}


def _settled(
    said: Sequence[Said],
    scores: Mapping[str, float],
    mirror: Mapping[str, str] | None,
) -> Pairwise:
    """Return what one judge said in one order or two."""
    votes = tuple(one.vote for one in said)
    first = votes[0]
    if len(votes) == 1:
        found = Pairwise(
            score=None if first.said is None else float(scores[first.said]),
            consistent=None,
            outcome=None if first.said is None else outcome_of(first.said, scores),
            first=first.said,
        )
    else:
        found = settle(first.said, votes[1].said, score_map=scores, mirror=mirror)
    missing = [vote for vote in votes if vote.said is None]
    if missing:
        reason = "; ".join(dict.fromkeys(vote.reason for vote in missing))
        found = replace(found, cause=missing[0].cause, reason=reason)
    return replace(
        found,
        first_reason=first.reason,
        swapped_reason=votes[1].reason if len(votes) > 1 else "",
        orders=votes,
    )

"""Asking judges: each vote by itself, once more where a reply holds no verdict."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.judging._again import Language, once_more
from pytest_llmeval.judging._verdict import printable
from pytest_llmeval.judging._words import Reading, Words
from pytest_llmeval.types import Prompt, Response, Vote, total_cost, total_usage

__all__ = ["Ask", "Juror", "Question", "Said", "ask_all"]

#: Asks a judge's model: prompt, JSON schema of the reply for models that take one, and
#: the index of the vote. Raises UnscoredError when it can't be asked.
Ask = Callable[[Prompt, Mapping[str, Any], int], Awaitable[Response]]

#: Finish reasons of replies that are not whole.
_CUT = frozenset({"length", "content_filter", "error"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Juror:
    """A judge: one model, or one of a panel."""

    ask: Ask
    name: str = ""
    """The configured name or spec, as in reports."""
    identity: Mapping[str, Any] = field(default_factory=dict)
    """Model and parameters: what changes its verdicts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a judge is asked, and how its reply is read."""

    prompt: Prompt
    words: Words = field(default_factory=Words)
    language: Language = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A vote, and the error of a judge that could not be asked."""

    vote: Vote
    error: UnscoredError | None = None


async def ask_all(
    jurors: Sequence[Juror], question: Question, votes: int = 1
) -> list[Said]:
    """Return every judge's votes, asked at the same time.

    What goes wrong in one vote does not lose the others.

    Args:
        jurors: The judges.
        question: What each is asked.
        votes: How many times each is asked.
    """
    import asyncio

    return await asyncio.gather(
        *(
            _ask_one(juror, question, index)
            for juror in jurors
            for index in range(votes)
        )
    )


async def _ask_one(juror: Juror, question: Question, index: int) -> Said:
    schema = question.words.schema()
    try:
        answer = await juror.ask(question.prompt, schema, index)
    except UnscoredError as exc:
        vote = Vote(
            said=None, reason=exc.reason, cause=exc.cause, judge=juror.name, index=index
        )
        return Said(vote=vote, error=exc)
    vote, reading = _vote(juror, question, index, answer)
    if not reading.is_silent:
        return Said(vote=vote)
    again = once_more(question.prompt, answer.text, question.words, question.language)
    try:
        second = await juror.ask(again, schema, index)
    except UnscoredError as exc:
        reason = f"{reading.reason}; asked for it once more: {exc.reason}"
        return Said(vote=replace(vote, reason=reason))
    return Said(vote=_repaired(vote, second, *_vote(juror, question, index, second)))


def _vote(
    juror: Juror, question: Question, index: int, answer: Response
) -> tuple[Vote, Reading]:
    problem = _problem_of(answer)
    reading = problem or question.words.read(answer.text)
    cause = "judge" if reading.said is None else None
    vote = Vote(
        said=reading.said,
        reason=reading.reason,
        raw=answer.text,
        cause="cut" if answer.finish_reason in _CUT else cause,
        judge=juror.name,
        index=index,
        model=answer.model,
        usage=answer.usage,
        cost=answer.cost,
    )
    return vote, reading


def _repaired(first: Vote, answer: Response, second: Vote, reading: Reading) -> Vote:
    """Return the vote of a judge that was asked twice.

    Its reasons stand in the first reply, where that was an assessment.
    """
    reason = second.reason
    if second.said is None:
        reason = f"{reason} (asked twice)"
    elif first.raw.strip() and second.reason in {"", second.said}:
        reason = first.raw.strip()
    return replace(
        second,
        reason=reason,
        raw=first.raw,
        repaired=answer.text,
        usage=total_usage([first.usage, second.usage]),
        cost=total_cost([first.cost, second.cost]),
    )


def _problem_of(answer: Response) -> Reading | None:
    """Return why a judge's answer holds no verdict, None when it may hold one."""
    if answer.finish_reason == "length":
        reason = (
            f"the judge's reply was cut off at its token limit (finish_reason length): "
            f"raise max_tokens in its params; it ends {printable(answer.text[-60:])}"
        )
        return Reading(said=None, reason=reason)
    if answer.finish_reason in {"content_filter", "error"}:
        reason = (
            f"the judge's reply is not whole (finish_reason {answer.finish_reason}); "
            f"it ends {printable(answer.text[-60:])}"
        )
        return Reading(said=None, reason=reason)
    if answer.finish_reason in {"content_filter", "error"}:
        reason = (
            f"the judge's reply is not whole (finish_reason {answer.finish_reason}): "
            f"{printable(answer.text)}"
        )
        return Reading(said=None, reason=reason)
    if answer.refusal:
        reason = f"the judge refused: {printable(answer.refusal)}"
        return Reading(said=None, reason=reason)
    return None

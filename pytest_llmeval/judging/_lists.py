"""Judging lists of replies, outside of pytest: langcheck's two calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.judging._clients import asking
from pytest_llmeval.judging._judge import judge_reply
from pytest_llmeval.judging._pairwise import compare_replies
from pytest_llmeval.prompts import Template
from pytest_llmeval.types import Pairwise, Verdict

__all__ = ["compare", "evaluate"]

T = TypeVar("T")
Texts = str | Sequence[str | None] | None


def evaluate(
    client: Any,
    outputs: Texts,
    *,
    prompts: Texts = None,
    sources: Texts = None,
    references: Texts = None,
    rubric: str | None = None,
    template: Any = None,
    inputs: Mapping[str, Sequence[Any]] | None = None,
    score_map: Mapping[str, float] | None = None,
    language: str = "en",
    votes: int = 1,
    concurrency: int = 10,
) -> list[Verdict]:
    """Return a verdict on each of a list of replies; blocks until all are there.

    A row that the judge can't decide on, or could not be asked about, has a Verdict
    without a verdict, with its reason and cause; the others keep theirs.

    Args:
        client: The judge: a model's spec or name in llmeval.yaml, a callable that gets
            the prompt and returns a text, an object with ``generate``; of several in a
            list, more than half decide.
        outputs: The replies.
        prompts: What each replies to.
        sources: What each should keep to.
        references: The right answers.
        rubric: What a passing reply does.
        template: A Jinja template of your own (text or path) instead of ours.
        inputs: Further variables of the template, a value a row each.
        score_map: Labels and their values, in place of PASS and FAIL.
        language: Of the request for a verdict that a reply lacks: en, ja, de.
        votes: How many times each judge is asked.
        concurrency: How many rows are judged at once.

    Raises:
        ConfigError: Lists differ in length, or something else can't be used.
        TemplateError: The template can't be used.
    """
    rows = _rows(
        {
            "outputs": outputs,
            "prompts": prompts,
            "sources": sources,
            "references": references,
        },
        inputs,
    )
    used = None if template is None else Template.of(template)

    async def judged(jurors: Any, row: Mapping[str, Any]) -> Verdict:
        text = row["outputs"]
        try:
            return await judge_reply(
                jurors,
                response=_reply(text),
                question=row["prompts"] or "",
                context=row["sources"],
                reference=row["references"],
                rubric=rubric,
                template=used,
                inputs=row["inputs"],
                score_map=score_map,
                language=language,
                votes=votes,
            )
        except UnscoredError as exc:
            return Verdict(
                verdict=None,
                reason=exc.reason,
                cause=exc.cause,
                response=text,
                rubric=rubric,
            )

    return _all_of(client, rows, judged, concurrency)


def compare(
    client: Any,
    outputs_a: Texts,
    outputs_b: Texts,
    *,
    prompts: Texts = None,
    sources_a: Texts = None,
    sources_b: Texts = None,
    references: Texts = None,
    template: Any = None,
    inputs: Mapping[str, Sequence[Any]] | None = None,
    score_map: Mapping[str, float] | None = None,
    mirror: Mapping[str, str] | None = None,
    language: str = "en",
    consistency: bool = True,
    concurrency: int = 10,
) -> list[Pairwise]:
    """Return how each reply of B stands against that of A; blocks until all are there.

    Both orders are asked, replies and sources swapped. The score is that of the first
    order's label; an outcome of win says that B is the better one.

    Args:
        client: As of `evaluate`.
        outputs_a: Replies that are shown as Response A in the first order.
        outputs_b: Those shown as Response B.
        prompts: What both reply to.
        sources_a: What the replies of A rest on.
        sources_b: What those of B rest on.
        references: The right answers.
        template: A Jinja template of your own (text or path) instead of ours.
        inputs: Further variables of the template, a value a row each; a pair
            ``(of A, of B)`` swaps with the replies.
        score_map: The labels and their values, rising towards Response B.
        mirror: What each label means with the replies swapped, where it isn't plain.
        language: Of the request for a label that a reply lacks: en, ja, de.
        consistency: Whether to ask in both orders.
        concurrency: How many rows are judged at once.

    Raises:
        ConfigError: Lists differ in length, or something else can't be used.
        TemplateError: The template can't be used.
    """
    rows = _rows(
        {
            "outputs_a": outputs_a,
            "outputs_b": outputs_b,
            "prompts": prompts,
            "sources_a": sources_a,
            "sources_b": sources_b,
            "references": references,
        },
        inputs,
    )
    used = None if template is None else Template.of(template)

    async def compared(jurors: Any, row: Mapping[str, Any]) -> Pairwise:
        try:
            return await compare_replies(
                jurors,
                response=_reply(row["outputs_b"]),
                against=_reply(row["outputs_a"]),
                question=row["prompts"] or "",
                reference=row["references"],
                source=row["sources_b"],
                against_source=row["sources_a"],
                template=used,
                inputs=row["inputs"],
                score_map=score_map,
                mirror=mirror,
                language=language,
                consistency=consistency,
            )
        except UnscoredError as exc:
            return Pairwise(
                score=None,
                consistent=None,
                outcome=None,
                reason=exc.reason,
                cause=exc.cause,
                response=row["outputs_b"],
                against=row["outputs_a"],
            )

    return _all_of(client, rows, compared, concurrency)


def _reply(text: Any) -> str:
    if not isinstance(text, str):
        message = f"there is no reply to judge: it is {text!r:.60}, and no text"
        raise UnscoredError(message, cause="data")
    return text


def _rows(
    columns: Mapping[str, Any], inputs: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """Return the columns row by row.

    Raises:
        ConfigError: There are no replies, or columns differ in length.
    """
    given = {
        name: [value] if isinstance(value, str) else list(value)
        for name, value in {**columns, **(inputs or {})}.items()
        if value is not None
    }
    lengths = {name: len(values) for name, values in given.items()}
    if len(set(lengths.values())) > 1 or not all(lengths.values()):
        shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
        message = f"the lists are of one length, from 1 up, and not: {shown}"
        raise ConfigError(message)
    required = [name for name in columns if name.startswith("outputs")]
    if missing := [name for name in required if name not in given]:
        message = f"there is nothing to judge: {missing[0]} is None"
        raise ConfigError(message)
    return [
        {
            **{name: given[name][row] if name in given else None for name in columns},
            "inputs": {name: given[name][row] for name in inputs or {}},
        }
        for row in range(lengths[required[0]])
    ]


def _all_of(
    client: Any,
    rows: Sequence[Mapping[str, Any]],
    each: Callable[[Any, Mapping[str, Any]], Awaitable[T]],
    concurrency: int,
) -> list[T]:
    """Return what `each` returns for every row, some of them at a time."""
    if isinstance(concurrency, bool) or concurrency < 1:
        message = f"concurrency is a number of rows from 1 up, not {concurrency!r}"
        raise ConfigError(message)

    async def all_of_them(jurors: Any) -> list[T]:
        import asyncio

        free = asyncio.Semaphore(concurrency)

        async def in_turn(row: Mapping[str, Any]) -> T:
            async with free:
                return await each(jurors, row)

        tasks = [asyncio.ensure_future(in_turn(row)) for row in rows]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            # After a mistake in one row nothing more is sent.
            for task in tasks:
                task.cancel()

    with asking(client) as (jurors, loop):
        return loop.run(all_of_them(jurors), instead="await in a thread of its own")

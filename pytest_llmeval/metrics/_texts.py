"""The two texts of a metric: the reply, and what is expected."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.metrics._base import Declaration, Details, plain_text_of
from pytest_llmeval.types import Case, Response, Score, as_text

__all__ = ["best_of", "named", "references_of", "text_of"]


def text_of(response: Any, references: Sequence[str] = ()) -> str:
    """Return the text a metric looks at.

    Args:
        response: A Response, a text, or a value with a text.
        references: What is expected: an empty one makes an empty reply a right one.

    Raises:
        UnscoredError: There is no reply, or a model replied with nothing. An
            application may answer with an empty text; a model that does has failed.
    """
    if response is None:
        message = "there is no reply to score: the metric was given None"
        raise UnscoredError(message, cause="application")
    if hasattr(response, "__await__") or callable(response):
        # Scored by its repr it would pass whatever must not be in a reply.
        kind = type(response).__name__
        hint = "await it" if hasattr(response, "__await__") else "call it with the case"
        message = f"the metric was given a {kind} in place of a reply: {hint}"
        raise UnscoredError(message, cause="suite")
    text = plain_text_of(response)
    if text.strip() or not isinstance(response, Response):
        return text
    if not response.is_from_model or any(not r.strip() for r in references):
        return text
    raise _no_text(response)


def _no_text(response: Response) -> UnscoredError:
    """Return the error of a model's reply that says nothing."""
    who = response.model or response.provider or "the model"
    reason = f"(finish_reason {response.finish_reason or 'not given'})"
    if response.refusal:
        message = f"{who} refused to answer: {response.refusal!r} {reason}"
        return UnscoredError(message, cause="refused")
    if response.tool_calls:
        names = ", ".join(str(call.get("name")) for call in response.tool_calls)
        message = f"{who} asked for tools ({names}) and said nothing {reason}"
        return UnscoredError(message, cause="empty")
    what = "white space only" if response.text else "an empty text"
    return UnscoredError(f"{who} replied with {what} {reason}", cause="empty")


def references_of(expected: Any) -> tuple[str, ...]:
    """Return the acceptable texts: of a case its ``expected``, of a list each item.

    Raises:
        UnscoredError: Nothing is expected where something is needed.
    """
    case = expected if isinstance(expected, Case) else None
    value = case.expected if case else expected
    if isinstance(value, str):
        return (value,)
    if value is None:
        raise UnscoredError(_nothing_expected(case), cause="data")
    if isinstance(value, set | frozenset):
        value = sorted(value, key=as_text)
    if not isinstance(value, list | tuple):
        return (_reference(value, case),)
    if not value:
        message = f"{_expected_of(case)} is an empty list: no answer is acceptable"
        raise UnscoredError(message, cause="data")
    return tuple(_reference(item, case) for item in value)


def _reference(value: Any, case: Case | None) -> str:
    is_missing = value is None or (isinstance(value, float) and math.isnan(value))
    if is_missing:
        shown = "null" if value is None else "NaN, a table's empty cell"
        message = f"{_expected_of(case)} is or holds {shown}: nothing to compare with"
        raise UnscoredError(message, cause="data")
    return as_text(value)


def _expected_of(case: Case | None) -> str:
    return f"expected of {named(case)}" if case else "expected"


def named(case: Case) -> str:
    """Return a case's id and place as a message names them."""
    return f"case {case.id!r}" + (f" ({case.source})" if case.source else "")


def _nothing_expected(case: Case | None) -> str:
    if case is None:
        return (
            "expected is None: give a text, a list of acceptable ones, or a case "
            "that has an expected value"
        )
    columns = ", ".join(map(str, case.fields)) or "none"
    return (
        f"{named(case)} has no expected value; its columns: {columns}. Name the "
        f'right one by columns={{"expected": "..."}}'
    )


def best_of(
    declaration: Declaration,
    response: Any,
    expected: Any,
    *,
    value: Callable[[str, str], float],
    details: Callable[[str, str], Mapping[str, Any]],
    reason: Callable[[str, str], str] | None = None,
) -> Score:
    """Return the score against the best of the acceptable texts, the first on a tie.

    Args:
        declaration: The metric; its direction says what is best.
        response: What `text_of` takes.
        expected: What `references_of` takes.
        value: The value of a reply against one reference.
        details: What explains it beside the two texts; made when it is read.
        reason: Why the value is not the best there is.
    """
    references = references_of(expected)
    text = text_of(response, references)
    top = declaration.high if declaration.higher_is_better else declaration.low
    best, place = value(text, references[0]), 0
    for index, reference in enumerate(references[1:], 1):
        if best == top:
            break
        other = value(text, reference)
        if (other > best) == declaration.higher_is_better and other != best:
            best, place = other, index
    found = references[place]
    ready: dict[str, Any] = {"response": text, "expected": found}
    if len(references) > 1:
        ready |= {"reference_index": place, "references": references}
    why = "" if reason is None or best == top else reason(text, found)
    return declaration.scored(best, why, Details(ready, partial(details, text, found)))

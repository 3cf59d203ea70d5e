"""Choices and preferences by likelihood: which text a model holds to be most likely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.metrics._asking import (
    continuation_of,
    finite_parts,
    likelihoods_of,
)
from pytest_llmeval.metrics._base import Declaration, one_of, scored_by
from pytest_llmeval.metrics._choice_gold import gold_of
from pytest_llmeval.metrics._choice_labels import LETTERS
from pytest_llmeval.metrics._explain import ROOM, beside, inline, labelled
from pytest_llmeval.metrics._perplexity import byte_count
from pytest_llmeval.metrics._texts import named
from pytest_llmeval.types import TOLERANCE, Case, Score, as_text

__all__ = ["CHOICE_LOGLIK", "PREFERS", "choice_loglik", "explain", "prefers"]

CHOICE_LOGLIK: Final = Declaration(name="choice_loglik", binary=True, takes="model")
PREFERS: Final = Declaration(name="prefers", takes="model")

By = Literal["sum", "token", "byte", "character", "mutual_information"]
_BY: Final = ("sum", "token", "byte", "character", "mutual_information")


@scored_by(CHOICE_LOGLIK)
def choice_loglik(
    response: Any,
    expected: Any,
    *,
    context: str | None = None,
    by: By = "sum",
    choices: Sequence[Any] | None = None,
    label_base: int = 0,
) -> Score:
    """Return 1 if the model holds the right choice's text to be the most likely one.

    Two choices that are equally likely are undecided, and not right.

    Args:
        response: The model (the generator), or the `Likelihood` of each choice; by
            mutual information those without the context after them.
        expected: A case with choices and a label; or a label, and `choices`.
        context: What stands before the choice; by default the case's context and
            question, and ``Answer:``.
        by: ``sum`` favours short choices; ``token``, ``byte`` and ``character`` divide
            by the length; ``mutual_information`` takes off how likely the choice is
            without the context.
        choices: The choices, where `expected` is no case.
        label_base: The number of the first choice where a label is a position: 0 or 1.

    Raises:
        ConfigError: There are no choices, no such `by`, or it is no model.
    """
    one_of("way to compare", by, _BY, "choice_loglik")
    gold = gold_of(expected, choices=choices, label_base=label_base)
    if gold.multiple:
        message = "choice_loglik picks one choice, and the row has several labels"
        raise UnscoredError(message, cause="data")
    before = _context(expected, context)
    values = _values(response, before, gold.choices, by)
    best = max(values)
    first = [i for i, value in enumerate(values) if best - value <= TOLERANCE]
    right = LETTERS.index(gold.letters[0])
    details = {
        "response": ", ".join(LETTERS[i] for i in first),
        "expected": gold.letters[0],
        "by": by,
        "values": tuple(zip(LETTERS, gold.choices, values, strict=False)),
    }
    reason = ""
    if len(first) > 1:
        reason = f"{' and '.join(LETTERS[i] for i in first)} are equally likely"
    elif first[0] != right:
        reason = f"{LETTERS[first[0]]} is more likely than {gold.letters[0]}"
    return CHOICE_LOGLIK.scored(first == [right], reason, details)


@scored_by(PREFERS)
def prefers(
    response: Any,
    expected: Any,
    *,
    context: str | None = None,
    by: By = "sum",
    rejected: Any = None,
) -> Score:
    """Return 1 if the model holds the better text to be likelier, 0.5 for a tie, else 0.

    Args:
        response: The model (the generator), or the `Likelihood` of better and rejected.
        expected: A case with ``better`` and ``rejected``; or the better text.
        context: As in `choice_loglik`.
        by: As in `choice_loglik`.
        rejected: The other text, where `expected` is no case.

    Raises:
        ConfigError: There is no such `by`, no other text, or it is no model.
    """
    one_of("way to compare", by, _BY, "prefers")
    texts = _pair(expected, rejected)
    values = _values(response, _context(expected, context), texts, by)
    gap = values[0] - values[1]
    is_tie = abs(gap) <= TOLERANCE
    value = 0.5 if is_tie else float(gap > 0)
    reason = "both texts are equally likely" if is_tie else ""
    if value == 0:
        reason = "the rejected text is more likely"
    details = {
        "response": texts[0 if value == 1 else 1] if not is_tie else "",
        "expected": texts[0],
        "by": by,
        "values": tuple(zip(("better", "rejected"), texts, values, strict=True)),
    }
    return PREFERS.scored(value, reason, details)


def _pair(expected: Any, rejected: Any) -> tuple[str, str]:
    case = expected if isinstance(expected, Case) else None
    if case is None and rejected is None:
        message = "prefers compares two texts: give a case, or rejected="
        raise ConfigError(message)
    pair = (case.better, case.rejected) if case else (expected, rejected)
    for name, value in zip(("better", "rejected"), pair, strict=True):
        if not as_text(value).strip():
            subject = f"{named(case)} has" if case else "there is"
            raise UnscoredError(f"{subject} no {name} text", cause="data")
    return as_text(pair[0]), as_text(pair[1])


def _context(expected: Any, context: str | None) -> str:
    """Return what stands before the texts: given, or made of the case."""
    if isinstance(context, str):
        return context
    if context is not None:
        raise ConfigError(f"context is a text, not {context!r:.60}")
    if not isinstance(expected, Case):
        return ""
    if not isinstance(expected.input, str) or not expected.input.strip():
        message = f"{named(expected)} has no question as text: its input is"
        raise UnscoredError(f"{message} {expected.input!r:.60}", cause="data")
    parts = (expected.context,) if expected.context else ()
    if isinstance(expected.context, list | tuple):
        parts = tuple(expected.context)
    blocks = [as_text(part) for part in parts]
    return "\n\n".join([*blocks, f"Question: {expected.input}\nAnswer:"])


def _values(model: Any, context: str, texts: Sequence[str], by: str) -> list[float]:
    """Return the number by which each text is compared."""
    questions = [(context, continuation_of(context, text)) for text in texts]
    if by == "mutual_information":
        alone = [("", continuation) for _, continuation in questions]
        found = likelihoods_of(model, [*questions, *alone])
        pairs = zip(found[: len(texts)], found[len(texts) :], strict=True)
        return [given.logprob - without.logprob for given, without in pairs]
    found = likelihoods_of(model, questions)
    if by == "token":
        why = "the model does not say how many tokens: compare by byte or sum"
        counts = finite_parts((one.token_count or None for one in found), why)
    else:
        counts = [_length(text, by) for text in texts]
    return [one.logprob / count for one, count in zip(found, counts, strict=True)]


def _length(text: str, by: str) -> float:
    lengths = {"sum": 1, "byte": byte_count(text), "character": len(text)}
    return float(lengths[by])


def explain(score: Score) -> list[str]:
    """Return the texts, the most likely one first, and their numbers."""
    ranked = sorted(score.details["values"], key=lambda entry: -entry[2])
    by = score.details["by"].replace("_", " ")
    lines = [f"{value:>9.3f}  {name}  {text}" for name, text, value in ranked[:12]]
    shown = [inline(line, ROOM) for line in lines]
    heading = "logprob" if by == "sum" else f"by {by}"
    if len(heading) > 9:
        lines = [heading, *beside("", shown)]
    else:
        lines = beside(heading, shown)
    # A graded score's reason does not stand in the first line of a failure.
    reason = labelled("reason", score.reason) if not score.binary else []
    return [*lines, *(reason if score.reason else [])]

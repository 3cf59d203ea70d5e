"""Exact match after normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final
from unicodedata import normalize

from pytest_llmeval.metrics._base import Declaration, one_of, scored_by
from pytest_llmeval.metrics._drop import drop_score
from pytest_llmeval.metrics._explain import inline, labelled, texts_of
from pytest_llmeval.metrics._normalise import PRESETS, Preset, normaliser, removed
from pytest_llmeval.metrics._official import answerable
from pytest_llmeval.metrics._readings import is_same_answer
from pytest_llmeval.metrics._texts import best_of
from pytest_llmeval.types import Score

__all__ = ["EXACT", "exact", "explain", "is_equal"]

EXACT: Final = Declaration(name="exact", binary=True)


@scored_by(EXACT)
def exact(
    response: Any, expected: Any, *, preset: str | Sequence[str] = "default"
) -> Score:
    """Return 1 if the reply equals an acceptable text after normalisation, else 0.

    Args:
        response: A Response or a text; for ``drop`` a list of spans too.
        expected: A case (its ``expected``), a text, or a list of acceptable ones. For
            ``squad_v2`` an empty list is an unanswerable question, for ``drop`` a list
            is the spans of one answer, and of a list of lists the best one counts.
        preset: ``default`` (Unicode form, case, articles, punctuation and the form of
            numbers don't count; ``3 million`` is ``3,000,000``), ``squad_v1``,
            ``squad_v2``, ``hotpotqa`` or ``drop`` (the official scripts), ``teff``
            (white space and case don't count), ``raw`` (everything counts), or a list
            of steps of normalisation: ``["casefold", "punctuation", "words"]``.

    Raises:
        ConfigError: There is no such preset or step.
        MissingExtraError: A step needs what isn't installed.
    """
    if isinstance(preset, str):
        one_of("preset", preset, (*PRESETS, "drop"), "exact")
        if preset == "drop":
            return drop_score(EXACT, response, expected)
        if preset == "squad_v2":
            expected = answerable(expected)
    return best_of(
        EXACT,
        response,
        expected,
        value=partial(_value, preset, normaliser(preset)),
        details=partial(_details, preset),
        reason=_difference,
    )


def _value(
    name: str | Sequence[str], normalise: Preset, text: str, reference: str
) -> float:
    if name == "default":
        return float(is_equal(text, reference))
    return float(normalise(text) == normalise(reference))


def is_equal(text: str, reference: str) -> bool:
    """Return whether two texts are the same answer by the ``default`` preset."""
    if text == reference:
        return True
    normalise = PRESETS["default"]
    return normalise(text) == normalise(reference) or is_same_answer(text, reference)


def _details(preset: str | Sequence[str], text: str, reference: str) -> dict[str, Any]:
    normalise = normaliser(preset)
    return {
        "preset": preset,
        "normalised_response": normalise(text),
        "normalised_expected": normalise(reference),
        "removed": removed(text, normalise),
    }


def _difference(text: str, reference: str) -> str:
    if normalize("NFKC", text) == normalize("NFKC", reference):
        return "the texts differ in Unicode form only"
    return f"the reply is not '{inline(reference, 40)}'"


def explain(score: Score) -> list[str]:
    """Return lines that say why the texts are not equal."""
    lines = texts_of(score)
    text, reference = score.details["response"], score.details["expected"]
    if normalize("NFKC", text) == normalize("NFKC", reference):
        lines += _code_points(reference, text)
    return lines


def _code_points(reference: str, text: str) -> list[str]:
    """Return the code points around the first place where the texts differ."""
    pairs = enumerate(zip(reference, text, strict=False))
    shorter = min(len(reference), len(text))
    place = next((i for i, (a, b) in pairs if a != b), shorter)
    return [
        *labelled("differ", f"in Unicode form only, at character {place + 1}:"),
        *labelled("expected", _named(reference[place : place + 3])),
        *labelled("reply", _named(text[place : place + 3])),
    ]


def _named(text: str) -> str:
    return " ".join(f"U+{ord(char):04X}" for char in text) or "end of text"

"""Exact match after normalisation."""

from __future__ import annotations

from functools import partial
from typing import Any, Final
from unicodedata import normalize

from pytest_llmeval.metrics._base import (
    Declaration,
    Details,
    best_of,
    one_of,
    scored_by,
)
from pytest_llmeval.metrics._explain import inline, labelled, texts_of
from pytest_llmeval.metrics._normalise import PRESETS, removed
from pytest_llmeval.metrics._readings import is_same_answer
from pytest_llmeval.types import Score

__all__ = ["EXACT", "exact", "explain"]

EXACT: Final = Declaration(name="exact", binary=True)


@scored_by(EXACT)
def exact(response: Any, expected: Any, *, preset: str = "default") -> Score:
    """Return 1 if the reply equals an acceptable text after normalisation, else 0.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text, or a list of acceptable ones.
        preset: ``default`` (Unicode form, case, articles, punctuation and the form of
            numbers don't count; ``3 million`` is ``3,000,000``), ``squad_v1`` or
            ``hotpotqa`` (the official scripts), ``teff`` (white space and case don't
            count), ``raw`` (everything counts).

    Raises:
        ConfigError: There is no such preset.
    """
    one_of("preset", preset, tuple(PRESETS), "exact")
    return best_of(EXACT, response, expected, partial(_compare, preset))


def _compare(name: str, text: str, reference: str) -> Score:
    preset = PRESETS[name]
    left, right = preset(text), preset(reference)
    is_equal = left == right or (name == "default" and is_same_answer(text, reference))
    reason = "" if is_equal else _difference(text, reference)
    ready = {"response": text, "expected": reference, "preset": name}
    ready |= {"normalised_response": left, "normalised_expected": right}
    return EXACT.scored(
        is_equal, reason, Details(ready, lambda: {"removed": removed(text, preset)})
    )


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

"""How near two texts are by their characters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.metrics._base import Declaration, one_of, scored_by
from pytest_llmeval.metrics._edit_distance import edit_distance
from pytest_llmeval.metrics._explain import labelled, texts_of
from pytest_llmeval.metrics._normalise import PRESETS, normaliser, removed
from pytest_llmeval.metrics._texts import best_of
from pytest_llmeval.types import Score

__all__ = ["LEVENSHTEIN", "explain", "levenshtein"]

LEVENSHTEIN: Final = Declaration(name="levenshtein")


@scored_by(LEVENSHTEIN)
def levenshtein(
    response: Any, expected: Any, *, preset: str | Sequence[str] = "raw"
) -> Score:
    """Return 1 less the edit distance, divided by the longer text's length.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text, or a list whose best one counts.
        preset: How texts are normalised before, as for `exact`; by default not at all.

    Raises:
        ConfigError: There is no such preset or step.
        MissingExtraError: A step needs what isn't installed.
    """
    if isinstance(preset, str):
        one_of("preset", preset, tuple(PRESETS), "levenshtein")
    return best_of(
        LEVENSHTEIN,
        response,
        expected,
        value=partial(_value, preset),
        details=partial(_details, preset),
    )


def _value(preset: str | Sequence[str], text: str, reference: str) -> float:
    normalise = normaliser(preset)
    left, right = normalise(text), normalise(reference)
    longest = max(len(left), len(right))
    if not longest:
        return 1.0
    distance = edit_distance(left, right)
    if distance is None:
        message = (
            f"the edit distance of texts of {len(left)} and {len(right)} characters "
            f"would take too long: f1 compares texts of this length"
        )
        raise UnscoredError(message, cause="suite")
    return 1 - distance / longest


def _details(preset: str | Sequence[str], text: str, reference: str) -> dict[str, Any]:
    normalise = normaliser(preset)
    left, right = normalise(text), normalise(reference)
    return {
        "preset": preset,
        "normalised_response": left,
        "normalised_expected": right,
        "removed": removed(text, normalise),
        "distance": edit_distance(left, right),
        "length": max(len(left), len(right)),
    }


def explain(score: Score) -> list[str]:
    """Return lines that show the texts and how many characters differ."""
    details = score.details
    distance = f"{details['distance']} of {details['length']} characters"
    return [*texts_of(score), *labelled("distance", distance)]

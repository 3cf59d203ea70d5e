"""Token F1: how many words two texts share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from pytest_llmeval.metrics._base import Declaration, one_of, scored_by
from pytest_llmeval.metrics._drop import drop_score
from pytest_llmeval.metrics._explain import labelled, texts_of, words_line
from pytest_llmeval.metrics._normalise import normaliser, removed
from pytest_llmeval.metrics._official import answerable
from pytest_llmeval.metrics._readings import is_same_answer
from pytest_llmeval.metrics._texts import best_of
from pytest_llmeval.metrics._token_f1 import precision_recall, value_of
from pytest_llmeval.types import Score

__all__ = ["F1", "explain", "f1"]

F1: Final = Declaration(name="f1")

_PRESETS: Final = ("default", "raw", "squad_v1", "squad_v2", "hotpotqa", "drop")


@scored_by(F1)
def f1(
    response: Any, expected: Any, *, preset: str | Sequence[str] = "default"
) -> Score:
    """Return the F1 of the words of the reply and of the expected text.

    Args:
        response: A Response or a text; for ``drop`` a list of spans too.
        expected: A case (its ``expected``), a text, or a list whose best one counts. For
            ``squad_v2`` an empty list is an unanswerable question, for ``drop`` a list
            is the spans of one answer, and of a list of lists the best one counts.
        preset: ``default`` (1 whenever `exact` is 1, two empty texts are equal, CJK is
            compared by character), ``raw`` (words as they stand), the official scripts
            ``squad_v1``, ``squad_v2``, ``hotpotqa`` and ``drop``, or a list of steps of
            normalisation: ``["squad_v1", "stem"]``.

    Raises:
        ConfigError: There is no such preset or step.
        MissingExtraError: A step needs what isn't installed.
    """
    if isinstance(preset, str):
        one_of("preset", preset, _PRESETS, "f1")
        if preset == "drop":
            return drop_score(F1, response, expected)
        if preset == "squad_v2":
            expected = answerable(expected)
    return best_of(
        F1,
        response,
        expected,
        value=value_of(preset),
        details=partial(_details, preset),
    )


def _details(preset: str | Sequence[str], text: str, reference: str) -> dict[str, Any]:
    normalise = normaliser(preset)
    left, right = normalise(text), normalise(reference)
    reply, expected = Counter(left.split()), Counter(right.split())
    precision, recall = precision_recall(preset, reply, expected)
    is_short_of = min(precision, recall) < 1
    if preset == "default" and is_short_of and is_same_answer(text, reference):
        precision = recall = 1.0
    return {
        "preset": preset,
        "normalised_response": left,
        "normalised_expected": right,
        "precision": precision,
        "recall": recall,
        "removed": removed(text, normalise),
        "missing": tuple((expected - reply).elements()),
        "extra": tuple((reply - expected).elements()),
    }


def explain(score: Score) -> list[str]:
    """Return lines that say which words are missing and which too many."""
    details = score.details
    lines = [
        *texts_of(score),
        *words_line("missing", details["missing"]),
        *words_line("extra", details["extra"]),
    ]
    if details["precision"] is not None:
        counts = f"{details['precision']:.2f}, recall {details['recall']:.2f}"
        lines += labelled("precision", counts)
    return lines

"""Token F1: how many words two texts share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from pytest_llmeval.metrics._base import (
    Declaration,
    Details,
    best_of,
    one_of,
    scored_by,
)
from pytest_llmeval.metrics._explain import labelled, texts_of, words_line
from pytest_llmeval.metrics._normalise import PRESETS, removed
from pytest_llmeval.metrics._readings import is_same_answer
from pytest_llmeval.types import Score

__all__ = ["F1", "Overlap", "explain", "f1", "token_f1"]

F1: Final = Declaration(name="f1")

_PRESETS: Final = ("default", "squad_v1", "hotpotqa")
#: HotpotQA gives nothing for a part of these words: right or wrong, nothing between.
_WHOLE_ANSWERS: Final = frozenset({"yes", "no", "noanswer"})
#: Up to this many words a list is searched faster than a dictionary is filled.
_SHORT: Final = 24


class Overlap(NamedTuple):
    """How far two texts share their words."""

    f1: float
    precision: float
    recall: float


_NOTHING: Final = Overlap(0.0, 0.0, 0.0)
_ALL: Final = Overlap(1.0, 1.0, 1.0)


@scored_by(F1)
def f1(response: Any, expected: Any, *, preset: str = "default") -> Score:
    """Return the F1 of the words of the reply and of the expected text.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text, or a list whose best one counts.
        preset: ``default`` (1 whenever `exact` is 1, two empty texts are equal, CJK is
            compared by character), ``squad_v1`` or ``hotpotqa``: the official scripts,
            in which two empty texts score 0.

    Raises:
        ConfigError: There is no such preset.
    """
    one_of("preset", preset, _PRESETS, "f1")
    return best_of(F1, response, expected, partial(_compare, preset))


def _compare(preset: str, text: str, reference: str) -> Score:
    normalise = PRESETS[preset]
    left, right = normalise(text), normalise(reference)
    overlap = _overlap(preset, left, right)
    if preset == "default" and overlap.f1 < 1 and is_same_answer(text, reference):
        overlap = _ALL
    ready = {
        "response": text,
        "expected": reference,
        "preset": preset,
        "normalised_response": left,
        "normalised_expected": right,
        "precision": overlap.precision,
        "recall": overlap.recall,
    }
    return F1.scored(overlap.f1, "", Details(ready, partial(_more, preset, ready)))


def _more(preset: str, ready: Mapping[str, Any]) -> dict[str, Any]:
    reply = ready["normalised_response"].split()
    expected = ready["normalised_expected"].split()
    return {
        "removed": removed(ready["response"], PRESETS[preset]),
        "missing": tuple((Counter(expected) - Counter(reply)).elements()),
        "extra": tuple((Counter(reply) - Counter(expected)).elements()),
    }


def token_f1(text: str, reference: str, *, preset: str = "default") -> float:
    """Return the bare value of `f1` for two texts, for many pairs at once."""
    normalise = PRESETS[preset]
    value = _overlap(preset, normalise(text), normalise(reference)).f1
    if preset == "default" and value < 1 and is_same_answer(text, reference):
        return 1.0
    return value


def _overlap(preset: str, left: str, right: str) -> Overlap:
    """Return the overlap of two normalised texts.

    Source: `f1_score` of the official HotpotQA and SQuAD v1.1 evaluation scripts.
    """
    if left == right:
        return _ALL if left or preset == "default" else _NOTHING
    if preset == "hotpotqa" and (left in _WHOLE_ANSWERS or right in _WHOLE_ANSWERS):
        return _NOTHING
    reply, expected = left.split(), right.split()
    shared = _shared(reply, expected)
    if not shared:
        return _NOTHING
    precision, recall = shared / len(reply), shared / len(expected)
    return Overlap(2 * precision * recall / (precision + recall), precision, recall)


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    """Return how many words two texts share, each as often as in both."""
    if len(left) > _SHORT or len(right) > _SHORT:
        return (Counter(left) & Counter(right)).total()
    rest = list(right)
    for word in left:
        if word in rest:
            rest.remove(word)
    return len(right) - len(rest)


def explain(score: Score) -> list[str]:
    """Return lines that say which words are missing and which too many."""
    details = score.details
    return [
        *texts_of(score),
        *words_line("missing", details["missing"]),
        *words_line("extra", details["extra"]),
        *labelled(
            "precision", f"{details['precision']:.2f}, recall {details['recall']:.2f}"
        ),
    ]

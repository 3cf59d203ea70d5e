"""The value of token F1 by each preset, for many pairs at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from pytest_llmeval.metrics._normalise import PRESETS, normaliser
from pytest_llmeval.metrics._official import official_words
from pytest_llmeval.metrics._readings import is_same_answer

__all__ = ["hotpot_overlap", "precision_recall", "token_f1", "value_of"]

#: HotpotQA gives nothing for a part of these words: right or wrong, nothing between.
_WHOLE_ANSWERS: Final = (["yes"], ["no"], ["noanswer"])
#: Presets in which two empty texts share nothing.
_EMPTY_IS_NOTHING: Final = ("squad_v1", "hotpotqa")
_ARTICLES: Final = frozenset({"a", "an", "the"})
#: Up to this many words a list is searched faster than a dictionary is filled.
_SHORT: Final = 24

Value = Callable[[str, str], float]


def token_f1(
    text: str, reference: str, *, preset: str | Sequence[str] = "default"
) -> float:
    """Return the bare value of `f1` for two texts, for many pairs at once.

    Source: `f1_score` of the official HotpotQA and SQuAD evaluation scripts.

    Args:
        text: The reply.
        reference: What is expected.
        preset: As for `f1`, but ``drop``.

    Raises:
        ConfigError: There is no such preset or step.
    """
    return value_of(preset)(text, reference)


def value_of(preset: str | Sequence[str]) -> Value:
    """Return the function that gives the F1 of a text and a reference."""
    if isinstance(preset, str) and preset in _VALUES:
        return _VALUES[preset]
    normalise = normaliser(preset)
    return lambda text, reference: _f1(
        normalise(text).split(), normalise(reference).split(), 1.0
    )


def _squad_v1(text: str, reference: str) -> float:
    return _f1(official_words(text), official_words(reference), 0.0)


def _squad_v2(text: str, reference: str) -> float:
    return _f1(official_words(text), official_words(reference), 1.0)


def _hotpotqa(text: str, reference: str) -> float:
    reply, expected = official_words(text), official_words(reference)
    if reply != expected and (reply in _WHOLE_ANSWERS or expected in _WHOLE_ANSWERS):
        return 0.0
    return _f1(reply, expected, 0.0)


def _default(text: str, reference: str) -> float:
    value = _f1(_default_words(text), _default_words(reference), 1.0)
    return 1.0 if value < 1 and is_same_answer(text, reference) else value


def _default_words(text: str) -> list[str]:
    words = text.split()
    if not (text.isascii() and "".join(words).isalpha()):
        return PRESETS["default"](text).split()
    # Of plain letters all steps but these two leave everything as it is.
    words = text.lower().split()
    return [word for word in words if word not in _ARTICLES] or words


def _raw(text: str, reference: str) -> float:
    return _f1(text.split(), reference.split(), 1.0)


_VALUES: Final[dict[str, Value]] = {
    "default": _default,
    "raw": _raw,
    "squad_v1": _squad_v1,
    "squad_v2": _squad_v2,
    "hotpotqa": _hotpotqa,
}


def _f1(reply: list[str], expected: list[str], of_nothing: float) -> float:
    """Return the F1 of two lists of words, `of_nothing` if both are empty."""
    if reply == expected:
        return 1.0 if reply else of_nothing
    shared = _shared(reply, expected)
    if not shared:
        return 0.0
    precision, recall = shared / len(reply), shared / len(expected)
    return 2 * precision * recall / (precision + recall)


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    """Return how many words two texts share, each as often as in both."""
    if len(left) > _SHORT or len(right) > _SHORT:
        return (Counter(left) & Counter(right)).total()
    rest = list(right)
    for word in left:
        if word in rest:
            rest.remove(word)
    return len(right) - len(rest)


def precision_recall(
    preset: str | Sequence[str], reply: Counter[str], expected: Counter[str]
) -> tuple[float, float]:
    """Return precision and recall of the words of two normalised texts."""
    shared = (reply & expected).total()
    is_whole = any(list(words) in _WHOLE_ANSWERS for words in (reply, expected))
    if preset == "hotpotqa" and is_whole and reply != expected:
        return 0.0, 0.0
    if not shared:
        both_empty = not reply and not expected and preset not in _EMPTY_IS_NOTHING
        return (1.0, 1.0) if both_empty else (0.0, 0.0)
    return shared / reply.total(), shared / expected.total()


def hotpot_overlap(text: str, reference: str) -> tuple[float, float, float]:
    """Return HotpotQA's F1, precision and recall of two answers."""
    reply, expected = Counter(official_words(text)), Counter(official_words(reference))
    return _hotpotqa(text, reference), *precision_recall("hotpotqa", reply, expected)

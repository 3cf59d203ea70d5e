"""DROP's metrics: lists of spans aligned one to one, and numbers that must match.

Source: drop_eval.py of allennlp-reading-comprehension (`get_metrics`), reproduced to
the last bit, its rounding to two decimals included.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from string import punctuation
from typing import Any, Final, NamedTuple

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.metrics._base import Declaration, Details
from pytest_llmeval.metrics._drop_align import best_pairs
from pytest_llmeval.metrics._texts import named, references_of, text_of
from pytest_llmeval.types import Case, Score, as_text

__all__ = ["Drop", "drop_of", "drop_score"]

_PUNCTUATION: Final = str.maketrans("", "", punctuation)
_ARTICLE: Final = re.compile(r"\b(?:a|an|the)\b")
_BETWEEN_WORDS: Final = re.compile(" |-")

Spans = tuple[str, ...]


class Drop(NamedTuple):
    """DROP's two values."""

    em: float
    f1: float


def drop_of(reply: Sequence[str], expected: Sequence[str]) -> Drop:
    """Return exact match and F1 of two lists of spans.

    Args:
        reply: The spans of the reply; one text is a list of one.
        expected: Those of one annotation.
    """
    left, right = [_normalised(s) for s in reply], [_normalised(s) for s in expected]
    em = float(set(left) == set(right) and len(left) == len(right))
    size = max(len(left), len(right))
    if not size:
        return Drop(em, em)
    bags = [set(span.split()) for span in left], [set(span.split()) for span in right]
    values = [[_bag_f1(r, e) for r in bags[0]] for e in bags[1]]
    aligned = [0.0] * size
    for row, column in best_pairs(values):
        aligned[row] = values[row][column]
    # numpy's rounding, which is not Python's: half of a multiplied value to even.
    return Drop(em, round(_sum(aligned) / size * 100) / 100)


def _sum(values: Sequence[float]) -> float:
    """Return the sum in numpy's order, which decides about the last bit.

    Up to seven in a row, more in eight lanes.
    """
    if len(values) < 8:
        return sum(values)
    whole = len(values) // 8 * 8
    a, b, c, d, e, f, g, h = (sum(values[lane:whole:8]) for lane in range(8))
    return sum(values[whole:], ((a + b) + (c + d)) + ((e + f) + (g + h)))


def _bag_f1(reply: set[str], expected: set[str]) -> float:
    numbers = {word for word in expected if _is_number(word)}
    if numbers and not numbers & reply:
        return 0.0
    shared = len(expected & reply)
    precision = shared / len(reply) if reply else 1.0
    recall = shared / len(expected) if expected else 1.0
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def _normalised(text: str) -> str:
    tokens = (_token(token) for token in _BETWEEN_WORDS.split(text))
    return " ".join(token for token in tokens if token)


def _token(token: str) -> str:
    token = token.lower()
    if not _is_number(token):
        token = token.translate(_PUNCTUATION)
    if _is_number(token):
        token = str(float(token))
    return " ".join(_ARTICLE.sub(" ", token).split())


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True


def drop_score(declaration: Declaration, response: Any, expected: Any) -> Score:
    """Return the score of a reply by DROP's F1, or by its exact match if binary.

    Args:
        declaration: The metric.
        response: A Response, a text (with ``|`` between spans where several are
            expected) or a list of spans.
        expected: A case, a text, a list of spans, a list of such lists of which the best
            counts, or DROP's own object with ``number``, ``spans`` and ``date``.

    Raises:
        UnscoredError: Nothing is expected, or there is no reply.
    """
    annotations = _annotations(expected)
    text, spans = _reply(response, annotations)
    values = [drop_of(spans, annotation) for annotation in annotations]
    numbers = [value.em if declaration.binary else value.f1 for value in values]
    best = max(range(len(numbers)), key=numbers.__getitem__)
    found = annotations[best]
    ready: dict[str, Any] = {
        "response": text,
        "expected": " | ".join(found),
        "preset": "drop",
    }
    if len(annotations) > 1:
        ready |= {"reference_index": best, "references": annotations}
    reason = "" if numbers[best] == 1 else "the reply has other spans"
    details = Details(ready, partial(_details, spans, found))
    return declaration.scored(numbers[best], reason, details)


def _details(reply: Spans, expected: Spans) -> dict[str, Any]:
    left, right = [_normalised(s) for s in reply], [_normalised(s) for s in expected]
    words = [word for span in left for word in span.split()]
    right_words = [word for span in right for word in span.split()]
    return {
        "normalised_response": " | ".join(left),
        "normalised_expected": " | ".join(right),
        "spans": reply,
        # One reply has several: of each pair of spans one.
        "precision": None,
        "recall": None,
        "removed": (),
        "missing": tuple((Counter(right_words) - Counter(words)).elements()),
        "extra": tuple((Counter(words) - Counter(right_words)).elements()),
    }


def _reply(response: Any, annotations: Sequence[Spans]) -> tuple[str, Spans]:
    if isinstance(response, list | tuple):
        spans = tuple(as_text(span) for span in response)
        return " | ".join(spans), spans
    text = text_of(response, [" ".join(annotation) for annotation in annotations])
    if any(len(annotation) > 1 for annotation in annotations):
        return text, tuple(part.strip() for part in text.split("|"))
    return text, (text,)


def _annotations(expected: Any) -> list[Spans]:
    value = expected.expected if isinstance(expected, Case) else expected
    if isinstance(value, Mapping):
        return [_own_form(value, expected)]
    is_list = isinstance(value, list | tuple)
    if is_list and any(isinstance(item, list | tuple | Mapping) for item in value):
        return [_annotation(item, expected) for item in value]
    return [references_of(expected) if value != [] else ()]


def _annotation(value: Any, expected: Any) -> Spans:
    if isinstance(value, Mapping):
        return _own_form(value, expected)
    return references_of(value) if value else ()


def _own_form(value: Mapping[str, Any], expected: Any) -> Spans:
    """Return the spans of DROP's own form of an answer.

    Source: `answer_json_to_strings` of drop_eval.py.
    """
    if value.get("number"):
        return (as_text(value["number"]),)
    if value.get("spans"):
        return tuple(as_text(span) for span in value["spans"])
    date = value.get("date") or {}
    parts = [as_text(date[part]) for part in ("day", "month", "year") if date.get(part)]
    if parts:
        return (" ".join(parts),)
    where = f"{named(expected)}: " if isinstance(expected, Case) else ""
    keys = ", ".join(map(str, value)) or "nothing"
    message = f"{where}expected has neither number nor spans nor date; it has: {keys}"
    raise UnscoredError(message, cause="data")

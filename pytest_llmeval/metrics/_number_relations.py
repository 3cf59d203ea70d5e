"""How the numbers of a text stand to each other: sums, ranges, lists, results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from pytest_llmeval.metrics._number_tokens import Token

__all__ = [
    "SENTENCE_END",
    "after_equals",
    "is_another",
    "is_conclusion",
    "operates",
    "without_asides",
]

SENTENCE_END: Final = re.compile(r"[.!?;](?=\s|$)|[。！？；]|\n")
_ANOTHER: Final = re.compile(
    r"\s*(?:[^\W\d]+\s+){0,3}?(?:and|or|to|und|oder|y|o|et|ou|と|和|或)\s*[$€£¥₹]?"
    r"|\s*[,/]\s*[$€£¥₹]?|\s*(?:[^\W\d]+\s+)?-\s*[$€£¥₹]?",
    re.IGNORECASE,
)
_OPERATOR: Final = re.compile(
    r"[ \t]*[$€£¥₹]?[ \t]*(?:[-+*/x×÷^±]|\+-|\\pm|\b(?:minus|plus|times|to)\b)[ \t]*[$€£¥₹]?",
    re.IGNORECASE,
)
_EQUALS: Final = re.compile(r"=\s*[-+]?\s*(?:[A-Z]{0,3}[$€£¥₹])?\s*$")
_CONCLUSION: Final = re.compile(
    r"\b(?:so|thus|therefore|hence|then|which|meaning|means|gives|leaves|total)\b",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


def is_another(plain: str, first: Token, second: Token) -> bool:
    """Return whether two numbers are listed beside each other: 5 or 6."""
    between = _ANOTHER.fullmatch(plain, first.end, second.start)
    return between is not None and first.value != second.value


def without_asides(plain: str, found: Sequence[Token]) -> Iterator[Token]:
    """Yield the numbers that don't stand in brackets."""
    spans = [match.span() for match in _ASIDE.finditer(plain)]
    position = 0
    for token in found:
        while position < len(spans) and spans[position][1] <= token.start:
            position += 1
        if position == len(spans) or spans[position][0] > token.start:
            yield token


def after_equals(plain: str, found: Sequence[Token]) -> Token | None:
    """Return the last number that stands after an equals sign."""
    for token in reversed(found):
        if _EQUALS.search(plain, max(token.start - 12, 0), token.start):
            return token
    return None


def is_conclusion(plain: str, equal: Token, last: Token) -> bool:
    """Return whether no new thought stands between ``= x`` and the last number."""
    if equal is last:
        return True
    spans = (SENTENCE_END, _CONCLUSION)
    return not any(p.search(plain, equal.end, last.start) for p in spans)


def operates(plain: str, pair: Sequence[Token]) -> bool:
    """Return whether two numbers are the sides of a sum or range."""
    for first, second in pairwise(pair):
        between = plain[first.end : second.start]
        if _OPERATOR.fullmatch(between):
            is_from = plain[max(first.start - 8, 0) : first.start].lower().find("from ")
            return not ("to" in between.lower() and is_from >= 0)
        start = plain[max(first.start - 12, 0) : first.start].lower()
        if "between" in start and between.strip().lower() in {"and", "and $"}:
            return True
    return False

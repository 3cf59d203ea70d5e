"""Which number a text gives as its answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from pytest_llmeval.metrics._number_relations import (
    SENTENCE_END,
    after_equals,
    is_another,
    is_conclusion,
    operates,
    without_asides,
)
from pytest_llmeval.metrics._number_tokens import Token, plain_text, tokens
from pytest_llmeval.metrics._number_words import last_number_word

__all__ = ["Reading", "read_number"]

_STRONG: Final = re.compile(r"####\s*|\\boxed\s*\{")
_MARKER: Final = re.compile(
    r"\b(?:(?:final|correct|right|my)\s+)?(?:answer|result)\s*"
    r"(?:is\b|would\s+be\b|will\s+be\b|comes\s+to\b|[:=]|-(?=\s))(?!\s+(?:not|n't)\b)"
    r"|(?<![A-Za-z0-9])A\s?:"
    r"|\b(?:la respuesta es|la réponse est|die antwort (?:ist|lautet)|antwort:|ответ:?)"
    r"|答案(?:是|为|為)?|答えは?|정답은?",
    re.IGNORECASE,
)
_DECORATION: Final = re.compile(r"[\s:*_`\"'=]*")
_NO_NEW_THOUGHT: Final = re.compile(
    r"[^\w\n]*(?:(?:approximately|approx|about|around|roughly|only|just|exactly|nearly|"
    r"equal to|equals|minus|negative|US|USD|EUR|[A-Za-z]\s*=)[^\w\n]*)*",
    re.IGNORECASE,
)
#: Characters read: an answer stands at the end, and a reply may be hostile.
_LONGEST: Final = 20_000
#: Characters shown around the number that was read.
_AROUND: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The number of a text, or why it gives none."""

    value: Decimal | None
    is_percent: bool = False
    written: str = ""
    rule: str = ""
    """Where it was found: ``after 'the answer is'``, ``the last number``."""
    around: str = ""
    """The text around it."""
    problem: str = ""
    """Why there is no value."""


def read_number(text: str) -> Reading:
    r"""Return the number a text gives as its answer.

    That of the last ``####`` or ``\boxed{}``, else what follows the last ``the answer
    is``, ``A:`` and the like, else what follows the last ``=`` of the last sentence,
    else the last number. Two numbers at the marked place, ranges, dates, sums without
    their result and ordinals are no number. Never evaluates anything.

    Args:
        text: The reply, or an expected text; of a very long one the end is read.
    """
    plain = plain_text(_end_of(text))
    return _marked(plain) or _unmarked(plain)


def _end_of(text: str) -> str:
    text = text.strip()
    if len(text) <= _LONGEST:
        return text
    end = text[-_LONGEST:]
    return end[end.find(" ") + 1 :]  # not in the middle of a number


def _marked(plain: str) -> Reading | None:
    """Return the number after the last marker that has one."""
    for pattern in (_STRONG, _MARKER):
        ends = len(plain)
        for match in reversed(list(pattern.finditer(plain))):
            span = _span(plain, match, ends)
            ends = match.start()
            if span is None:
                continue
            name = match.group().strip().rstrip("{")
            if (reading := _in_span(plain, *span, f"after {name!r}")) is not None:
                return reading
    return None


def _span(plain: str, match: re.Match[str], limit: int) -> tuple[int, int] | None:
    """Return where the text a marker belongs to starts and ends."""
    if match.group().endswith("{"):
        return match.end(), _closing(plain, match.end(), limit)
    skipped = _DECORATION.match(plain, match.end(), limit)
    start = skipped.end() if skipped else match.end()
    end = SENTENCE_END.search(plain, start, limit)
    stop = end.start() if end else limit
    return (start, stop) if start < stop else None


def _closing(plain: str, start: int, limit: int) -> int:
    depth = 1
    for position in range(start, limit):
        depth += {"{": 1, "}": -1}.get(plain[position], 0)
        if not depth:
            return position
    return limit


def _in_span(plain: str, start: int, end: int, rule: str) -> Reading | None:
    # Digits further on are seen, so that a number is never cut in two.
    found = [_shifted(token, start) for token in tokens(plain[start:end])]
    if not found:
        return _in_words(plain[start:end], rule)
    if (equal := after_equals(plain, found)) is not None:
        return _reading(plain, equal, rule)
    lead = _NO_NEW_THOUGHT.match(plain, start)
    if lead is None or lead.end() < found[0].start:
        return _last(plain, found, rule)
    if operates(plain, found[:2]):
        return _nothing(plain, found[0], "is part of a sum or range without a result")
    if len(found) > 1 and is_another(plain, found[0], found[1]):
        return _nothing(plain, found[0], "is one of several numbers")
    return _reading(plain, found[0], rule)


def _shifted(token: Token, by: int) -> Token:
    return Token(
        start=token.start + by,
        end=token.end + by,
        written=token.written,
        value=token.value,
        is_percent=token.is_percent,
    )


def _unmarked(plain: str) -> Reading:
    every = list(tokens(plain))
    if not every:
        return _in_words(plain, "the number word") or Reading(
            value=None, problem="there is none"
        )
    found = list(without_asides(plain, every)) or every
    last = found[-1]
    equal = after_equals(plain, found)
    if equal is not None and is_conclusion(plain, equal, last):
        return _reading(plain, equal, "after '='")
    return _last(plain, found, "the last number")


def _last(plain: str, found: Sequence[Token], rule: str) -> Reading:
    if operates(plain, found[-2:]):
        return _nothing(plain, found[-1], "is part of a sum or range without a result")
    return _reading(plain, found[-1], rule)


def _reading(plain: str, token: Token, rule: str) -> Reading:
    if token.value is None:
        return _nothing(plain, token, "can't be read as one number")
    return Reading(
        value=token.value,
        is_percent=token.is_percent,
        written=token.written,
        rule=rule,
        around=_around(plain, token),
    )


def _nothing(plain: str, token: Token, why: str) -> Reading:
    return Reading(
        value=None,
        written=token.written,
        around=_around(plain, token),
        problem=f"{token.written[:40]!r} {why}",
    )


def _around(plain: str, token: Token) -> str:
    start, end = max(token.start - _AROUND, 0), token.end + _AROUND
    before, after = "… " if start else "", " …" if end < len(plain) else ""
    return f"{before}{plain[start:end].strip()}{after}"


def _in_words(text: str, rule: str) -> Reading | None:
    value = last_number_word(text)
    if value is None:
        return None
    return Reading(value=value, written=f"{value:f}", rule=f"{rule}, in words")

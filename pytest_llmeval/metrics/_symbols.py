"""Which symbols of a text mean something, and which are mere punctuation."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import category

__all__ = ["joined_symbols", "meaningful_symbols"]

_SYMBOL: Final = re.compile(r"[^\w\s]|_")
_MARKS: Final = r"""[.,:;/!?()\[\]{}"'&*@^|\\_$%=\-]"""
#: Marks that only have marks around them mean nothing, however many there are (a
#: relation looks at three of them); nor does a relation before another. To ask about each one alone takes a second for a megabyte.
_RULE: Final = re.compile(
    f"(?<={_MARKS}{{3}}){_MARKS}+(?={_MARKS}{{2}})|[<>~]+(?=[<>~])"
)


def meaningful_symbols(text: str) -> str:
    """Return `text` with punctuation replaced by spaces, what has a meaning kept.

    Kept are signs, decimal points, ``:`` and ``/`` within numbers, ``%`` after them,
    currency signs but the dollar's, ``<``, ``>`` and the like before them; ``+``,
    ``#`` and ``-`` at the end of a name (C++, C#, AB-); emoji.
    """
    return _SYMBOL.sub(_kept_or_space, _RULE.sub(_blank, text))


def joined_symbols(text: str) -> str:
    """Return the same, but words that punctuation held apart run together (JayZ)."""
    return _SYMBOL.sub(_kept_or_joined, _RULE.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _kept_or_space(match: re.Match[str]) -> str:
    kept = _kept(match)
    return " " if kept is None else kept


def _kept_or_joined(match: re.Match[str]) -> str:
    kept = _kept(match)
    if kept is not None:
        return kept
    before, after = _around(match)
    is_within = before.isalnum() and after.isalnum()
    return "" if is_within and not (before.isdigit() and after.isdigit()) else " "


def _around(match: re.Match[str]) -> tuple[str, str]:
    text, start, end = match.string, match.start(), match.end()
    return text[start - 1 : start] if start else "", text[end : end + 1]


def _kept(match: re.Match[str]) -> str | None:
    """Return what stands for a symbol that means something, None for another."""
    symbol = match.group()
    if symbol > "\x7f" and symbol not in "≤≥≠±≈":
        return _beyond_ascii(symbol)
    before, after = _around(match)
    if symbol in ".:/":
        return _within_number(match, symbol, before, after)
    if symbol in "-+#":
        return _sign(match, symbol, before, after)
    if symbol in "<>≤≥≠±≈~":
        rest = match.string[match.end() : match.end() + 3].lstrip(" =")
        return f" {symbol} " if rest[:1].isdigit() or rest[:1] == "-" else None
    if symbol == "%":
        return symbol if before.isdigit() else None
    return None


def _beyond_ascii(symbol: str) -> str | None:
    kind = category(symbol)
    if kind in {"So", "Sc"}:
        return "" if symbol == "°" else f" {symbol} "
    return None if kind[0] in "PS" else symbol


def _within_number(
    match: re.Match[str], symbol: str, before: str, after: str
) -> str | None:
    if before.isdigit() and after.isdigit():
        return symbol
    if symbol == "." and before.isalpha() and _letters_before(match) == 1:
        return ""  # an acronym's: U.S., J.R.R.
    return None


def _sign(match: re.Match[str], symbol: str, before: str, after: str) -> str | None:
    if symbol == "-":
        if after.isdigit() and not (before.isalnum() or before in {")", "]", "%"}):
            return symbol
        is_mark = not after.isalnum() and 0 < _letters_before(match) <= 2
        return symbol if is_mark else None
    ends_name = before.isalnum() or (before == symbol and not after.isalnum())
    if ends_name and not after.isalnum():
        return symbol
    return " + " if symbol == "+" and before and after else None


def _letters_before(match: re.Match[str]) -> int:
    """Return how many letters the word has that ends at the symbol, at most 3."""
    text, end = match.string, match.start()
    count = 0
    while count < 3 and end > count and text[end - count - 1].isalpha():
        count += 1
    is_whole = end == count or not text[end - count - 1].isalnum()
    return count if is_whole else 3

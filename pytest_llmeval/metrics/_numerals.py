"""Numbers as they are written in text, in one plain form."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final
from unicodedata import decimal

__all__ = ["ascii_digits", "plain_numbers"]

_ARABIC_MARKS: Final = str.maketrans("٫٬", ".,")
_DIGIT: Final = re.compile(r"\d")
_COMMA_GROUPS: Final = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}(?!,?\d)")
_DOT_GROUPS: Final = re.compile(
    r"(?<![\d.,])[1-9]\d{0,2}"
    r"(?:(?:\.\d{3}){2,}(?:,\d+)?|(?:\.\d{3})+,\d+)(?![.,]?\d)"
)
_SPACE_GROUPS: Final = re.compile(
    r"(?<![\d.,'])(?<!\d )[1-9]\d{0,2}(?:([ '_])\d{3})(?:\1\d{3})*(?![ ']?\d)"
)
_DECIMAL_COMMA: Final = re.compile(r"(?<![\d.,])(\d+),(\d{1,2})(?![.,]?\d)")
_EXPONENT: Final = re.compile(
    r"(?<![\w.])\d{1,30}(?:\.\d{1,30})?e[+-]?\d{1,2}(?![\w.]*\d)", re.IGNORECASE
)
_DECIMAL: Final = re.compile(r"(?<![\d.])(\d++)\.(\d++)(?!\.\d)")
_BARE_POINT: Final = re.compile(r"(?<![\w.])\.(?=\d)")
_PLUS: Final = re.compile(r"(?<![\w)\]+])\+(?=[$€£¥₹]?\d)")
_MINUS_ZERO: Final = re.compile(r"(?<![\w)\]-])-(?=0(?![\d.:/]))")
_MINUS_BEFORE_CURRENCY: Final = re.compile(r"-([$€£¥₹]) ?(?=\d)")
_PERCENT: Final = re.compile(r"(?<=\d) ?(?:%|percent\b|per cent\b|pct\b)")
_FRACTION: Final = re.compile(r"(?<=\d) ?/ ?(?=\d)")
_CURRENCY_AFTER: Final = re.compile(r"(?<![\d.])(\d[\d.]*+) ?([€£¥₹])")


def ascii_digits(text: str) -> str:
    """Return `text` with the decimal digits of every script as 0 to 9."""
    if text.isascii():
        return text
    text = text.translate(_ARABIC_MARKS)
    return _DIGIT.sub(lambda match: str(decimal(match.group())), text)


def plain_numbers(text: str) -> str:
    """Return `text` with its numbers written plainly: 1,000.00 and +1e3 as 1000.

    A comma before exactly three digits groups thousands, before one or two digits it
    is a decimal comma; ``2.50`` and ``2.5`` are the same number.
    """
    if _DIGIT.search(text) is None:
        return text
    text = _without_groups(ascii_digits(text))
    text = _FRACTION.sub("/", _BARE_POINT.sub("0.", text))
    text = _EXPONENT.sub(_expanded, text)
    if "." in text:
        text = _DECIMAL.sub(_without_zeros, text)
    text = _MINUS_BEFORE_CURRENCY.sub(r"\1-", text)
    text = _MINUS_ZERO.sub("", _PLUS.sub("", text))
    return _CURRENCY_AFTER.sub(r"\2\1", _PERCENT.sub("%", text))


def _without_groups(text: str) -> str:
    text = _DOT_GROUPS.sub(_european, text)
    text = _COMMA_GROUPS.sub(lambda match: match.group().replace(",", ""), text)
    text = _SPACE_GROUPS.sub(lambda match: re.sub("[ '_]", "", match.group()), text)
    return _DECIMAL_COMMA.sub(r"\1.\2", text)


def _european(match: re.Match[str]) -> str:
    return match.group().replace(".", "").replace(",", ".")


def _expanded(match: re.Match[str]) -> str:
    return f"{Decimal(match.group()):f}"


def _without_zeros(match: re.Match[str]) -> str:
    whole, fraction = match.groups()
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else str(whole)

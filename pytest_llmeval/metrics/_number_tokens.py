"""Numbers in running text: where they stand and what they are worth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from pytest_llmeval.metrics._numerals import ascii_digits
from pytest_llmeval.metrics._steps import UNSPACED, spelling, visible

__all__ = ["Token", "plain_text", "tokens"]

#: Longest number read, in characters; nobody's answer is longer, and some are hostile.
_LONGEST: Final = 400
_CURRENCY: Final = "$€£¥₹₩₽"
_NUMBER: Final = re.compile(
    rf"""
    (?<![^\W_{UNSPACED}\uac00-\ud7af]) (?<![0-9][.,:/]) (?<!\^) (?<!\^-)
    (?: (?P<whole>[0-9]{{1,3}})[ ](?=[0-9]{{1,3}}/[0-9]) )?  # 1 1/2
    (?P<digits>
        [0-9]{{1,3}}(?:[ ][0-9]{{3}})+(?![0-9]|[ ][0-9])(?:[.,][0-9]+)?+
      | [0-9]++(?:[.,:'_][0-9]++)*+
      | (?<![0-9])\.[0-9]++
    )
    (?: (?:[eE]|[ ]?[*x×][ ]?10\^) (?P<exponent>[-+]?[0-9]++)(?![^\W_]) )?+
    (?P<power>\^-?[0-9]+)?+
    (?P<over>(?:[ ]?/[ ]?[0-9][0-9.,]*)+(?<![.,]))?
    (?P<ordinal>(?:st|nd|rd|th)\b)?+
    (?: [ ]?(?P<percent>%|percent\b|per[ ]cent\b)
      | [ ](?P<scale>thousand|million|billion|trillion)\b
      | (?P<short>[kKM]|bn|B)\b )?+
    """,
    re.VERBOSE,
)
_SCALES: Final = {
    "thousand": 3, "k": 3, "K": 3, "million": 6, "M": 6,
    "billion": 9, "bn": 9, "B": 9, "trillion": 12,
}  # fmt: skip
_GROUPED: Final = re.compile(
    r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|[1-9]\d?(?:,\d{2})*,\d{3}(?:\.\d+)?"
    r"|[1-9]\d{0,2}(?:'\d{3})+(?:\.\d+)?|[1-9]\d{0,2}(?:_\d{3})+(?:\.\d+)?"
    r"|[1-9]\d{0,2}(?: \d{3})+(?:\.\d+)?"
)
_EUROPEAN: Final = re.compile(
    r"[1-9]\d{0,2}(?:\.\d{3}){2,}(?:,\d+)?|[1-9]\d{0,2}(?:\.\d{3})+,\d+"
    r"|[1-9]\d{0,2}(?: \d{3})+,\d+|\d+,\d"
)
_SIGN: Final = re.compile(
    rf"(-)( ?)(?:[A-Z]{{0,3}}[{_CURRENCY}] ?)?$|[{_CURRENCY}](-)()$"
)
_NEGATIVE_WORD: Final = re.compile(r"\b(?:minus|negative) $", re.IGNORECASE)
_LABEL: Final = re.compile(
    r"\b(?:step|section|figure|fig|table|chapter|page|question|equation|line|part|"
    r"note|version|option|example|problem|exercise|appendix)s? $",
    re.IGNORECASE,
)
#: What makes a number a part of an algebraic expression, which is none itself.
_ALGEBRA_BEFORE: Final = re.compile(
    r"(?:\\sqrt\s*(?:\[\d\])?\s*\{?|√\s?|(?<![A-Za-z])[A-Za-z][+*/])$"
)
_ALGEBRA_AFTER: Final = re.compile(
    r"[xX][0-9]|\s*(?:\\sqrt|√|\\pi|π)|[-+*][A-Za-z](?![A-Za-z])"
)
_LATEX: Final = (
    (re.compile(r"\\[dt]?frac\s*\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}"), r" \1/\2"),
    (re.compile(r"\\[dt]?frac\s*(\d)\s*(\d)"), r" \1/\2"),
    (re.compile(r"\\(?:text|mathrm|textbf|mathbf)\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\{,\}|\\[,!]"), lambda m: "," if m.group() == "{,}" else ""),
    (re.compile(r"\^\s*\{?\s*\\circ\s*\}?|°"), " "),
    (re.compile(r"\\times|\\cdot|·"), "*"),
    (re.compile(r"\^\{(-?\d+)\}"), r"^\1"),
    (re.compile(r"\\([%$#&])"), r"\1"),
    (re.compile(r"\b(approx|ca|approximately|No|Nr)\. ?"), r"\1 "),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A number in a text."""

    start: int
    end: int
    written: str
    value: Decimal | None
    """None: it looks like a number and can't be read as one (12:30, 1,2345)."""
    is_percent: bool = False


def plain_text(text: str) -> str:
    """Return `text` with one form of digits, dashes, spaces, and LaTeX undone."""
    text = ascii_digits(spelling(visible(text)))
    if "\\" in text or "^" in text or "°" in text or "." in text or "·" in text:
        for pattern, replacement in _LATEX:
            text = pattern.sub(replacement, text)
    return text


def tokens(text: str) -> Iterator[Token]:
    """Yield the numbers of a plain text; ordinals and ``step 2`` are none."""
    for match in _NUMBER.finditer(text):
        before = text[max(match.start() - 16, 0) : match.start()]
        if match["ordinal"] or _LABEL.search(before) or _is_list_number(match):
            continue
        negative = _NEGATIVE_WORD.search(before) is not None or _has_minus(match)
        value = _value(match, before)
        if value is not None and negative:
            value = -value
        yield Token(
            start=match.start(),
            end=match.end(),
            written=("-" if negative else "") + match.group().strip(),
            value=value,
            is_percent=match["percent"] is not None,
        )


def _is_list_number(match: re.Match[str]) -> bool:
    """Return whether it numbers a line of a list: ``2. Then``, ``2) Then``."""
    text, start, end = match.string, match.start(), match.end()
    is_first = start == 0 or text[start - 1] == "\n"
    following = text[end : end + 3]
    return (
        is_first and following[:1] in {".", ")"} and following[1:2] == " "
        and following[2:3].isalpha()
    )  # fmt: skip


def _has_minus(match: re.Match[str]) -> bool:
    text, start = match.string, match.start()
    offset = max(start - 8, 0)
    sign = _SIGN.search(text, offset, start)
    if sign is None:
        return False
    place = sign.start(1) if sign[1] else sign.start(3)
    before = text[:place][-1:] if place else ""
    if before.isalnum() or (before and before in ")]%-"):
        return False
    if not sign[2]:
        return True
    # With a space after it, it is a sign only where nothing can be subtracted from and
    # no list begins: at the start of the text, after =, : or (.
    lead = text[max(place - 3, 0) : place].rstrip(" ")
    return (not lead and place < 3) or lead[-1:] in {"=", ":", "("}


def _value(match: re.Match[str], before: str) -> Decimal | None:
    value = None
    if (
        len(match.group()) <= _LONGEST
        and _is_plain_power(match)
        and not (
            _ALGEBRA_BEFORE.search(before)
            or _ALGEBRA_AFTER.match(match.string, match.end())
        )
    ):
        value = _digits_value(match["digits"])
    if value is None:
        return None
    if match["power"]:
        value = Decimal(10) ** int(match["power"][1:])
    if match["exponent"]:
        if len(match["exponent"]) > 5:
            return None
        value = value.scaleb(int(match["exponent"]))
    if match["over"]:
        value = _quotient(value, match["over"])
    if value is not None and match["whole"]:
        value += Decimal(match["whole"])
    scale = match["scale"] or (match["short"] if match["short"] == "bn" else None)
    if match["short"] and before.rstrip()[-1:] in _CURRENCY and before.strip():
        scale = match["short"]
    return value.scaleb(_SCALES[scale]) if scale and value is not None else value


def _is_plain_power(match: re.Match[str]) -> bool:
    """Return whether there is no power, or a small one of ten."""
    power = match["power"]
    return power is None or (match["digits"] == "10" and len(power) <= 4)


def _digits_value(digits: str) -> Decimal | None:
    if digits.isdigit() or re.fullmatch(r"\d*\.\d+", digits):
        return Decimal(digits)
    if _GROUPED.fullmatch(digits):
        return Decimal(re.sub("[,'_ ]", "", digits))
    if _EUROPEAN.fullmatch(digits):
        return Decimal(re.sub("[. ]", "", digits).replace(",", "."))
    return None


def _quotient(value: Decimal, over: str) -> Decimal | None:
    parts = [part.strip() for part in over.split("/")[1:]]
    if len(parts) != 1:  # 5/6/2024
        return None
    divisor = _digits_value(parts[0])
    return value / divisor if divisor else None

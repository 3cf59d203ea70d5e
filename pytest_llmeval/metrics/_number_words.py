"""English number words, read as numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

__all__ = ["NUMBER_WORDS", "last_number_word", "with_digits"]

_ONES: Final = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"),
    *("seventeen", "eighteen", "nineteen"),
]
_TENS: Final = [
    *("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"),
]
_SMALL: Final = {word: value for value, word in enumerate(_ONES)} | {
    word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)
}
_SCALES: Final = {
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9,
    "twelfth": 12, "hundredth": 100, "thousandth": 1000,
    **{f"{w}th": v for w, v in _SMALL.items() if v in {4, 6, 7, 10, 11} or 12 < v < 20},
    **{f"{w[:-1]}ieth": v for w, v in _SMALL.items() if v >= 20},
}  # fmt: skip
#: Words that say a number on their own.
_NUMBER_WORDS: Final = frozenset(_SMALL) | {"hundred"} | frozenset(_SCALES)
#: All words that numbers are written with.
NUMBER_WORDS: Final = _NUMBER_WORDS | frozenset(_ORDINALS)
_WORD: Final = re.compile(r"[^\W\d_]+|[0-9.]+")
_PART: Final = re.compile(r"half|halves|thirds|quarters?|fourths|\w+ths")


def with_digits(words: Sequence[str]) -> list[str]:
    """Return lower-case words with their number words as digits.

    ``one hundred and five`` is 105, ``3 million`` 3000000, ``twenty first`` 21st.
    """
    return list(_rewritten(words))


def _rewritten(words: Sequence[str]) -> Iterator[str]:
    position = 0
    while position < len(words):
        value, length = _number_at(words, position)
        position += length
        following = words[position] if position < len(words) else ""
        if following in _ORDINALS and (not length or _takes_ordinal(value, following)):
            yield _ordinal(int(value or 0) + _ORDINALS[following])
            position += 1
        elif length:
            yield _written(value or Decimal(0))
        else:
            yield following
            position += 1


def _takes_ordinal(value: Decimal | None, word: str) -> bool:
    """Return whether `word` is the end of the number before it: twenty *first*."""
    if value is None or value != int(value) or value < 20:
        return False
    return _ORDINALS[word] < 10 and value % 10 == 0


def _number_at(words: Sequence[str], position: int) -> tuple[Decimal | None, int]:
    """Return the number that starts at `position` and how many words it takes."""
    total, length = Decimal(0), 0
    group: Decimal | None = None  # what is below the next thousand, million, ...
    last = 0  # the value of the small word before, which decides what may follow
    while position + length < len(words):
        word = words[position + length]
        if word in _SMALL and (group is None or _may_follow(last, _SMALL[word])):
            last = _SMALL[word]
            group = (group or Decimal(0)) + last
        elif word == "hundred" and (group is None or 0 < group < 100):
            group, last = (group or Decimal(1)) * 100, 100
        elif word in _SCALES and (group is not None or not length):
            total += (1 if group is None else group) * _SCALES[word]
            group, last = Decimal(0), 1000
        elif not length and _is_plain_number(word) and _scaled(words, position):
            group, last = Decimal(word), 0
        elif not (
            word == "and" and last >= 100 and _small_after(words, position + length)
        ):
            break
        length += 1
    return (total + (group or 0), length) if length else (None, 0)


def _may_follow(last: int, value: int) -> bool:
    if last in {100, 1000}:
        return value > 0
    return 20 <= last < 100 and last % 10 == 0 and 0 < value < 10


def _small_after(words: Sequence[str], position: int) -> bool:
    return position + 1 < len(words) and words[position + 1] in _SMALL


def _scaled(words: Sequence[str], position: int) -> bool:
    following = words[position + 1] if position + 1 < len(words) else ""
    return following in _SCALES or following == "hundred"


def _is_plain_number(word: str) -> bool:
    return len(word) <= 30 and word.isascii() and word.replace(".", "", 1).isdigit()


def _written(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _ordinal(value: int) -> str:
    if value % 100 in {11, 12, 13}:
        return f"{value}th"
    return f"{value}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(value % 10, 'th') }"


def last_number_word(text: str) -> Decimal | None:
    """Return the last number written in words; a lone "one" only at the start.

    None of a fraction in words (two thirds) or a decimal one (five point five).
    """
    words = [word.lower() for word in _WORD.findall(text)]
    if not _NUMBER_WORDS.intersection(words):
        return None
    if words[0] != "one":
        words = _without_pronouns(words)
    read = with_digits(words)
    places = [i for i, w in enumerate(read) if w[0].isdigit() and w[-1].isdigit()]
    if not places:
        return None
    before, after = ["", *read][places[-1]], [*read, ""][places[-1] + 1]
    if _PART.fullmatch(after) or "point" in {before, after}:
        return None
    value = Decimal(read[places[-1]])
    return -value if before in {"minus", "negative"} else value


def _without_pronouns(words: Sequence[str]) -> list[str]:
    """Return words without each "one" that no number word stands beside."""
    padded = ["", *words, ""]
    return [
        word
        for before, word, after in zip(padded, padded[1:], padded[2:], strict=False)
        if word != "one"
        or _NUMBER_WORDS.intersection({before, after})
        or before == "and"
    ]

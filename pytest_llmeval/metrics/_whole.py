"""Where a text stands in another one as words of its own."""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from unicodedata import category

from pytest_llmeval.metrics._steps import UNSPACED

__all__ = ["Found", "begins_with", "find_whole"]

_UNBOUNDED: Final = re.compile(f"[{UNSPACED}\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
#: What can be skipped after a place that wasn't a boundary: the rest of the word.
_RUN: Final = re.compile(
    rf"[^\W{UNSPACED}\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]+|[^\w\s]+|.", re.DOTALL
)
#: Characters of a text whose edges are not looked at: no word holds it by chance, and
#: trying each place where it might stand would take quadratic time.
_LONG: Final = 1000


class Found(NamedTuple):
    start: int
    """-1: not found as words of its own."""
    within: str = ""
    """The longer word that holds it, where only such a one does."""


def find_whole(text: str, needle: str, position: int = 0) -> Found:
    """Return where `needle` stands as words of its own, or the word that holds it."""
    start, within = text.find(needle, position), ""
    if len(needle) > _LONG:
        return Found(start)
    while start >= 0:
        if _begins(text, start) and _ends(text, start + len(needle)):
            return Found(start)
        within = within or _surrounding(text, start, start + len(needle))
        run = _RUN.match(text, start)
        start = text.find(needle, run.end() if run else start + 1)
    return Found(-1, within)


def begins_with(text: str, needle: str) -> bool:
    """Return whether `text` begins with `needle`, not in the middle of a word."""
    return text.startswith(needle) and _ends(text, len(needle))


def _is_word(char: str) -> bool:
    # A combining mark belongs to the letter before it.
    return char.isalnum() or char == "_" or (char > "\x7f" and category(char)[0] == "M")


def _is_bound(before: str, after: str) -> bool:
    """Return whether two neighbouring characters belong to one word."""
    if _UNBOUNDED.match(before) or _UNBOUNDED.match(after):
        return False
    return _is_word(before) and _is_word(after)


def _begins(text: str, start: int) -> bool:
    if not start:
        return True
    before, first = text[start - 1], text[start]
    if _is_bound(before, first):
        return False
    further = text[start - 2] if start > 1 else " "
    if first.isdigit() and before in ".,":
        return not further.isdigit() and before == ","
    if first.isdigit() and before == "-":  # a sign, but not the dash of 3-5, COVID-19
        return further.isalnum() or further in ")]%"
    if text[start + 1 : start + 2].isdigit():
        # -5 is not in 10-5, nor .5 in 0.5.
        return not (before.isalnum() and first in "-.")
    return True


def _ends(text: str, end: int) -> bool:
    if end == len(text):
        return True
    last, after = text[end - 1], text[end]
    further = text[end + 1 : end + 2]
    if _is_bound(last, after):
        return False
    if last.isdigit() and after in ".,":
        return not further.isdigit()
    if last.isalpha() and after in "+#":  # C in C++, but not a in a+b
        rest = text[end:].lstrip("+#") if further in {"+", "#"} else further
        return bool(rest) and rest[0].isalnum()
    return True


def _surrounding(text: str, start: int, end: int) -> str:
    """Return the text between spaces around a place, cut."""
    left = text.rfind(" ", max(start - 30, 0), start) + 1 or max(start - 30, 0)
    right = text.find(" ", end, end + 30)
    return text[left : right if right >= 0 else end + 30]

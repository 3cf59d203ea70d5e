"""The texts of choices: which of them a reply says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.metrics._choice_labels import cleaned
from pytest_llmeval.metrics._normalise import PRESETS
from pytest_llmeval.metrics._number_reading import read_number
from pytest_llmeval.metrics._steps import folded
from pytest_llmeval.metrics._whole import find_whole

__all__ = ["ChoiceTexts", "Place"]

#: A choice that means none or all of the others, and a reply that does.
_NONE: Final = re.compile(
    r"none(?: of (?:the above|these|them|those|the (?:options|choices|answers)))?"
)
_ALL: Final = re.compile(
    r"(?:all|each|every one|both)(?: of (?:the above|these|them|those))?"
    r"(?: (?:are|is) (?:correct|right|true))?"
    r"|all (?:the |these )?(?:options|choices|answers)(?: are (?:correct|right|true))?"
)
_HEADING: Final = re.compile(r"\W*[A-Za-z][.):]\s")
_EDGE: Final = " \t\n.,;:!?\"'()[]{}。，！？"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a text says a choice."""

    start: int
    end: int
    index: int
    """Of the choice."""


class ChoiceTexts:
    """The texts of one question's choices, made comparable.

    Args:
        choices: As the dataset has them.
    """

    def __init__(self, choices: Sequence[str]) -> None:
        self._cleaned = [cleaned(choice) for choice in choices]
        self._needles = [_needle(choice) for choice in self._cleaned]
        self._plain = [PRESETS["default"](choice) for choice in self._cleaned]
        self._none = _only(_NONE, self._needles)
        self._all = _only(_ALL, self._needles)
        self._values = [_value(choice) for choice in self._cleaned]

    @property
    def are_numbers(self) -> bool:
        """Whether each choice is a number, with or without a unit."""
        return None not in self._values

    @property
    def none(self) -> int | None:
        """The choice that says that none of the others is right."""
        return self._none

    @property
    def all(self) -> int | None:
        """The choice that says that all others are right."""
        return self._all

    def whole(self, text: str) -> int | None:
        """Return the choice whose text a cleaned text is, as a whole."""
        needle = _needle(text)
        if not needle:
            return None
        if self._needles.count(needle) == 1:
            return self._needles.index(needle)
        if _NONE.fullmatch(needle):
            return self._none
        if _ALL.fullmatch(needle) and " " in needle:
            return self._all
        if _HEADING.match(text):
            return None  # "A. Paris": no article, but a letter
        plain = PRESETS["default"](text)
        return self._plain.index(plain) if self._plain.count(plain) == 1 else None

    def places(self, text: str) -> list[Place]:
        """Return where a cleaned text says a choice, in order; denials are no matter.

        Where texts of choices overlap, the longest counts: "New York City" says no
        "New York".
        """
        plain = _folded(text)
        found = sorted(self._every(plain), key=lambda p: (p.start - p.end, p.start))
        kept, taken = [], bytearray(len(plain))
        for place in found:
            if not any(taken[place.start : place.end]):
                kept.append(place)
                taken[place.start : place.end] = b"\1" * (place.end - place.start)
        kept.sort(key=lambda place: place.start)
        return kept

    def _every(self, plain: str) -> Iterator[Place]:
        for index, needle in enumerate(self._needles):
            if len(needle) < 2 and not needle.isdigit() and needle.isascii():
                continue  # a letter is a label, not the text of a choice
            start = find_whole(plain, needle).start
            while start >= 0:
                end = start + len(needle)
                yield Place(start=start, end=end, index=index)
                start = find_whole(plain, needle, end).start

    def numbered(self, text: str) -> int | None:
        """Return the choice whose number a text gives as its answer."""
        value = read_number(text).value
        if value is None or self._values.count(value) != 1:
            return None
        return self._values.index(value)

    @staticmethod
    def means_none(text: str) -> bool:
        """Return whether a cleaned text says that no choice is right."""
        return _NONE.fullmatch(_needle(text)) is not None

    @staticmethod
    def means_all(text: str) -> bool:
        """Return whether a cleaned text says that all choices are right."""
        return _ALL.fullmatch(_needle(text)) is not None


def _folded(text: str) -> str:
    """Return `text` without letter case, each character in its place."""
    plain = folded(text)
    if len(plain) == len(text):
        return plain
    pairs = ((char, folded(char)) for char in text)
    return "".join(small if len(small) == 1 else char for char, small in pairs)


def _needle(text: str) -> str:
    return " ".join(_folded(text).split()).strip(_EDGE)


def _only(pattern: re.Pattern[str], needles: Sequence[str]) -> int | None:
    found = [i for i, needle in enumerate(needles) if pattern.fullmatch(needle)]
    return found[0] if len(found) == 1 else None


def _value(choice: str) -> object:
    # A number with at most a word or two beside it; a sentence with a year is none.
    return read_number(choice).value if len(choice.split()) <= 3 else None

"""What a text says that is nothing but an answer: a letter, letters, a number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pytest_llmeval.metrics._choice_labels import LETTERS, listed_at, run_of_letters
from pytest_llmeval.metrics._choice_texts import ChoiceTexts
from pytest_llmeval.types import as_text

__all__ = ["Pick", "Question", "Status"]

Status = Literal["ok", "none", "ambiguous", "out_of_range", "refusal"]

_EDGE: Final = " \t\n\r.,;:!?\"'<>$#*-_–—。，：！？、「」『』【】"
_BRACKETS: Final = {"(": ")", "[": "]", "{": "}", "（": "）"}
_NUMBERS: Final = re.compile(
    r"(?:(?:options?|choices?|answers?|numbers?|no\.?)\s*)?#?[(\[]?(\d{1,3})[)\].]?"
    r"(?:\s*(?:,|;|/|&|\band\b|\s)\s*(?:(?:option|choice)\s*)?#?[(\[]?\d{1,3}[)\].]?)*",
    re.IGNORECASE,
)
_ORDINALS: Final = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"),
    *("ninth", "tenth"),
)
_ORDINAL: Final = re.compile(
    rf"(?:the )?({'|'.join(_ORDINALS)}|last|(\d{{1,2}})(?:st|nd|rd|th))"
    r"(?: (?:one|option|choice|answer))?",
    re.IGNORECASE,
)
_NAMED_ORDINAL: Final = re.compile(
    rf"\bthe ({'|'.join(_ORDINALS)}|last)(?: (?:one|option|choice|answer)\b|(?= and\b)"
    r"|\W*$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """What one rule reads."""

    letters: tuple[str, ...] = ()
    status: Status = "ok"
    rule: str = ""
    """Where the answer stands."""
    seen: tuple[str, ...] = ()
    """What was seen where nothing could be picked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The choices a reply picks from, and how it may."""

    count: int
    texts: ChoiceTexts
    multiple: bool
    base: int
    """What number the first choice has."""

    def is_letter(self, letter: str) -> bool:
        """Return whether a choice has this letter."""
        return 0 <= LETTERS.find(letter) < self.count

    def of_indices(self, indices: Iterable[int], rule: str) -> Pick:
        """Return the pick of choices by their indices, from 0."""
        found = sorted(set(indices))
        if any(not 0 <= i < self.count for i in found):
            seen = tuple(str(i + self.base) for i in found)
            return Pick(status="out_of_range", rule=rule, seen=seen)
        return self.of_letters([LETTERS[i] for i in found], rule)

    def of_letters(
        self, letters: Sequence[str], rule: str, *, is_either: bool = False
    ) -> Pick:
        """Return the pick of letters: several are one too many, or an "or"."""
        found = tuple(sorted(set(letters)))
        if any(not self.is_letter(letter) for letter in found):
            return Pick(status="out_of_range", rule=rule, seen=found)
        if len(found) > 1 and (is_either or not self.multiple):
            return Pick(status="ambiguous", rule=rule, seen=found)
        return Pick(letters=found, rule=rule)

    def of_numbers(
        self, numbers: Sequence[int], rule: str, *, is_list: bool = False
    ) -> Pick:
        """Return the pick of choices by position, counted from the base.

        A list with a 0 in it counts from 0.
        """
        is_from_zero = 0 in numbers and (is_list or len(numbers) > 1)
        base = 0 if is_from_zero else self.base
        return self.of_indices([n - base for n in numbers], rule)

    def whole(self, text: str, rule: str) -> Pick | None:
        """Return what a cleaned text says as a whole, None if it says anything else."""
        if (index := self.texts.whole(text)) is not None:
            return self.of_indices([index], rule)
        text = _bare(text)
        if not text:
            return None
        return (
            self._letters(text, rule)
            or self._positions(text, rule)
            or self._none_or_all(text, rule)
        )

    def value(self, value: Any, rule: str) -> Pick | None:
        """Return the pick of a JSON value: text, position or a list of these."""
        if isinstance(value, list):
            return self._items(value, rule)
        if isinstance(value, int) and not isinstance(value, bool):
            if (index := self.texts.whole(str(value))) is not None:
                return self.of_indices([index], rule)
            return self.of_numbers([value], rule)
        if isinstance(value, bool | str):
            return self.whole(as_text(value), rule)
        return None

    def _items(self, values: list[Any], rule: str) -> Pick | None:
        if not values:
            return Pick(rule=rule) if self.multiple else None
        if all(isinstance(v, int) and not isinstance(v, bool) for v in values):
            return self.of_numbers(values, rule, is_list=True)
        letters: list[str] = []
        for value in values:
            pick = self.value(value, rule) if not isinstance(value, list) else None
            if pick is None or pick.status != "ok":
                return pick
            letters += pick.letters
        return self.of_letters(letters, rule)

    def _letters(self, text: str, rule: str) -> Pick | None:
        listed = listed_at(text, 0)
        if listed is not None and listed.end == len(text):
            return self.of_letters(listed.letters, rule, is_either=listed.is_either)
        run = run_of_letters(text)
        # "AC" is A and C; "USA" is neither, and no choice that there isn't.
        if run and all(map(self.is_letter, run)):
            return self.of_letters(run, rule)
        return None

    def _positions(self, text: str, rule: str) -> Pick | None:
        if self.texts.are_numbers and text[0].isdigit():
            return None  # a wrong number, and no place in the list
        if _NUMBERS.fullmatch(text):
            return self.of_numbers([int(n) for n in re.findall(r"\d+", text)], rule)
        ordinal = _ORDINAL.fullmatch(text)
        return None if ordinal is None else self._ordinal(ordinal, rule)

    def _ordinal(self, match: re.Match[str], rule: str) -> Pick:
        word = match[1].lower()
        if word == "last":
            return self.of_indices([self.count - 1], rule)
        index = _ORDINALS.index(word) if word in _ORDINALS else int(match[2]) - 1
        return self.of_indices([index], rule)

    def named_position(self, text: str) -> Pick | None:
        """Return the choice that a sentence names by its place: the second option."""
        rule = "the place it names"
        numbers = re.findall(r"(?i)\b(?:option|choice)\s+#?[(\[]?(\d{1,3})\b", text)
        if len(set(numbers)) == 1:
            return self.of_numbers([int(numbers[0])], rule)
        picks = [self._ordinal(m, rule) for m in _NAMED_ORDINAL.finditer(text)]
        found = sorted({letter for pick in picks for letter in pick.letters})
        if len(found) == 1 or (found and self.multiple):
            return self.of_letters(found, rule)
        return None

    def _none_or_all(self, text: str, rule: str) -> Pick | None:
        if self.texts.means_none(text):
            return Pick(rule=rule) if self.multiple else None
        if self.multiple and self.texts.means_all(text):
            return self.of_indices(range(self.count), rule)
        return None


def _bare(text: str) -> str:
    """Return `text` without punctuation and brackets around it."""
    before = None
    while before != text:
        before, text = text, text.strip(_EDGE)
        if text[:1] in _BRACKETS and text.endswith(_BRACKETS[text[0]]):
            inner = text[1:-1]
            text = text if _BRACKETS[text[0]] in inner else inner
        elif text.endswith((")", "]", "}")) and not set("([{") & set(text):
            text = text[:-1]
    return text

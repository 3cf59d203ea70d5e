"""A reply to a multiple-choice question and what was found in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pytest_llmeval.metrics._choice_denial import is_denied
from pytest_llmeval.metrics._choice_labels import LETTERS, Mention, mentions
from pytest_llmeval.metrics._choice_texts import Place
from pytest_llmeval.metrics._choice_whole import Pick, Question

__all__ = ["Reply"]

#: Between a letter and the text of its choice: "A. Paris", "(A) Paris", "A (Paris)".
_BETWEEN: Final = re.compile(r"[ \t.):(\"'-]*")


@dataclass(frozen=True)
class Reply:
    """A cleaned reply and what was found in it."""

    text: str
    question: Question

    @cached_property
    def places(self) -> list[Place]:
        """Where the text of a choice stands that is not denied."""
        return [p for p in self._all_places if not is_denied(self.text, p.start, p.end)]

    @cached_property
    def _all_places(self) -> list[Place]:
        return self.question.texts.places(self.text)

    @cached_property
    def mentions(self) -> list[Mention]:
        """Where a letter of a choice stands that is not denied."""
        return [m for m in mentions(self.text) if self._counts(m)]

    @cached_property
    def within_texts(self) -> frozenset[int]:
        """The places that lie within the text of a choice."""
        spans = (range(place.start, place.end) for place in self._all_places)
        return frozenset(place for span in spans for place in span)

    def _counts(self, mention: Mention) -> bool:
        if not self.question.is_letter(mention.letter):
            return False
        if mention.start in self.within_texts:
            return False  # plan B
        if self._is_with_text(mention):
            return True  # what stands there is the choice: "B. No, they are not"
        return not is_denied(self.text, mention.start, mention.end)

    def _is_with_text(self, mention: Mention) -> bool:
        """Return whether the text of its own choice stands right after a letter."""
        between = _BETWEEN.match(self.text, mention.end)
        start = between.end() if between else mention.end
        index = LETTERS.index(mention.letter)
        return self._texts_at.get(start) == index

    @cached_property
    def _texts_at(self) -> dict[int, int]:
        return {place.start: place.index for place in self._all_places}

    def letters_in(self, start: int, end: int) -> list[str]:
        """Return the letters named between two places."""
        return [m.letter for m in self.mentions if start <= m.start < end]

    def said_in(self, start: int, end: int) -> list[Place]:
        """Return the texts of choices said between two places."""
        return [p for p in self.places if start <= p.start and p.end <= end]

    def several(self, letters: Iterable[str], rule: str) -> Pick | None:
        """Return the pick of the letters found, None where there are none."""
        found = list(letters)
        return self.question.of_letters(found, rule) if found else None

    def of_texts(self, said: list[Place], text: str, rule: str) -> Pick:
        """Return the pick of the texts said; of several numbers that of a sum's end."""
        question = self.question
        indices = {place.index for place in said}
        if len(indices) > 1 and question.texts.are_numbers and not question.multiple:
            index = question.texts.numbered(text)  # 12 + 12 = 24
            indices = indices if index is None else {index}
        return question.of_indices(indices, rule)

"""The filter multi_choice_regex: from a reply to the letter of a choice, ``(A)``.

Semantics: lm_eval.filters.extraction 0.4.13.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.tasks.lm_eval._docs import Row
from pytest_llmeval.tasks.lm_eval._patterns import compiled

__all__ = ["LetterReader", "letter_reader"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterReader:
    """Finds the letter of the choice that a reply names."""

    found_in: Callable[[str], str | None]
    """Returns what the task's pattern finds in a reply, None for nothing."""
    ignored: tuple[re.Pattern[str], ...]
    """Taken out of replies and choices before they are compared."""
    ignores_case: bool
    ignores_punctuation: bool
    select: int
    """Which of several places counts."""
    fallback: str

    def letter(self, reply: Any, row: Row) -> str:
        """Return what the pattern finds, else the letter of a choice that is named.

        It is named by its text, else as in ``: A``; where none is, the fallback stands.

        Raises:
            UnscoredError: The row has no column `choices`, or it holds no texts.
        """
        text = reply if isinstance(reply, str) else ""
        choices = _choices(row)
        letters = [chr(ord("A") + index) for index in range(len(choices))]
        # Of two choices of one text the later letter is meant.
        named = dict(zip(map(self._bare, choices), letters, strict=True))
        return (
            self.found_in(text)
            or self._named(text, named)
            or self._written(text, letters)
            or self.fallback
        )

    def _named(self, text: str, named: Mapping[str, str]) -> str | None:
        # The longest first: a choice may stand within another.
        branches = sorted(map(re.escape, named), key=len, reverse=True)
        found = self._selected(re.findall("|".join(branches), self._bare(text)))
        letter = named.get(found.strip()) if found else None
        return f"({letter})" if letter else found

    def _written(self, text: str, letters: list[str]) -> str | None:
        pattern = rf":[\s]*({'|'.join(map(re.escape, letters))})"
        found = self._selected(re.findall(pattern, text))
        return f"({found})" if found else None

    def _selected(self, found: list[str]) -> str | None:
        return found[self.select] if -len(found) <= self.select < len(found) else None

    def _bare(self, text: str) -> str:
        for pattern in self.ignored:
            text = pattern.sub("", text)
        if self.ignores_case:
            text = text.lower()
        if self.ignores_punctuation:
            text = "".join(c for c in text if unicodedata.category(c)[0] != "P")
        return text


def letter_reader(
    options: Mapping[str, Any], found_in: Callable[[str], str | None]
) -> LetterReader:
    """Return the reader of a filter's options.

    Args:
        options: Of the filter, those of regex apart checked here.
        found_in: Finds what its pattern says.

    Raises:
        ConfigError: One can't be used.
    """
    flags = {}
    for name in ("ignore_case", "ignore_punctuation"):
        flags[name] = options.get(name, False)
        if not isinstance(flags[name], bool):
            message = f"{name} is true or false, not {flags[name]!r:.60}"
            raise ConfigError(message)
    ignored = options.get("regexes_to_ignore") or []
    if not isinstance(ignored, list):
        message = f"regexes_to_ignore is a list of patterns, not {ignored!r:.60}"
        raise ConfigError(message)
    return LetterReader(
        found_in=found_in,
        ignored=tuple(compiled(pattern) for pattern in ignored),
        ignores_case=flags["ignore_case"],
        ignores_punctuation=flags["ignore_punctuation"],
        select=options.get("group_select", 0),
        fallback=options.get("fallback", "[invalid]"),
    )


def _choices(row: Row) -> list[str]:
    choices = row.get("choices")
    if not isinstance(choices, list) or not all(isinstance(c, str) for c in choices):
        message = (
            f"multi_choice_regex needs a column choices, a list of texts, "
            f"not {choices!r:.60}"
        )
        raise UnscoredError(message, cause="data")
    return [choice.strip() for choice in choices]

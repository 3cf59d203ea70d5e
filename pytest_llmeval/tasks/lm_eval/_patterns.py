"""Regular expressions of filters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.types import NOT_A_PATTERN

__all__ = ["RegexOptions", "compiled"]

#: gsm8k's.
_PATTERN: Final = r"#### (\-?[0-9\.\,]+)"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegexOptions:
    """What a filter looks for in replies."""

    pattern: re.Pattern[str]
    select: int
    """Which of several matches counts."""
    fallback: Any

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Return them from a filter's options.

        Raises:
            ConfigError: One can't be used.
        """
        select = options.get("group_select", 0)
        if not isinstance(select, int) or isinstance(select, bool):
            raise ConfigError(f"group_select is a whole number, not {select!r}")
        return cls(
            pattern=compiled(options.get("regex_pattern", _PATTERN)),
            select=select,
            fallback=options.get("fallback", "[invalid]"),
        )

    def found_in(self, reply: Any, fallback: Any) -> Any:
        """Return the match that counts, of groups the first that is not empty.

        Args:
            reply: A text; in anything else nothing is found.
            fallback: Returned for nothing.
        """
        found = self.pattern.findall(reply if isinstance(reply, str) else "")
        if not -len(found) <= self.select < len(found):
            return fallback
        match = found[self.select]
        if isinstance(match, tuple):
            match = next((part for part in match if part), fallback)
        return match.strip() if isinstance(match, str) else match


def compiled(pattern: Any) -> re.Pattern[str]:
    """Return a compiled pattern.

    Raises:
        ConfigError: It is none.
    """
    try:
        return re.compile(pattern)
    except (*NOT_A_PATTERN, TypeError) as exc:
        message = f"{pattern!r} is not a regular expression: {exc}"
        raise ConfigError(message) from exc

"""Whether a part of the reply matches a pattern.

Patterns are Python's ``re``, searched in the reply as it is. Its engine backtracks: a
pattern like ``(a+)+$`` takes exponential time on a text that nearly matches, and nothing
here can stop it. Patterns come from the suite, never from a model.
"""

from __future__ import annotations

import re
from typing import Any, Final

from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.metrics._base import Declaration, scored_by
from pytest_llmeval.metrics._explain import inline, labelled
from pytest_llmeval.metrics._texts import named, references_of, text_of
from pytest_llmeval.types import NOT_A_PATTERN, Case, Score

__all__ = ["REGEX", "explain", "regex"]

REGEX: Final = Declaration(name="regex", binary=True)


@scored_by(REGEX)
def regex(response: Any, expected: Any, *, negate: bool = False) -> Score:
    """Return 1 if a part of the reply matches the pattern, else 0.

    Args:
        response: A Response or a text.
        expected: A pattern (text or compiled), a list of which any may match, or a case
            whose ``expected`` is one. Flags stand in the pattern: ``(?i)``, ``(?s)``.
        negate: No part may match any of them.

    Raises:
        ConfigError: A pattern given in the test can't be compiled; one that stands in
            a row makes the case unscored.
    """
    patterns = _patterns(expected)
    text = text_of(response)
    matches = [match for pattern in patterns if (match := pattern.search(text))]
    match = matches[0] if matches else None
    passed = (match is None) if negate else (match is not None)
    details = {
        "response": text,
        "expected": " | ".join(pattern.pattern for pattern in patterns),
        "match": match.group() if match else None,
        "span": match.span() if match else None,
    }
    return REGEX.scored(passed, "" if passed else _reason(details, negate), details)


def _reason(details: dict[str, Any], negate: bool) -> str:
    pattern = inline(details["expected"], 60)
    if not negate:
        return f"no part of the reply matches /{pattern}/"
    start, end = details["span"]
    shown = inline(details["match"], 40)
    return f"/{pattern}/ matches '{shown}' at characters {start + 1} to {end}"


def _patterns(expected: Any) -> list[re.Pattern[str]]:
    case = expected if isinstance(expected, Case) else None
    value = case.expected if case else expected
    given = value if isinstance(value, list | tuple) else [value]
    if all(isinstance(item, re.Pattern) for item in given) and given:
        return [_text_pattern(item) for item in given]
    return [_compiled(pattern, case) for pattern in references_of(expected)]


def _text_pattern(pattern: re.Pattern[Any]) -> re.Pattern[str]:
    if isinstance(pattern.pattern, str):
        return pattern
    message = f"{pattern.pattern!r} is a pattern of bytes, and a reply is text"
    raise ConfigError(message)


def _compiled(pattern: str, case: Case | None) -> re.Pattern[str]:
    try:
        if not pattern:
            raise re.error("an empty pattern matches every reply", pattern, 0)
        return re.compile(pattern)
    except NOT_A_PATTERN as exc:
        message = _invalid(pattern, exc)
        if case is None:
            raise ConfigError(message) from exc
        message = f"{named(case)}: {message}"
        raise UnscoredError(message, cause="data") from exc


def _invalid(pattern: str, exc: Exception) -> str:
    place = getattr(exc, "pos", None)
    where = f" at character {place + 1}" if place is not None else ""
    why = getattr(exc, "msg", str(exc))
    return f"{inline(repr(pattern), 80)} is not a regular expression{where}: {why}"


def explain(score: Score) -> list[str]:
    """Return lines with the pattern, and what it matched or did not."""
    details = score.details
    lines = labelled("pattern", details["expected"])
    if details["match"] is not None:
        lines += labelled("matched", details["match"] or "an empty text")
    return [*lines, *labelled("reply", details["response"])]

"""Whether the reply begins with a text."""

from __future__ import annotations

from typing import Any, Final

from pytest_llmeval.metrics._base import Declaration, scored_by
from pytest_llmeval.metrics._explain import inline, labelled, shown_empty
from pytest_llmeval.metrics._needles import comparable, needles_of
from pytest_llmeval.metrics._texts import text_of
from pytest_llmeval.metrics._whole import begins_with
from pytest_llmeval.types import Score

__all__ = ["STARTS_WITH", "explain", "starts_with"]

STARTS_WITH: Final = Declaration(name="starts_with", binary=True)


@scored_by(STARTS_WITH)
def starts_with(
    response: Any, expected: Any, *, negate: bool = False, ignore_case: bool = True
) -> Score:
    """Return 1 if the reply begins with an expected text as whole words, else 0.

    White space before it doesn't count; ``No`` is not the beginning of ``Nobody``.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text, or a list of which any may be it.
        negate: The reply may begin with none of them.
        ignore_case: Whether letter case matters not.
    """
    needles = needles_of(expected, ignore_case=ignore_case)
    text = text_of(response)
    plain = comparable(text, ignore_case=ignore_case)
    found = next(
        (n for n, plain_n in needles.items() if begins_with(plain, plain_n)), None
    )
    passed = (found is None) if negate else (found is not None)
    names = list(needles)
    details = {
        "response": text,
        "expected": names[0] if len(names) == 1 else names,
        "found": found,
        "beginning": plain[:60],
    }
    reason = "" if passed else _reason(names, found)
    return STARTS_WITH.scored(passed, reason, details)


def _reason(names: list[str], found: str | None) -> str:
    if found is not None:
        return f"the reply begins with '{inline(found, 40)}'"
    shown = ", ".join(f"'{inline(name, 40)}'" for name in names[:3])
    more = f" or {len(names) - 3} more" if len(names) > 3 else ""
    any_of = "any of " if len(names) > 1 else ""
    return f"the reply does not begin with {any_of}{shown}{more}"


def explain(score: Score) -> list[str]:
    """Return lines that show what was expected and how the reply begins."""
    details = score.details
    expected = details["expected"]
    names = [expected] if isinstance(expected, str) else expected
    return [
        *labelled("expected", " | ".join(names)),
        *labelled("begins", shown_empty(details["beginning"]), lines=1),
        *labelled("reply", shown_empty(details["response"])),
    ]

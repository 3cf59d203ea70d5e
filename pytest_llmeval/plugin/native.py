"""Plain asserts on scores: what pytest shows when one fails."""

from __future__ import annotations

from pytest_llmeval.assertions.message import explain_check, headline
from pytest_llmeval.types import Score

__all__ = ["explain_comparison"]

#: pytest cuts what the hook returns to 8 lines; the whole text stands in the section.
_LINES = 6

_SWAPPED = {">=": "<=", "<=": ">=", ">": "<", "<": ">"}


def explain_comparison(op: str, left: object, right: object) -> list[str] | None:
    """Return a headline and a short diff for a Score compared with a number.

    Args:
        op: The comparison as written.
        left: Left operand.
        right: Right operand; a Score here is compared the other way round.
    """
    if isinstance(right, Score) and not isinstance(left, Score):
        op, left, right = _SWAPPED.get(op, op), right, left
    if not isinstance(left, Score) or not isinstance(right, int | float):
        return None
    if left.value is None or op not in {">=", "<=", ">", "<", "==", "!="}:
        return None
    check = left.check(op, right)
    return [headline(check), *list(explain_check(check))[:_LINES]]

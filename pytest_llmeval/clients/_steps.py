"""Counts of the recent past, by tenths of a second."""

from __future__ import annotations

import math
from collections.abc import Mapping

__all__ = ["ANSWERED", "BEGUN", "MEMORY_SECONDS", "REFUSED", "STEP_SECONDS", "Steps"]

STEP_SECONDS = 0.1
MEMORY_SECONDS = 10.0
_MEMORY_STEPS = round(MEMORY_SECONDS / STEP_SECONDS)

#: What is counted: attempts when they began, those of them that were refused, and
#: answers when they came.
BEGUN, REFUSED, ANSWERED = range(3)


class Steps:
    """Counts of what happened.

    Args:
        counts: What `dump` has returned.
    """

    def __init__(self, counts: Mapping[str, list[int]] | None = None) -> None:
        self._counts = {int(step): list(n) for step, n in (counts or {}).items()}

    def dump(self) -> dict[str, list[int]]:
        """Return the counts as plain JSON types."""
        return {str(step): counts for step, counts in self._counts.items()}

    def count(self, at: float, which: int) -> None:
        """Count one of BEGUN, REFUSED, ANSWERED at a moment."""
        step = _step(at)
        if step not in self._counts:
            oldest = step - _MEMORY_STEPS
            self._counts = {s: n for s, n in self._counts.items() if s > oldest}
            self._counts[step] = [0, 0, 0]
        self._counts[step][which] += 1

    def since(self, at: float, which: int) -> int:
        """Return how many there were in the step of a moment and after it."""
        first = _step(at)
        return sum(n[which] for step, n in self._counts.items() if step >= first)


def _step(at: float) -> int:
    return math.floor(at / STEP_SECONDS) if math.isfinite(at) else 0

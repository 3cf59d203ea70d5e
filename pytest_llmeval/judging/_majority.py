"""What several votes decide together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_llmeval.types import Vote

__all__ = ["common_cause", "counts_text", "majority"]


def majority(said: Sequence[str | None]) -> str | None:
    """Return what more than half of all votes say, None where nothing is.

    Votes that say nothing count among all: what they would have said could not change
    a majority of this kind, so an outage decides nothing. A tie is none.
    """
    counts = Counter(word for word in said if word is not None)
    for word, count in counts.most_common(1):
        if 2 * count > len(said):
            return word
    return None


def counts_text(votes: Sequence[Vote]) -> str:
    """Return how the votes fell: ``PASS 2, FAIL 1, no verdict 1``."""
    counts = Counter(vote.said for vote in votes)
    nothing = counts.pop(None, 0)
    parts = [f"{word} {count}" for word, count in counts.most_common()]
    return ", ".join([*parts, *([f"no verdict {nothing}"] if nothing else [])])


def common_cause(causes: Sequence[str | None]) -> str:
    """Return the cause that all votes without a word share, else judge."""
    found = {cause for cause in causes if cause is not None}
    return found.pop() if len(found) == 1 else "judge"

"""Texts too long for a metric that compares each word with each."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_llmeval.errors import UnscoredError

__all__ = ["check_length"]


def check_length(metric: str, text: str, references: Iterable[str], most: int) -> None:
    """Refuse texts whose comparison would take minutes.

    Args:
        metric: What would compare them.
        text: The reply.
        references: The acceptable texts.
        most: Greatest number of pairs of words.

    Raises:
        UnscoredError: There are more.
    """
    words = len(text.split())
    longest = max(len(reference.split()) for reference in references)
    if words * longest > most:
        message = (
            f"{metric} compares each word with each, and a reply of {words:,} words and "
            f"a reference of {longest:,} would take minutes; bleu and chrf do not"
        )
        raise UnscoredError(message, cause="data")

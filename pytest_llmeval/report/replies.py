"""What a repeated case was answered: alike replies together, the most frequent first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pytest_llmeval.diffs import cut, printable
from pytest_llmeval.types import Record

__all__ = ["call_under_test", "grouped", "replies_line", "replies_of", "reply_of"]

#: Replies a line names, and the characters of each.
_AT_MOST: Final = 5
_WIDTH: Final = 40

#: What a response has that says something of given texts, and is no reply.
_GIVEN: Final = frozenset({"likelihood", "embeddings"})


def call_under_test(sample: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the last call of a generator, with a reply or at least an answer."""
    asked = [call for call in sample["calls"] if call["role"] == "generator"]
    answered = [call for call in asked if call["response"] is not None]
    replied = [call for call in answered if not _GIVEN & call["response"].keys()]
    found: list[Mapping[str, Any]] = replied or answered or asked
    return found[-1] if found else None


def reply_of(sample: Mapping[str, Any]) -> str | None:
    """Return what the model under test replied in a sample, None if nothing."""
    call = call_under_test(sample)
    response = (call and call["response"]) or {}
    return None if _GIVEN & response.keys() else response.get("text")


def replies_of(record: Record) -> list[tuple[str, int]]:
    """Return the replies of a case's samples, grouped."""
    return grouped(map(reply_of, record.samples))


def grouped(replies: Iterable[str | None]) -> list[tuple[str, int]]:
    """Return each different reply with how often it came, the most frequent first.

    Space around a reply makes no difference; equally frequent ones stay in their order.
    """
    texts = (reply.strip() for reply in replies if reply is not None)
    return Counter(texts).most_common()


def replies_line(replies: Iterable[str | None]) -> str:
    """Return ``7× Paris · 2× Paris, France · 1× Lyon``; empty without replies."""
    groups = grouped(replies)
    parts = [f"{n}× {_shown(text)}" for text, n in groups[:_AT_MOST]]
    if len(groups) > _AT_MOST:
        parts.append(f"{len(groups) - _AT_MOST} others")
    return " · ".join(parts)


def _shown(text: str) -> str:
    if not text:
        return "(empty)"
    # As much as can be shown: escaping a megabyte would be for nothing.
    short = text if len(text) <= 4 * _WIDTH else f"{text[: 2 * _WIDTH]}…"
    return cut(printable(short).replace("\n", "\\n"), _WIDTH)

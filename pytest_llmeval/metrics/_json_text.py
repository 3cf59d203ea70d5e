"""The JSON in a reply: read strictly, out of a Markdown fence where asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from pytest_llmeval.datasets import read_json

__all__ = ["Reading", "read"]

#: The line that opens or closes a fence (CommonMark, fenced code blocks).
_FENCE: Final = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<rest>[^`\n]*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read."""

    value: Any = None
    problem: str | None = None
    """Why there is no value."""


def read(text: str, *, fenced: bool) -> Reading:
    """Return the JSON value of a reply, or what keeps it from being one.

    Args:
        text: The reply.
        fenced: Whether the JSON may stand in the one Markdown fence of the reply.
    """
    blocks = _blocks(text)
    if fenced and blocks:
        if len(blocks) > 1:
            count = len(blocks)
            return Reading(problem=f"the reply has {count} fenced blocks, not one")
        return _parsed(blocks[0])
    reading = _parsed(text)
    if reading.problem is not None and blocks and _parsed(blocks[0]).problem is None:
        note = "the JSON stands in a Markdown fence, which fenced=True looks into"
        return Reading(problem=f"{reading.problem}; {note}")
    return reading


def _blocks(text: str) -> list[str]:
    """Return what stands in fences; of those said to be JSON only, if there are any."""
    if "```" not in text and "~~~" not in text:
        return []
    found = list(_fenced(text.splitlines()))
    marked = [block for word, block in found if word.lower().startswith("json")]
    return marked or [block for _, block in found]


def _fenced(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the word behind each fence that is closed, and what stands in it."""
    fence, word = "", ""
    block: list[str] = []
    for line in lines:
        match = _FENCE.match(line)
        if not fence:
            if match:
                fence, word, block = match["fence"], match["rest"].strip(), []
        elif match and match["fence"].startswith(fence) and not match["rest"].strip():
            yield word, "\n".join(block)
            fence = ""
        else:
            block.append(line)


def _parsed(text: str) -> Reading:
    if not text.strip():
        return Reading(problem="the reply is empty, which is no JSON")
    try:
        return Reading(value=read_json(text.removeprefix("\ufeff")))
    except ValueError as exc:
        return Reading(problem=str(exc))

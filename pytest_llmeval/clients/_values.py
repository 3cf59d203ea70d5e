"""Parts of a reply, taken for what they are and not for what they should be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_llmeval.types import whole_number

__all__ = [
    "at_path",
    "count_of",
    "known_sum",
    "mapping_of",
    "mappings_in",
    "what_is_there",
    "word_of",
]

_MOST_KEYS = 12


def count_of(value: Any) -> int | None:
    """Return a number of tokens, None for anything that is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count else None


def known_sum(*counts: int | None) -> int | None:
    """Return the sum of the counts that are known, None when none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def mapping_of(value: Any) -> Mapping[str, Any]:
    """Return a mapping, an empty one for anything that is none."""
    return value if isinstance(value, Mapping) else {}


def mappings_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings of a list; nothing for anything that is no list."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping):
            yield item


def word_of(value: Any) -> str | None:
    """Return a text, None for an empty one and anything that is none."""
    return value if isinstance(value, str) and value else None


def at_path(value: Any, path: str) -> Any:
    """Return what stands at a dotted path (``choices.0.text``), None when nothing.

    Args:
        value: Mappings and lists within each other.
        path: Keys and indices; an index from the end is negative.
    """
    for part in path.split("."):
        value = _step(value, part)
    return value


def what_is_there(value: Any, path: str) -> str:
    """Return how far a dotted path leads and what is there, for an error text."""
    reached: list[str] = []
    for part in path.split("."):
        inner = _step(value, part)
        if inner is None:
            break
        reached.append(part)
        value = inner
    where = f"at {'.'.join(reached)!r}" if reached else "in it"
    if isinstance(value, Mapping):
        names = [str(key) for key in value]
        more = f" and {len(names) - _MOST_KEYS} more" if len(names) > _MOST_KEYS else ""
        return f"{where} are the keys {', '.join(names[:_MOST_KEYS]) or 'none'}{more}"
    if isinstance(value, list | tuple):
        return f"{where} is a list of {len(value)}"
    return f"{where} is {value!r:.80}"


def _step(value: Any, part: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    if isinstance(value, list | tuple):
        place = whole_number(part.removeprefix("-"))
        index = place if place is None or part[0] != "-" else -place
        if index is not None and -len(value) <= index < len(value):
            return value[index]
    return None

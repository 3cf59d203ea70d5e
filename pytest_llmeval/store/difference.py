"""What differs between a request and the recorded ones: the nearest, part by part."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from pytest_llmeval.store.key import canonical

__all__ = ["difference", "nearest", "words"]

T = TypeVar("T")

_WORD = re.compile(r"\w+|[^\w\s]")
_CONTEXT = 20
_LONGEST = 200
_NOTHING = object()


def nearest(wanted: Mapping[str, Any], found: Iterable[tuple[T, frozenset[str]]]) -> T:
    """Return the one of several requests that is most like another.

    By the words they share: an edit distance takes minutes where every prompt of a
    large suite has changed.

    Args:
        wanted: The request.
        found: At least one candidate, each with its `words`.
    """
    own = words(wanted)

    def likeness(candidate: tuple[T, frozenset[str]]) -> float:
        shared = len(own & candidate[1])
        return shared / (len(own) + len(candidate[1]) - shared)

    return max(found, key=likeness)[0]


def words(request: Mapping[str, Any]) -> frozenset[str]:
    """Return the words of a request."""
    return frozenset(_WORD.findall(canonical(request)))


def difference(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each part in which a request differs from a recorded one.

    Args:
        wanted: What is asked.
        found: What was recorded.
    """
    yield from _parts("", wanted, found)


def _parts(name: str, asked: Any, had: Any) -> Iterator[str]:
    if canonical({"": asked}) == canonical({"": had}):
        return
    if isinstance(asked, Mapping) and isinstance(had, Mapping):
        for key in sorted({*asked, *had}):
            inner = f"{name}.{key}" if name else key
            yield from _parts(inner, asked.get(key, _NOTHING), had.get(key, _NOTHING))
    elif isinstance(asked, list) and isinstance(had, list):
        for index in range(max(len(asked), len(had))):
            one, other = _at(asked, index), _at(had, index)
            yield from _parts(_item_name(name, index, one, other), one, other)
    elif isinstance(asked, str) and isinstance(had, str):
        before, after = _around(had, asked)
        yield f"{_shown_name(name)}: recorded {before!r}, asked {after!r}"
    else:
        yield f"{_shown_name(name)}: recorded {_shown(had)}, asked {_shown(asked)}"


def _at(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else _NOTHING


def _item_name(name: str, index: int, *items: Any) -> str:
    """Return the name of a list's item: a message has that of its role."""
    for item in items:
        if name == "messages" and isinstance(item, Mapping) and "role" in item:
            return f"{item['role']} message {index + 1}"
    return f"{name}[{index}]"


def _shown_name(name: str) -> str:
    return name.removesuffix(".content")


def _shown(value: Any) -> str:
    if value is _NOTHING:
        return "nothing"
    if isinstance(value, Mapping) and "content" in value:
        value = value["content"]
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _around(before: str, after: str) -> tuple[str, str]:
    """Return the parts of two texts in which they differ, with a little around."""
    head = _shared(before, after)
    tail = _shared(before[head:][::-1], after[head:][::-1])
    start, end = max(0, head - _CONTEXT), max(0, tail - _CONTEXT)

    def part(text: str) -> str:
        cut = text[start : len(text) - end]
        shown = cut if len(cut) <= _LONGEST else cut[: _LONGEST - 3] + "..."
        return f"{'…' if start else ''}{shown}{'…' if end else ''}"

    return part(before), part(after)


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their start."""
    pairs = zip(one, other, strict=False)
    differing = (place for place, (a, b) in enumerate(pairs) if a != b)
    return next(differing, min(len(one), len(other)))

"""Objects in a reply, as judges write them: JSON, nearly JSON, Python dicts.

Trailing or missing commas, raw line ends in texts, single quotes, bare words and quotes
within quotes are read; a key that stands twice is kept twice. One pass, no backtracking.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Found", "Members", "find_objects"]

_DEEPEST: Final = 12
_SPACE = re.compile(r"\s*")
_PLAIN_TEXT = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_OPENING = re.compile(r"\{(?=[\s,]{0,200}(?:[\"'}]|[^\W\d]))")
_BARE_KEY = re.compile(r"[^\W\d][\w -]{0,60}")
_BARE_VALUE = re.compile(r"[^,{}\[\]\"'\n:]*")
_KEYWORDS: Final = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
}


@dataclass(frozen=True, slots=True)
class Members:
    """An object's keys and values in their order, repeated keys included."""

    pairs: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An object's place in the text, and what it holds."""

    start: int
    end: int
    members: Members | None
    """None: it breaks off or can't be read to its end."""


class _BrokenError(Exception):
    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def find_objects(text: str) -> Iterator[Found]:
    """Yield the objects of `text`, outermost, in order."""
    opening = _OPENING.search(text)
    while opening:
        place = opening.start()
        try:
            members, end = _object(text, place, 0)
            found = Found(start=place, end=end, members=members)
        except _BrokenError as exc:
            # Never back: what was read once is not read again.
            end = max(place + 1, min(exc.place, len(text)))
            found = Found(start=place, end=end, members=None)
        yield found
        opening = _OPENING.search(text, end)


def _after_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _object(text: str, place: int, depth: int) -> tuple[Members, int]:
    if depth > _DEEPEST:
        raise _BrokenError(place)
    pairs = []
    place = _after_commas(text, place + 1)
    while text[place : place + 1] != "}":
        key, place = _key(text, place)
        place = _after_space(text, place)
        if text[place : place + 1] != ":":
            raise _BrokenError(place)
        value, place = _value(text, _after_space(text, place + 1), depth)
        pairs.append((key, value))
        place = _after_commas(text, place)
    return Members(tuple(pairs)), place + 1


def _list(text: str, place: int, depth: int) -> tuple[list[Any], int]:
    items = []
    place = _after_commas(text, place + 1)
    while text[place : place + 1] != "]":
        before = place
        item, place = _value(text, place, depth)
        items.append(item)
        place = _after_commas(text, place)
        if place == before:
            raise _BrokenError(place)
    return items, place + 1


def _after_commas(text: str, place: int) -> int:
    place = _after_space(text, place)
    while text[place : place + 1] == ",":
        place = _after_space(text, place + 1)
    return place


def _key(text: str, place: int) -> tuple[str, int]:
    if text[place : place + 1] in {'"', "'"}:
        return _text(text, place)
    match = _BARE_KEY.match(text, place)
    if not match:
        raise _BrokenError(place)
    return match[0], match.end()


def _value(text: str, place: int, depth: int) -> tuple[Any, int]:
    first = text[place : place + 1]
    if first == "{":
        return _object(text, place, depth + 1)
    if first == "[":
        if depth >= _DEEPEST:
            raise _BrokenError(place)
        return _list(text, place, depth + 1)
    if first and first in "\"'":
        return _text(text, place)
    match = _BARE_VALUE.match(text, place)
    word = match[0].strip() if match else ""
    if not match or not word:
        raise _BrokenError(place)
    return _bare(word), match.end()


def _bare(word: str) -> Any:
    if word in _KEYWORDS:
        return _KEYWORDS[word]
    if len(word) < 20 and word.isascii() and word.lstrip("-").isdecimal():
        return int(word)
    return word


def _text(text: str, place: int) -> tuple[str, int]:
    quote = text[place]
    start = place = place + 1
    while True:
        match = _PLAIN_TEXT[quote].match(text, place)
        place = match.end() if match else place
        if place >= len(text):
            raise _BrokenError(len(text))
        if text[place] == "\\":
            place += 2
            continue
        if _closes(text, place + 1):
            return _unescaped(text[start:place], quote), place + 1
        place += 1


def _closes(text: str, place: int) -> bool:
    """Whether a quote before `place` ends its text, and is no quote within it."""
    after = _after_space(text, place)
    following = text[after : after + 1]
    if following in {"", ",", ":", "}", "]"}:
        return True
    return following in {'"', "'"} and "\n" in text[place:after]


def _unescaped(raw: str, quote: str) -> str:
    if "\\" not in raw:
        return raw
    if quote == "'":
        raw = raw.replace("\\'", "'")
    try:
        # A quote that stands within unescaped: known from the place it has.
        escaped = re.sub(r'(?<!\\)((?:\\\\)*)"', r'\1\\"', raw)
        value = json.loads(f'"{escaped}"', strict=False)
    except ValueError:
        return raw
    return value if isinstance(value, str) else raw

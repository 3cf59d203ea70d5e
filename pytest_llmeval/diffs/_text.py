"""Text made inert and short, fit for a terminal and a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final
from unicodedata import combining, east_asian_width

__all__ = ["WIDTH", "columns", "cut", "printable", "shown", "within", "wrap"]

#: Columns of a line: what pytest leaves of 80 after its own ``E       `` (an E and as
#: many blanks as indent a test's body) and our indent of two.
WIDTH: Final = 70


def printable(text: str) -> str:
    r"""Return `text` with all that isn't visible, but for newlines, as escapes.

    Control characters, bidirectional marks, zero-width characters, lone surrogates and
    spaces other than the ordinary one become ``\x1b``, ``\u202e`` and the like.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(
        line if line.isprintable() else "".join(map(_visible, line)) for line in lines
    )


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    return char.encode("unicode_escape").decode("ascii")


def columns(text: str) -> int:
    """Return how many columns of a terminal `text` takes."""
    return len(text) if text.isascii() else sum(map(_char_columns, text))


def _char_columns(char: str) -> int:
    if combining(char):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def cut(text: str, width: int = WIDTH) -> str:
    """Return `text` in at most `width` columns, its middle replaced by a note.

    Args:
        text: Any text; newlines count as a column.
        width: Greatest number of columns, the note included.
    """
    # No character is wider than two columns or, but for marks, narrower than one.
    if len(text) * 2 <= width or (len(text) <= width * 4 and columns(text) <= width):
        return text
    note = f" [… {len(text)} characters, cut …] "
    room = width - len(note)
    if room < 12:
        return _head(text, max(width - 1, 0)) + "…"
    head = _head(text, room - room // 3)
    tail = _head(text[: -room - 1 : -1], room // 3)[::-1]
    note = f" [… {len(text) - len(head) - len(tail)} characters cut …] "
    return f"{head}{note}{tail}"


def _head(text: str, width: int) -> str:
    """Return as much of the start of `text` as `width` columns hold."""
    # Marks take no column: without the limit a pile of them would be shown whole.
    taken = 0
    for position, char in enumerate(islice(text, width)):
        taken += _char_columns(char)
        if taken > width:
            return text[:position]
    return text[:width]


def wrap(text: str, width: int = WIDTH) -> Iterator[str]:
    """Yield `text` in lines of at most `width` columns, broken at spaces."""
    line: list[str] = []
    used = 0
    for word in text.split(" "):
        word = cut(word, width)
        size = columns(word)
        if line and used + 1 + size > width:
            yield " ".join(line)
            line, used = [], 0
        used += size + bool(line)
        line.append(word)
    yield " ".join(line)


def within(lines: Iterable[str], budget: int) -> Iterator[str]:
    """Yield at most `budget` of `lines`; the last one says how many more there are."""
    lines = list(lines)
    if len(lines) <= budget:
        yield from lines
        return
    yield from lines[: budget - 1]
    yield f"… {len(lines) - budget + 1} more lines"


def shown(value: Any) -> str:
    """Return a value as short, inert JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        text = f"<{type(value).__name__}>"
    return cut(printable(text), 40)

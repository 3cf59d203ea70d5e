"""Differences between values as lines of text, without colours.

Everything that comes out is inert: model text can't move a terminal's cursor, turn the
direction of the line or break a file's encoding. Generators take a budget of lines.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, Final
from unicodedata import combining, east_asian_width

__all__ = [
    "WIDTH",
    "columns",
    "cut",
    "json_diff",
    "list_diff",
    "printable",
    "within",
    "word_diff",
    "wrap",
]

#: Columns of a line: what pytest leaves of 80 after its own ``E   `` and our indent.
WIDTH: Final = 74
#: Words of each text that are compared: SequenceMatcher is quadratic, worse at worst.
_COMPARED_WORDS: Final = 300
#: Characters of a JSON path after which it isn't written on.
_PATH_LENGTH: Final = 200
#: Words shown on both sides of a difference.
_CONTEXT_WORDS: Final = 6
#: Words shown of a run that differs.
_CHANGED_WORDS: Final = 24


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


def word_diff(
    expected: str, actual: str, *, budget: int = 12, width: int = WIDTH
) -> Iterator[str]:
    """Yield `actual` with its differences: ``[-expected-]`` and ``{+actual+}``.

    Args:
        expected: The text that should be.
        actual: The text that is.
        budget: Greatest number of lines.
        width: Greatest number of columns of a line.
    """
    left, right = expected.split(), actual.split()
    start = _common_prefix(left, right)
    end = _common_prefix(left[start:][::-1], right[start:][::-1])
    changed_left = left[start : len(left) - end]
    changed_right = right[start : len(right) - end]
    pieces = [
        *_same_words(left[:start], has_before=False, has_after=True),
        *_changes(changed_left[:_COMPARED_WORDS], changed_right[:_COMPARED_WORDS]),
    ]
    beyond_left = max(len(changed_left) - _COMPARED_WORDS, 0)
    beyond_right = max(len(changed_right) - _COMPARED_WORDS, 0)
    if beyond_left or beyond_right:
        note = (
            f"[… not compared: {beyond_left} expected words, {beyond_right} others …]"
        )
        pieces.append(note)
    pieces += _same_words(left[len(left) - end :], has_before=True, has_after=False)
    yield from within(wrap(printable(" ".join(pieces)), width), budget)


def _common_prefix(left: Sequence[str], right: Sequence[str]) -> int:
    length = min(len(left), len(right))
    return next((i for i in range(length) if left[i] != right[i]), length)


def _changes(left: Sequence[str], right: Sequence[str]) -> Iterator[str]:
    opcodes = SequenceMatcher(None, left, right, autojunk=True).get_opcodes()
    for tag, left_start, left_end, right_start, right_end in opcodes:
        if tag == "equal":
            yield from _same_words(left[left_start:left_end])
            continue
        if left_end > left_start:
            yield f"[-{_shortened(left[left_start:left_end])}-]"
        if right_end > right_start:
            yield f"{{+{_shortened(right[right_start:right_end])}+}}"


def _shortened(words: Sequence[str]) -> str:
    """Return words that differ as text, the middle of many replaced by a number."""
    if len(words) <= _CHANGED_WORDS:
        return " ".join(words)
    side = _CHANGED_WORDS // 2
    note = f"[… {len(words) - 2 * side} words …]"
    return " ".join([*words[:side], note, *words[-side:]])


def _same_words(
    words: Sequence[str], *, has_before: bool = True, has_after: bool = True
) -> Iterator[str]:
    """Yield equal words, those far from a difference replaced by their number."""
    before = _CONTEXT_WORDS if has_before else 0
    after = _CONTEXT_WORDS if has_after else 0
    skipped = len(words) - before - after
    if skipped <= 3:
        yield from words
        return
    yield from words[:before]
    yield f"[… {skipped} equal words …]"
    yield from words[len(words) - after :]


def list_diff(
    expected: Iterable[Any], actual: Iterable[Any], *, budget: int = 12
) -> Iterator[str]:
    """Yield what `actual` lacks and what it has too much, equal items counted.

    Args:
        expected: The items that should be there.
        actual: The items that are there.
        budget: Greatest number of lines.
    """
    left, right = list(map(_shown, expected)), list(map(_shown, actual))
    missing, extra = Counter(left) - Counter(right), Counter(right) - Counter(left)
    lines = [f"missing   {item}" for item in missing.elements()]
    lines += [f"extra     {item}" for item in extra.elements()]
    if not lines and left != right:
        lines = ["the same items in another order"]
    yield from within([cut(line) for line in lines], budget)


def json_diff(expected: Any, actual: Any, *, budget: int = 12) -> Iterator[str]:
    """Yield a line for each path where two JSON values differ.

    Numbers are compared by value (1 and 1.0 are equal), true and 1 are different.

    Args:
        expected: The value that should be.
        actual: The value that is.
        budget: Greatest number of lines.
    """
    yield from within(_json_lines(expected, actual), budget)


def _json_lines(expected: Any, actual: Any) -> Iterator[str]:
    # A stack of our own: text of a model may be nested deeper than Python recurses.
    stack = [("$", expected, actual)]
    while stack:
        path, left, right = stack.pop()
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            shared = [key for key in left if key in right]
            stack += reversed([(_key(path, k), left[k], right[k]) for k in shared])
            for key in left:
                if key not in right:
                    yield _line(
                        _key(path, key), f"missing, expected {_shown(left[key])}"
                    )
            for key in right:
                if key not in left:
                    yield _line(
                        _key(path, key), f"not expected, got {_shown(right[key])}"
                    )
        elif _is_list(left) and _is_list(right):
            pairs = enumerate(zip(left, right, strict=False))
            stack += reversed([(_item(path, i), a, b) for i, (a, b) in pairs])
            if len(left) != len(right):
                yield _line(path, f"expected {len(left)} items, got {len(right)}")
        elif not _is_same(left, right):
            yield _line(path, _expected_got(left, right))


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _is_same(left: Any, right: Any) -> bool:
    return _kind(left) == _kind(right) and bool(left == right)


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    for kind, name in ((str, "text"), (int | float, "number"), (Mapping, "object")):
        if isinstance(value, kind):
            return name
    return "list" if _is_list(value) else type(value).__name__


def _expected_got(left: Any, right: Any) -> str:
    got = f"expected {_shown(left)}, got {_shown(right)}"
    # Only text looks like what it isn't: "10" and 10.
    is_unlike = _kind(left) != _kind(right)
    return f"{got} (text)" if is_unlike and _kind(right) == "text" else got


def _item(path: str, index: int) -> str:
    # Shown cut anyway; whole ones of a deep value would take quadratic time.
    return path if len(path) > _PATH_LENGTH else f"{path}[{index}]"


def _key(path: str, key: object) -> str:
    if len(path) > _PATH_LENGTH:
        return path
    name = cut(str(key), 40)
    if name.isidentifier():
        return f"{path}.{printable(name)}"
    return f"{path}[{_shown(name)}]"


def _line(path: str, text: str) -> str:
    return cut(f"{cut(path, 32)}: {text}", WIDTH)


def _shown(value: Any) -> str:
    """Return a value as short, inert JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        text = f"<{type(value).__name__}>"
    return cut(printable(text), 40)

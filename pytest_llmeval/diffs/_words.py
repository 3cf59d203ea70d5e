"""Differences of two texts, word by word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from pytest_llmeval.diffs._text import WIDTH, printable, within, wrap

__all__ = ["word_diff"]

#: Words of each text that are compared: SequenceMatcher is quadratic, worse at worst.
_COMPARED_WORDS: Final = 300
#: Words shown on both sides of a difference.
_CONTEXT_WORDS: Final = 6
#: Words shown of a run that differs.
_CHANGED_WORDS: Final = 24


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

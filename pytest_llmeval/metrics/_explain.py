"""The lines of a failure that several metrics share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from pytest_llmeval.diffs import WIDTH, cut, printable, word_diff, wrap
from pytest_llmeval.types import Score

__all__ = [
    "ROOM",
    "beside",
    "generic",
    "inline",
    "labelled",
    "nearest",
    "nearest_texts",
    "shown_empty",
    "texts_of",
    "words_line",
]

_LABEL: Final = 10
#: Columns beside a label.
ROOM: Final = WIDTH - _LABEL
#: Lines a text may take before its middle is cut out.
_TEXT_LINES: Final = 3


def inline(text: str, width: int = ROOM) -> str:
    """Return `text` as one short, inert line."""
    return cut(printable(_bounded(text)).replace("\n", "\\n"), width)


def _bounded(text: str) -> str:
    # Escaping is linear, but a megabyte would be escaped to be thrown away.
    if len(text) <= 20_000:
        return text
    note = f" [… {len(text) - 10_000} characters cut …] "
    return f"{text[:8000]}{note}{text[-2000:]}"


def labelled(label: str, text: str, *, lines: int = _TEXT_LINES) -> list[str]:
    """Return `text` in lines behind a label; long text is cut in its middle.

    Args:
        label: A word of at most 9 letters.
        text: Any text; its newlines stay line breaks.
        lines: Greatest number of lines.
    """
    shown = printable(_bounded(text)).split("\n")
    wrapped = [part for line in shown for part in wrap(line, ROOM)]
    if len(wrapped) > lines:
        wrapped = _middle_cut(wrapped, lines)
    return beside(label, wrapped)


def beside(label: str, lines: Sequence[str]) -> list[str]:
    """Return `lines` behind a label of at most 9 letters."""
    heads = [label, *[""] * (len(lines) - 1)]
    pairs = zip(heads, lines, strict=True)
    return [f"{head:<{_LABEL}}{line}".rstrip() for head, line in pairs]


def _middle_cut(wrapped: list[str], lines: int) -> list[str]:
    if lines < 3:
        return [cut(" ".join(wrapped), ROOM)]
    head, tail = wrapped[: lines - 2], wrapped[-1:]
    gone = sum(map(len, wrapped[lines - 2 : -1]))
    return [*head, f"[… {gone} characters cut …]", *tail]


def texts_of(score: Score) -> list[str]:
    """Return the expected text, the reply, their difference, what was removed."""
    details = score.details
    lines = [
        *labelled("expected", shown_empty(details["expected"])),
        *labelled("reply", shown_empty(details["response"])),
    ]
    left, right = details["normalised_expected"], details["normalised_response"]
    if left != right and (" " in left or " " in right):
        lines += beside("diff", list(word_diff(left, right, budget=6, width=ROOM)))
    return [*lines, *_removed(details), *nearest(details)]


def shown_empty(text: str) -> str:
    """Return `text`, or a note where there is nothing to be seen of it."""
    return text if text.strip() else f"(an empty text: {inline(repr(text), 40)})"


def _removed(details: Any) -> list[str]:
    """Return what normalisation took away from the reply."""
    notes = details.get("removed", ())
    return labelled("removed", "; ".join(notes), lines=2) if notes else []


def nearest(details: Any) -> list[str]:
    """Return which of several acceptable texts the reply was nearest to."""
    if "reference_index" not in details:
        return []
    place, count = details["reference_index"] + 1, len(details["references"])
    return labelled("nearest", f"of {count} acceptable texts, number {place} is shown")


def nearest_texts(score: Score) -> list[str]:
    """Return the expected text or texts, the reply, and their difference."""
    text, expected = score.details["response"], score.details["expected"]
    several = [expected] if isinstance(expected, str) else expected
    lines = [
        line for one in several[:3] for line in labelled("expected", shown_empty(one))
    ]
    if len(several) > 3:
        lines += labelled("", f"and {len(several) - 3} more")
    lines += labelled("reply", shown_empty(text))
    if len(several) == 1 and expected != text:
        lines += beside("diff", list(word_diff(expected, text, budget=6, width=ROOM)))
    return lines


def words_line(label: str, words: Iterable[str]) -> list[str]:
    """Return words behind a label, as many as two lines hold."""
    text = " ".join(words)
    return labelled(label, text, lines=2) if text else []


def generic(score: Score) -> list[str]:
    """Return lines for a metric that explains itself by its reason only."""
    lines = labelled("reason", score.reason) if score.reason else []
    for name, label in (("expected", "expected"), ("response", "reply")):
        value = score.details.get(name)
        if isinstance(value, str):
            lines += labelled(label, shown_empty(value))
    return lines

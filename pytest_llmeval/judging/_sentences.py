"""The sentences of a page, each with the line that announces it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.judging import _phrases as phrases

__all__ = ["EDGES", "FAR", "Sentence", "sentences", "single_spaced"]

#: What stands before a word is looked at this far.
FAR: Final = 300
#: What dresses a word, and says nothing.
EDGES: Final = " \t\"'`()[]{}<>#*-–—•|\ue001\ue002"
_SENTENCE_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)(?<!\bcf)(?<![.!?])"
    r"[.!?]++(?:(?<=[!?])|(?=[\s\"')\]\ue000]|$|[^\x00-\x7f]))"
)
_NUMBERING = re.compile(
    r"[-+•‣▪·–—>]?[ \t]{0,4}(?:\(?(?:\d{1,3}|[a-z])[.)][ \t]{1,4})?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of one line."""

    start: int
    text: str
    label: str
    """Of the line before, when that is one: "Verdict:" over the verdict."""


def sentences(plain: str) -> Iterator[Sentence]:
    """Yield the sentences of a folded, bare text, in order."""
    label = ""
    place = 0
    for line in plain.split("\n"):
        if line.strip():
            for start, end in _parts(line):
                yield Sentence(start=place + start, text=line[start:end], label=label)
                label = ""
            label = _label_of(line)
        place += len(line) + 1


def _parts(line: str) -> Iterator[tuple[int, int]]:
    numbering = _NUMBERING.match(line, len(line) - len(line.lstrip()))
    start = numbering.end() if numbering else 0
    for end in _SENTENCE_END.finditer(line, start):
        yield start, end.end()
        start = end.end()
    if line[start:].strip():
        yield start, len(line)


def _label_of(line: str) -> str:
    """Return a line that only announces the next one."""
    if len(line) > 2 * FAR or phrases.WORD.search(line):
        return ""
    words = single_spaced(line).strip(EDGES)
    if words.endswith(":") or phrases.LABEL.fullmatch(f"{words.strip(': ')} "):
        return f"{words.strip(': ')}: "
    return ""


def single_spaced(piece: str) -> str:
    """Return a text with its white space as single blanks."""
    return " ".join(piece.split())

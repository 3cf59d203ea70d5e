"""Lines for a terminal: texts with colours, measured in character cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pytest_llmeval.diffs import columns, printable

__all__ = ["Line", "Page", "Segment"]

#: Longer texts are not looked at whole: no terminal has a line for them.
_LONGEST = 2000


class Segment(NamedTuple):
    """A piece of a line, with the markup of pytest's terminal writer."""

    text: str
    markup: Mapping[str, bool]

    @classmethod
    def of(cls, text: str, *names: str) -> Segment:
        """Return a segment in the named colours: red, green, yellow, bold, light."""
        return cls(text, dict.fromkeys(names, True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line, without its end."""

    segments: tuple[Segment, ...] = ()

    @classmethod
    def of(cls, *segments: Segment) -> Line:
        """Return the line of these segments."""
        return cls(segments=segments)

    @property
    def text(self) -> str:
        """The line without its colours."""
        return "".join(segment.text for segment in self.segments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The terminal that is written for."""

    width: int = 80
    unicode: bool = True
    """Whether it can show more than ASCII."""

    @property
    def dot(self) -> str:
        """What stands between the parts of a line."""
        return " · " if self.unicode else " | "

    def own(self, text: str) -> str:
        """Return a text of ours with the signs this terminal has."""
        if self.unicode:
            return text
        return text.replace("–", "-").replace("…", "...").replace("±", "+-")

    def foreign(self, text: str) -> str:
        """Return the first line of anybody's text, inert, with signs it has."""
        lines = text.splitlines()
        first = next((line.strip() for line in lines if line.strip()), "")
        if len(first) > _LONGEST:
            first = f"{first[: _LONGEST // 2]}…{first[-_LONGEST // 2 :]}"
        shown = printable(first.replace("\t", " "))
        if self.unicode:
            return shown
        return self.own(shown).encode("ascii", "backslashreplace").decode("ascii")

    def cut_middle(self, text: str, width: int) -> str:
        """Return `text` in at most `width` cells; both ends of a name tell most."""
        if columns(text) <= width:
            return text
        gap = self.own("…")
        room = max(0, width - len(gap))
        head = _head(text, room - room // 2)
        tail = _head(text[::-1], room // 2)[::-1]
        return f"{head}{gap}{tail}"

    def cut_end(self, text: str, width: int) -> str:
        """Return the beginning of `text` in at most `width` cells."""
        if columns(text) <= width:
            return text
        gap = self.own("…")
        return f"{_head(text, max(0, width - len(gap))).rstrip()}{gap}"

    def wrap(
        self, parts: Iterable[Segment], *, indent: str, between: str
    ) -> Iterator[Line]:
        """Yield lines of whole parts; one that is too long alone is cut."""
        line: list[Segment] = []
        used = 0
        for text, markup in parts:
            room = self.width - len(indent)
            part = Segment(self.cut_middle(text, room), markup)
            needed = columns(part.text)
            if line and used + len(between) + needed > room:
                yield Line.of(Segment.of(indent), *line)
                line, used = [], 0
            if line:
                line.append(Segment.of(between, "light"))
                used += len(between)
            line.append(part)
            used += needed
        if line:
            yield Line.of(Segment.of(indent), *line)


def _head(text: str, width: int) -> str:
    """Return as many of the first characters as `width` cells hold."""
    used = 0
    for place, character in enumerate(text[:width]):
        used += columns(character)
        if used > width:
            return text[:place]
    return text[:width]

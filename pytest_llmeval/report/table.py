"""The table of a terminal report: a row a test, numbers right-aligned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.diffs import columns
from pytest_llmeval.report.lines import Line, Page, Segment
from pytest_llmeval.report.model import STATUSES, Totals, shown_statuses
from pytest_llmeval.stats import interval_text, percent_text

__all__ = ["Entry", "table_lines"]

_COLOURS: Final = {
    "passed": "green",
    "failed": "red",
    "unscored": "red",
    "gated": "yellow",
    "known": "yellow",
    "xpassed": "yellow",
    "not_run": "yellow",
}
_GAP: Final = "  "
#: Names are cut to no less than this for the sake of a table.
_LEAST_NAME: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A test, or their sum."""

    name: str
    totals: Totals
    below: tuple[Line, ...] = ()
    """Its metrics and what it used."""
    is_sum: bool = False


def table_lines(entries: Iterable[Entry], page: Page) -> Iterator[Line]:
    """Yield the rows; on a narrow terminal a name and a sentence each instead."""
    shown = list(entries)
    statuses = shown_statuses(entry.totals for entry in shown)
    grid = [_row(entry.totals, statuses, page) for entry in shown]
    titles = _titles(statuses)
    widths = [
        max(len(title), *(columns(row[place].text) for row in grid))
        for place, title in enumerate(titles)
    ]
    longest = max(columns(entry.name) for entry in shown)
    room = page.width - sum(width + len(_GAP) for width in widths)
    if room < min(longest, _LEAST_NAME):
        yield from _sentences(shown, page)
        return
    name_width = min(longest, room)
    head = [Segment.of(title) for title in titles]
    yield Line.of(Segment.of(" " * name_width), *_aligned(head, widths, "light"))
    for entry, row in zip(shown, grid, strict=True):
        if entry.is_sum:
            yield Line.of()
        name = page.cut_middle(entry.name, name_width)
        padding = " " * (name_width - columns(name))
        yield Line.of(Segment.of(name + padding, "bold"), *_aligned(row, widths))
        yield from entry.below


def _titles(statuses: Iterable[str]) -> list[str]:
    outcomes = [status.replace("_", " ") for status in statuses]
    return ["cases", *outcomes, "rate", "95 % CI"]


def _row(totals: Totals, statuses: Iterable[str], page: Page) -> list[Segment]:
    return [
        Segment.of(f"{totals.cases:,}"),
        *(_count(totals, status) for status in statuses),
        _rate(totals, page),
        Segment.of(page.own(interval_text(totals.passed, totals.scored))),
    ]


def _count(totals: Totals, status: str, word: str = "") -> Segment:
    count: int = getattr(totals, status)
    colour = _COLOURS.get(status) if count else None
    return Segment.of(f"{count:,}{word}", *([colour] if colour else []))


def _rate(totals: Totals, page: Page) -> Segment:
    text = page.own(percent_text(totals.passed, totals.scored))
    is_whole = 0 < totals.scored == totals.passed
    return Segment.of(text, *(["green"] if is_whole else []))


def _aligned(
    row: Sequence[Segment], widths: Sequence[int], *names: str
) -> Iterator[Segment]:
    for (text, markup), width in zip(row, widths, strict=True):
        yield Segment.of(_GAP + " " * (width - columns(text)))
        yield Segment(text, {**markup, **dict.fromkeys(names, True)})


def _sentences(entries: Iterable[Entry], page: Page) -> Iterator[Line]:
    for entry in entries:
        if entry.is_sum:
            yield Line.of()
        yield Line.of(Segment.of(page.cut_middle(entry.name, page.width), "bold"))
        yield from page.wrap(
            _sentence(entry.totals, page), indent=_GAP * 2, between=page.dot
        )
        yield from entry.below


def _sentence(totals: Totals, page: Page) -> Iterator[Segment]:
    yield Segment.of(f"{totals.cases:,} {'case' if totals.cases == 1 else 'cases'}")
    for status in STATUSES:
        if getattr(totals, status):
            yield _count(totals, status, f" {status.replace('_', ' ')}")
    if totals.scored:
        interval = page.own(interval_text(totals.passed, totals.scored))
        text, markup = _rate(totals, page)
        yield Segment(f"{text} (95 % CI {interval})", markup)

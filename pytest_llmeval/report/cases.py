"""The cases that a terminal report lists: what did not pass, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytest_llmeval.diffs import columns
from pytest_llmeval.report.lines import Line, Page, Segment
from pytest_llmeval.report.model import Report
from pytest_llmeval.report.names import case_name
from pytest_llmeval.report.replies import replies_line, reply_of
from pytest_llmeval.stats import number_text
from pytest_llmeval.types import Record

__all__ = ["case_lines"]

#: Of each kind; a wall of failures hides the rest of the report.
_AT_MOST: Final = 10
_INDENT: Final = "    "


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    letter: str
    colour: str
    is_news: bool = False
    """Listed without being asked: `known` failures, say, are not."""


_KINDS: Final = {
    "failed": _Kind(letter="F", colour="red", is_news=True),
    "unscored": _Kind(letter="U", colour="red", is_news=True),
    "gated": _Kind(letter="g", colour="yellow", is_news=True),
    "known": _Kind(letter="k", colour="yellow"),
    "xpassed": _Kind(letter="X", colour="yellow"),
    "xfailed": _Kind(letter="x", colour="yellow"),
    "skipped": _Kind(letter="s", colour="yellow"),
    "not_run": _Kind(letter="-", colour="yellow"),
    "passed": _Kind(letter=".", colour="green"),
}


def case_lines(report: Report, show: str, page: Page) -> Iterator[Line]:
    """Yield the cases of each kind under a heading of their number, the worst first.

    Args:
        report: The run.
        show: failures (of each kind the first ten), all, or none.
        page: The terminal.
    """
    if show == "none":
        return
    found = {status: report.worst_first(status) for status in _KINDS}
    for status, kind in _KINDS.items():
        if found[status] and (kind.is_news or show == "all"):
            yield Line.of()
            yield Line.of(_heading(status, kind, found[status], page))
            limit = len(found[status]) if show == "all" else _AT_MOST
            yield from _listed(found[status], limit, kind, page)
    yield from _unstable(found["passed"], show, page)


def _unstable(passed: Iterable[Record], show: str, page: Page) -> Iterator[Line]:
    """Yield the cases that passed although a sample failed."""
    found = [record for record in passed if record.is_unstable]
    if not found:
        return
    kind = _Kind(letter="~", colour="yellow")
    yield Line.of()
    text = f"{len(found):,} unstable: passed, although a sample failed"
    yield Line.of(Segment.of(page.cut_end(text, page.width), kind.colour, "bold"))
    yield from _listed(found, len(found) if show == "all" else _AT_MOST, kind, page)


def _heading(
    status: str, kind: _Kind, records: Sequence[Record], page: Page
) -> Segment:
    text = f"{len(records):,} {status.replace('_', ' ')}"
    causes = Counter(record.cause for record in records if record.cause)
    if causes:
        counts = ", ".join(f"{n:,} {cause}" for cause, n in causes.most_common())
        text += f": {counts}"
    shown = page.cut_end(page.foreign(text), page.width)
    return Segment.of(shown, kind.colour, "bold")


def _listed(
    records: Sequence[Record], limit: int, kind: _Kind, page: Page
) -> Iterator[Line]:
    for record in records[:limit]:
        yield _headline(record, kind, page)
        if why := _why(record, page):
            room = page.width - len(_INDENT)
            yield Line.of(Segment.of(f"{_INDENT}{page.cut_end(why, room)}"))
    if len(records) > limit:
        more = f"  and {len(records) - limit:,} more (--llmeval-show=all lists them)"
        yield Line.of(Segment.of(more))


def _headline(record: Record, kind: _Kind, page: Page) -> Line:
    name = page.foreign(case_name(record.nodeid))
    place = page.foreign(record.source or "")
    room = page.width - len(_INDENT)
    place = page.cut_middle(place, max(12, room - columns(name) - 2, room // 2))
    if place:
        room -= columns(place) + 2
    start = Segment.of(f"  {kind.letter} ", kind.colour)
    end = [Segment.of(f"  {place}", "light")] if place else []
    return Line.of(start, Segment.of(page.cut_middle(name, room)), *end)


def _why(record: Record, page: Page) -> str:
    """Return the check that did not hold and the reason, in one line."""
    reason = page.foreign(record.reason)
    parts = [reason] if reason else []
    check = _check(record)
    if check is not None and str(check["name"]) not in record.reason:
        parts.insert(0, page.foreign(_check_text(check)))
    if record.repeat > 1:
        parts = [page.own(_counts(record, page)), *parts]
    return page.dot.join(parts)


def _counts(record: Record, page: Page) -> str:
    """Return how a repeated case's samples ended and what was replied."""
    counts = Counter(sample["status"] for sample in record.samples)
    text = f"{counts['passed']} of {len(record.samples)} samples passed"
    if counts["unscored"]:
        text += f", {counts['unscored']} unscored"
    replies = page.foreign(replies_line(map(reply_of, record.samples)))
    return f"{text} ({replies})" if replies else text


def _check(record: Record) -> Mapping[str, Any] | None:
    """Return the first check that decided the case, None if none did."""
    wanted = None if record.status == "unscored" else False
    if record.status not in {"failed", "unscored", "gated", "known", "xfailed"}:
        return None
    for sample in record.samples:
        for check in sample["checks"]:
            if check["passed"] is wanted:
                found: Mapping[str, Any] = check
                return found
    return None


def _check_text(check: Mapping[str, Any]) -> str:
    name, value, bar = check["name"], check["value"], check["threshold"]
    if not isinstance(value, int | float):
        return f"{name} unscored"
    if not isinstance(bar, int | float):
        return f"{name} {number_text(value)}"
    return f"{name} {number_text(value)}, needs {check['operator']} {bar:g}"

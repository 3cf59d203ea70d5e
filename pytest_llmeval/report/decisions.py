"""What a run was held to: its gates, and the baseline, each with one decision line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from pytest_llmeval.baseline import KINDS, Change, Compared, Comparison, MetricChange
from pytest_llmeval.diffs import columns, printable
from pytest_llmeval.gates import GateResult
from pytest_llmeval.report.lines import Line, Page, Segment
from pytest_llmeval.report.names import case_name
from pytest_llmeval.stats import (
    interval_text,
    money_text,
    number_text,
    percent_text,
    seconds_text,
)

__all__ = [
    "FLIPS",
    "change_counts",
    "changed_text",
    "comparison_lines",
    "drift_texts",
    "gate_lines",
    "gate_text",
    "why_text",
]

#: Of each kind; a wall of flips hides the rest of the report.
_AT_MOST: Final = 10
#: Of the parts that changed, those that did so in most cases.
_PARTS: Final = 4
#: Where a gate may go on in the next line.
_BREAKS: Final = re.compile(r"(?<=,) | (?=\()")
_COLOURS: Final = {
    "holds": "green",
    "fails": "red",
    "undecided": "yellow",
    "inconclusive": "yellow",
    "not evaluated": "yellow",
}
#: The kinds whose cases are listed.
FLIPS: Final = {
    "regressed": ("-", "red"),
    "missing": ("?", "red"),
    "incomparable": ("~", "yellow"),
    "fixed": ("+", "green"),
}


def gate_lines(gates: Iterable[GateResult], page: Page) -> Iterator[Line]:
    """Yield a line a gate: its state, what it is about, the value, the bar, the count."""
    results = list(gates)
    if not results:
        return
    yield Line.of()
    yield Line.of(Segment.of("gates", "bold"))
    states = max(len(one.state) for one in results)
    scopes = [page.cut_middle(page.foreign(one.scope), 32) for one in results]
    width = max(map(columns, scopes))
    for result, scope in zip(results, scopes, strict=True):
        state = Segment.of(f"  {result.state:<{states}}  ", _COLOURS[result.state])
        indent = " " * (columns(state.text) + width + 2)
        parts = _BREAKS.split(page.own(printable(gate_text(result))))
        first, *rest = page.wrap(map(Segment.of, parts), indent=indent, between=" ")
        pad = " " * (width - columns(scope) + 2)
        yield Line.of(state, Segment.of(f"{scope}{pad}"), *first.segments[1:])
        yield from rest


def gate_text(result: GateResult) -> str:
    """Return what a gate asks for, what was measured, and of how many."""
    gate, measured = result.gate, result.measured
    if measured is None or measured.value is None:
        return f"{gate} ({result.reason})"
    value, bar = (_amount(gate.name, x) for x in (measured.value, gate.bar))
    notes = [f"n {measured.n:,}"]
    if gate.name == "kappa" and measured.interval is not None:
        low, high = measured.interval
        notes.append(f"{low:.2f} to {high:.2f}")
    elif measured.interval is not None:
        passed = round(measured.value * measured.n)
        notes.append(f"{interval_text(passed, measured.n)} %")
    if result.reason:
        notes.append(result.reason)
    elif measured.unknown:
        notes.append(f"{measured.unknown:,} unknown")
    return f"{gate.name} {value} {gate.operator} {bar} ({', '.join(notes)})"


def _amount(name: str, value: float) -> str:
    if name == "cost":
        return money_text(value)
    if name.endswith("_seconds"):
        return seconds_text(value)
    if name == "tokens":
        return f"{value:,.0f}"
    return number_text(value)


def comparison_lines(
    compared: Compared | None, page: Page, *, is_verbose: bool = False
) -> Iterator[Line]:
    """Yield the decision, the counts, the flips; the metrics where they are asked for."""
    if compared is None:
        return
    decision, comparison = compared.decision, compared.comparison
    yield Line.of()
    for text in drift_texts(comparison):
        words = [Segment.of(word, "yellow") for word in page.foreign(text).split()]
        yield from page.wrap(words, indent="", between=" ")
    yield Line.of(
        Segment.of(f"compared with {page.foreign(compared.name)}: "),
        Segment.of(
            page.own(f"{decision.state} ({decision.reason})"),
            _COLOURS[decision.state],
            "bold",
        ),
    )
    yield from page.wrap(
        map(Segment.of, change_counts(comparison)), indent="  ", between=page.dot
    )
    if changed := changed_text(comparison):
        words = [Segment.of(word) for word in page.own(printable(changed)).split()]
        yield from page.wrap(words, indent="  ", between=" ")
    for kind, (letter, colour) in FLIPS.items():
        for why, changes in _alike(comparison, kind).items():
            limit = len(changes) if is_verbose else _AT_MOST
            words = [Segment.of(part) for part in _wrapped(page.own(why))]
            count = Segment.of(f"{len(changes):,} {kind}:", colour)
            yield from page.wrap([count, *words], indent="  ", between=" ")
            yield from _flips(changes, limit, letter, colour, page)
    if is_verbose:
        yield from _metric_lines(comparison.metrics, page)


def drift_texts(comparison: Comparison) -> Iterator[str]:
    """Yield what to know before all else: another model answers than before."""
    for drift in comparison.drifts:
        name = "" if drift.part == "model" else " by system_fingerprint"
        yield (
            f"another snapshot answers for {drift.role} {drift.asked}{name}: "
            f"{', '.join(drift.before)} before, {', '.join(drift.now)} now"
        )


def change_counts(comparison: Comparison) -> Iterator[str]:
    """Yield how many cases there are of each kind, p, and the rates before and now."""
    counts = Counter(change.kind for change in comparison.changes)
    for kind in KINDS:
        if counts[kind]:
            yield f"{counts[kind]:,} {kind.replace('_', ' ')}"
    if comparison.lost + comparison.gained:
        yield f"p {comparison.p:.2g}"
    if comparison.compared:
        before, now = comparison.passed
        n = comparison.compared
        yield f"{percent_text(before, n)} passed before, {percent_text(now, n)} now"


def changed_text(comparison: Comparison) -> str:
    """Return which parts differ from the baseline, and in how many cases."""
    parts = Counter(part for change in comparison.changes for part in change.parts)
    shown = [f"{part} in {_cases(count)}" for part, count in parts.most_common(_PARTS)]
    more = len(parts) - len(shown)
    rest = [f"{more:,} other parts"] if more > 0 else []
    return f"changed: {', '.join([*shown, *rest])}" if shown else ""


def _cases(count: int) -> str:
    return f"{count:,} case{'' if count == 1 else 's'}"


def _alike(comparison: Comparison, kind: str) -> dict[str, list[Change]]:
    """Return the changes of a kind by what explains them."""
    groups: dict[str, list[Change]] = {}
    for change in comparison.changes:
        if change.kind == kind:
            groups.setdefault(why_text(change), []).append(change)
    return groups


def _wrapped(text: str) -> list[str]:
    return printable(text).split()


def _flips(
    changes: list[Change], limit: int, letter: str, colour: str, page: Page
) -> Iterator[Line]:
    for change in changes[:limit]:
        case = change.case
        name = page.foreign(case_name(case.nodeid) or case.identity)
        place = f"  {page.foreign(case.source)}" if case.source else ""
        room = page.width - 6 - columns(place)
        yield Line.of(
            Segment.of(f"    {letter} ", colour),
            Segment.of(page.cut_middle(name, max(room, 12))),
            Segment.of(place, "light"),
        )
    if len(changes) > limit:
        more = f"    and {len(changes) - limit:,} more (-v lists them)"
        yield Line.of(Segment.of(more))


def why_text(change: Change) -> str:
    """Return which parts changed and which did not, of what could explain a flip."""
    if change.why:
        return change.why
    if not change.parts:
        return "prompt, model, row and metric are the same"
    kept = [
        word
        for word in ("prompt", "model", "row", "metric")
        if not any(part.startswith(word) for part in change.parts)
    ]
    same = f"; {', '.join(kept)} the same" if kept else ""
    return f"{', '.join(change.parts)} changed{same}"


def _metric_lines(metrics: Iterable[MetricChange], page: Page) -> Iterator[Line]:
    for metric in metrics:
        change = metric.difference
        name = page.foreign(f"{metric.test.partition('::')[2]} {metric.name}")
        text = (
            f" {number_text(change.before)} → {number_text(change.now)} "
            f"({change.mean:+.3f}, 95 % {change.low:+.3f} to {change.high:+.3f}, "
            f"p {metric.p_adjusted:.2g}, n {change.n:,})"
        )
        room = page.width - 2 - columns(text)
        shown = page.cut_middle(name, max(room, 16))
        yield Line.of(Segment.of(page.own(f"  {shown}{text}")))

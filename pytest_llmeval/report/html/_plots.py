"""What the plots of the page show: numbers to bars, in the units of an SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.baseline import SCORED
from pytest_llmeval.report.model import Report
from pytest_llmeval.stats import (
    interval_text,
    number_text,
    percent_text,
    rate,
    seconds_text,
    wilson_interval,
)
from pytest_llmeval.types import Record

__all__ = ["Bar", "Histogram", "Shift", "TagRate", "histograms", "shifts", "tag_rates"]

_BINS: Final = 20
_HEIGHT: Final = 64.0
_CHECKS: Final = 6
_TAGS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar of a histogram, in units of its SVG: 200 wide, 64 high."""

    x: float
    y: float
    width: float
    height: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How often values came."""

    title: str
    low: str
    high: str
    n: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TagRate:
    """How many of a tag's cases passed; rate and interval in percent of a width."""

    tag: str
    percent: float
    low: float
    high: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """The mean of a check in the baseline and now; places in percent of a width."""

    name: str
    before: float
    now: float
    text: str
    is_worse: bool


def histograms(report: Report) -> Iterator[Histogram]:
    """Yield the values of each check, then the seconds of live replies."""
    values: dict[str, list[float]] = {}
    seconds: list[float] = []
    for record in report.cases:
        for sample in record.samples:
            for check in sample["checks"]:
                if isinstance(check["value"], int | float):
                    values.setdefault(check["name"], []).append(float(check["value"]))
            seconds += _live_seconds(sample["calls"])
    for name, found in list(values.items())[:_CHECKS]:
        yield _histogram(name, found, is_seconds=False)
    if seconds:
        yield _histogram("seconds of live replies", seconds, is_seconds=True)


def _live_seconds(calls: Sequence[object]) -> Iterator[float]:
    for call in calls:
        assert isinstance(call, dict)
        response = call["response"] or {}
        took = response.get("latency_seconds")
        is_live = response.get("origin") == "live" and call["role"] == "generator"
        if is_live and isinstance(took, int | float):
            yield float(took)


def _histogram(title: str, values: list[float], *, is_seconds: bool) -> Histogram:
    low, high = min(0.0, *values), max(values)
    if not is_seconds:
        high = max(1.0, high)
    span = (high - low) or 1.0
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, int((value - low) / span * _BINS))] += 1
    text = seconds_text if is_seconds else number_text
    most, width = max(counts), 200 / _BINS
    bars = []
    for place, count in enumerate(counts):
        if count:
            height = max(1.5, count / most * _HEIGHT)
            start, end = (low + span * (place + i) / _BINS for i in (0, 1))
            bars.append(
                Bar(
                    x=round(place * width + 0.5, 2),
                    y=round(_HEIGHT - height, 2),
                    width=width - 1,
                    height=round(height, 2),
                    label=f"{text(start)} to {text(end)}: {count:,}",
                )
            )
    return Histogram(
        title=title, low=text(low), high=text(high), n=len(values), bars=tuple(bars)
    )


def tag_rates(records: Sequence[Record]) -> list[TagRate]:
    """Return the pass rate of each tag, the lowest first, at most twenty."""
    counts: dict[str, list[int]] = {}
    for record in records:
        if (passed := SCORED.get(record.status)) is not None:
            for tag in record.tags:
                count = counts.setdefault(tag, [0, 0])
                count[0] += passed
                count[1] += 1
    ordered = sorted(counts.items(), key=lambda item: item[1][0] / item[1][1])
    return [_tag_rate(tag, *count) for tag, count in ordered[:_TAGS]]


def _tag_rate(tag: str, passed: int, n: int) -> TagRate:
    low, high = wilson_interval(passed, n)
    share = f"{percent_text(passed, n)} ({passed:,} of {n:,}"
    return TagRate(
        tag=tag,
        percent=round(100 * (rate(passed, n) or 0.0), 1),
        low=round(100 * low, 1),
        high=round(100 * high, 1),
        text=f"{share}, {interval_text(passed, n)} %)",
    )


def shifts(report: Report) -> Iterator[Shift]:
    """Yield how the means of the checks moved since the baseline."""
    if report.compared is None:
        return
    for metric in report.compared.comparison.metrics:
        change = metric.difference
        scale = max(1.0, abs(change.before), abs(change.now)) / 100
        worse = change.mean < 0 if metric.higher_is_better else change.mean > 0
        yield Shift(
            name=f"{metric.test.partition('::')[2]} {metric.name}",
            before=round(max(0.0, change.before) / scale, 1),
            now=round(max(0.0, change.now) / scale, 1),
            text=(
                f"{number_text(change.before)} → {number_text(change.now)} "
                f"({change.mean:+.3f}, n {change.n:,}, p {metric.p_adjusted:.2g})"
            ),
            is_worse=worse,
        )

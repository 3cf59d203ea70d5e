"""The report on a terminal: a block a test, what did not pass, what to type next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pytest_llmeval.calibration import lines_of
from pytest_llmeval.diffs import printable
from pytest_llmeval.report.cases import case_lines
from pytest_llmeval.report.decisions import comparison_lines, gate_lines
from pytest_llmeval.report.groups import GroupRow
from pytest_llmeval.report.lines import Line, Page, Segment
from pytest_llmeval.report.metrics import MetricSummary
from pytest_llmeval.report.model import Report, Row
from pytest_llmeval.report.table import Entry, table_lines
from pytest_llmeval.report.usage import Cost, Latency, Origins, Retries, Tokens
from pytest_llmeval.stats import money_text, number_text, seconds_text

__all__ = ["group_texts", "metric_text", "render", "test_label", "usage_texts"]

_INDENT: Final = "    "


def render(
    report: Report,
    *,
    width: int = 80,
    unicode: bool = True,
    show: str = "failures",
    next_command: str | None = None,
    notes: Sequence[str] = (),
    seconds: float | None = None,
    is_verbose: bool = False,
    is_brief: bool = False,
) -> Iterator[Line]:
    """Yield the lines of a report.

    Args:
        report: The run.
        width: Cells of a line.
        unicode: Whether the terminal can show more than ASCII.
        show: Which cases are listed: failures (of each kind the first ten), all, none.
        next_command: What to type next; None when there is nothing to do.
        notes: Sentences about the run itself.
        seconds: How long it took.
        is_verbose: Whether to say what was asked more than once.
        is_brief: Whether to leave out the numbers of each test.
    """
    page = Page(width=max(width, 20), unicode=unicode)
    if report.rows and not is_brief:
        yield from table_lines(_entries(report, page), page)
        yield from _origins(report.origins, seconds, page)
        if is_verbose and report.retries.calls:
            yield from page.wrap(_retries(report.retries), indent="", between=page.dot)
    yield from group_lines(report.groups, page)
    yield from gate_lines(report.gates, page)
    yield from comparison_lines(report.compared, page, is_verbose=is_verbose)
    yield from case_lines(report, show, page)
    if notes or next_command:
        yield Line.of()
    for note in notes:
        yield Line.of(Segment.of(page.foreign(note)))
    if next_command:
        command = page.foreign(next_command)
        yield Line.of(Segment.of("next: "), Segment.of(command, "bold"))


def _entries(report: Report, page: Page) -> Iterator[Entry]:
    times = Counter((row.name, *row.params.items()) for row in report.rows)
    for row in report.rows:
        is_only = times[row.name, *row.params.items()] == 1
        usage = usage_texts(row.tokens, row.cost, row.latency)
        yield Entry(
            name=page.foreign(test_label(row, row.name if is_only else row.nodeid)),
            totals=row.totals,
            below=(
                *page.wrap(_metrics(row, page), indent=_INDENT, between="   "),
                *page.wrap(
                    map(Segment.of, row.repeats.texts()),
                    indent=_INDENT,
                    between=page.dot,
                ),
                *page.wrap(_judge(row, page), indent=_INDENT, between=page.dot),
                *_calibration(row, page),
                *page.wrap(map(Segment.of, usage), indent=_INDENT, between=page.dot),
            ),
        )
    if len(report.rows) > 1:
        usage = usage_texts(report.tokens, report.cost, report.latency)
        below = page.wrap(map(Segment.of, usage), indent=_INDENT, between=page.dot)
        yield Entry(name="all", totals=report.totals, below=tuple(below), is_sum=True)


def test_label(row: Row, name: str) -> str:
    """Return a test's name with its parameters."""
    params = ", ".join(
        # A model or a prompt says by itself what it is.
        value if key in {"generator", "prompt"} else f"{key}={value}"
        for key, value in row.params.items()
    )
    return f"{name}[{params}]" if params else name


def _metrics(row: Row, page: Page) -> Iterator[Segment]:
    for metric in row.metrics:
        name = page.cut_middle(page.foreign(metric.name), 32)
        yield Segment.of(page.own(f"{name} {metric_text(metric)}"))


def metric_text(metric: MetricSummary) -> str:
    """Return a check's mean, of how many, and what else there is to say of it."""
    value = "–" if metric.mean is None else number_text(metric.mean)
    if metric.mean is not None and metric.stderr is not None:
        value = f"{value} ± {number_text(metric.stderr)}"
    remarks = [f"n {metric.n:,}"]
    if metric.pooled is not None and metric.n > 1:
        remarks.insert(0, f"{metric.pooled_as} {number_text(metric.pooled)}")
    if metric.unscored:
        remarks.append(f"{metric.unscored:,} unscored")
    if not metric.higher_is_better:
        remarks.append("lower is better")
    return f"{value} ({', '.join(remarks)})"


def group_lines(groups: Sequence[GroupRow], page: Page) -> Iterator[Line]:
    """Yield a line a group and value, and how much it is of."""
    if not groups:
        return
    yield Line.of()
    yield Line.of(Segment.of("groups", "bold"))
    for group in groups:
        name = page.cut_middle(page.foreign(group.label), 32)
        texts = [Segment.of(page.own(text)) for text in group_texts(group)]
        yield Line.of(Segment.of(f"  {name}"))
        yield from page.wrap(texts, indent=_INDENT, between="   ")


def group_texts(group: GroupRow) -> Iterator[str]:
    """Yield each value of a group and how much it is of."""
    for one in group.values:
        error = "" if one.stderr is None else f" ± {number_text(one.stderr)}"
        tests = f"{one.tests} task{'s' if one.tests > 1 else ''}"
        yield f"{one.name} {number_text(one.mean)}{error} ({tests}, n {one.n:,})"


def _calibration(row: Row, page: Page) -> Iterator[Line]:
    if row.calibration is not None:
        room = page.width - len(_INDENT)
        for text in lines_of(row.calibration, row.calibrated):
            # Our own spaces are the table's columns.
            shown = page.own(printable(text)).rstrip()
            yield Line.of(Segment.of(f"{_INDENT}{page.cut_end(shown, room)}"))


def _judge(row: Row, page: Page) -> Iterator[Segment]:
    for text in row.judge.texts():
        yield Segment.of(page.own(text))


def usage_texts(tokens: Tokens, cost: Cost, latency: Latency) -> Iterator[str]:
    """Yield what the calls used: tokens, money, seconds."""
    yield from _tokens(tokens)
    yield from _cost(cost)
    yield from _latency(latency)


def _tokens(tokens: Tokens) -> Iterator[str]:
    if tokens.unknown < tokens.calls or tokens.input or tokens.output:
        yield f"tokens {tokens.input:,} in, {tokens.output:,} out"
    if tokens.unknown:
        yield f"tokens unknown for {_of(tokens.unknown, tokens.calls)}"


def _cost(cost: Cost) -> Iterator[str]:
    unknown = cost.calls - cost.known
    # Zeros beside calls of unknown cost say nothing of what it was at least.
    says_nothing = bool(unknown) and cost.total == 0
    if cost.total is not None and not says_nothing:
        text = f"cost {'at least ' if unknown else ''}{money_text(cost.total)}"
        if cost.live is not None and cost.live != cost.total:
            text += f" ({money_text(cost.live)} of it now)"
        yield text
    if len(cost.by_role) > 1 and not says_nothing:
        parts = cost.by_role.items()
        yield ", ".join(f"{role} {money_text(part)}" for role, part in parts)
    if unknown:
        yield f"cost unknown for {_of(unknown, cost.calls)}"


def _of(part: int, calls: int) -> str:
    noun = "call" if calls == 1 else "calls"
    return f"{calls:,} {noun}" if part == calls else f"{part:,} of {calls:,} {noun}"


def _latency(latency: Latency) -> Iterator[str]:
    median, late = latency.p50_seconds, latency.p95_seconds
    if median is not None and late is not None:
        yield f"p50 {seconds_text(median)}, p95 {seconds_text(late)}"


def _retries(retries: Retries) -> Iterator[Segment]:
    calls = "call" if retries.calls == 1 else "calls"
    requests = "request" if retries.requests == 1 else "requests"
    yield Segment.of(f"retried {retries.calls:,} {calls}")
    yield Segment.of(f"{retries.requests:,} further {requests}")
    yield Segment.of(f"{seconds_text(retries.waited_seconds)} of waiting, added up")


def _origins(origins: Origins, seconds: float | None, page: Page) -> Iterable[Line]:
    counts = {
        "live": origins.live,
        "cached": origins.cached,
        "recorded": origins.recorded,
        "column": origins.column,
        "unanswered": origins.unanswered,
    }
    parts = [
        Segment.of(f"{name} {count:,}", *(["yellow"] if name == "unanswered" else []))
        for name, count in counts.items()
        if count
    ]
    if seconds is not None:
        parts.append(Segment.of(f"{seconds_text(seconds)} in all"))
    if parts:
        yield Line.of()
    yield from page.wrap(parts, indent="", between=page.dot)

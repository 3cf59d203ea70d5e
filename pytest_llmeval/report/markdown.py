"""The report for a pull request: totals, decisions, what flipped, some failures.

What a model, a dataset or an application wrote stands in ``<code>``, its signs as
character references: no Markdown, no tag, no link and no mention can come of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pytest_llmeval.baseline import Change
from pytest_llmeval.diffs import cut, printable
from pytest_llmeval.report.decisions import (
    FLIPS,
    change_counts,
    changed_text,
    drift_texts,
    gate_text,
    why_text,
)
from pytest_llmeval.report.model import STATUSES, Report, Row, Totals, shown_statuses
from pytest_llmeval.report.names import case_name
from pytest_llmeval.report.terminal import (
    group_texts,
    metric_text,
    test_label,
    usage_texts,
)
from pytest_llmeval.stats import interval_text, percent_text
from pytest_llmeval.types import Record

__all__ = ["code", "markdown_text"]

#: Signs with a meaning in GitHub's Markdown, also the colon and dots of an address.
_MEANS: Final = re.compile(
    r"[^\w \],;.:()/='%?+-]|:(?=//)|(?<=www)\.|(?<![^\W_])_|_(?![^\W_])"
)
#: Of each kind. A comment on GitHub holds 65,536 characters, and nobody reads them.
_AT_MOST: Final = 10
#: Columns of a text that somebody else wrote.
_WIDTH: Final = 240
#: Tests in the table; the others are in its sum.
_ROWS: Final = 50
_BAD: Final = ("failed", "unscored", "gated")


def markdown_text(report: Report) -> str:
    """Return the report in GitHub's Markdown, whose length has a bound."""
    return "\n".join(_lines(report)) + "\n"


def code(text: str, width: int = _WIDTH) -> str:
    """Return anybody's text as one line of code that means nothing to Markdown."""
    line = cut(" ".join(printable(text).split()), width)
    safe = _MEANS.sub(lambda found: f"&#{ord(found[0])};", line)
    return f"<code>{safe}</code>" if safe else ""


def _lines(report: Report) -> Iterator[str]:
    yield f"### llmeval: {_verdict(report)}"
    yield ""
    yield from _table(report)
    yield from _groups(report)
    yield from _gates(report)
    yield from _comparison(report)
    for status in _BAD:
        yield from _cases(report, status)
    bad = [record for record in report.cases if record.status in _BAD]
    if bad:
        yield ""
        again = bad[0].rerun if len(bad) == 1 else "pytest --lf -m llmeval"
        yield f"Next: {code(again, 2000)}"


def _verdict(report: Report) -> str:
    counts = [
        f"{getattr(report.totals, status):,} {status.replace('_', ' ')}"
        for status in STATUSES
        if getattr(report.totals, status)
    ]
    found = ", ".join(counts) or "no case ran"
    is_cut = report.run.get("interrupted")
    return f"{found}; the run was interrupted" if is_cut else found


def _table(report: Report) -> Iterator[str]:
    counted = shown_statuses([report.totals])
    heads = " | ".join(name.replace("_", " ") for name in counted)
    yield f"| test | cases | {heads} | rate | 95 % | metrics |"
    yield f"|---|--:|{'--:|' * len(counted)}--:|--:|---|"
    for row in report.rows[:_ROWS]:
        name = code(test_label(row, row.name), 80)
        yield _row(name, row.totals, counted, _metrics(row))
    if (gone := len(report.rows) - _ROWS) > 0:
        yield f"| and {gone:,} more tests |{' |' * (len(counted) + 4)}"
    if len(report.rows) > 1:
        yield _row("**all**", report.totals, counted, "")
    usage = list(usage_texts(report.tokens, report.cost, report.latency))
    if usage:
        yield ""
        yield " · ".join(usage)


def _row(name: str, totals: Totals, counted: Sequence[str], metrics: str) -> str:
    rate = interval = ""
    if totals.scored:
        rate = percent_text(totals.passed, totals.scored)
        interval = interval_text(totals.passed, totals.scored)
    cells = (totals.cases, *(getattr(totals, name) for name in counted))
    numbers = " | ".join(f"{number:,}" for number in cells)
    return f"| {name} | {numbers} | {rate} | {interval} | {metrics} |"


def _metrics(row: Row) -> str:
    shown = [f"{code(one.name, 40)} {metric_text(one)}" for one in row.metrics[:6]]
    return ", ".join(shown)


def _groups(report: Report) -> Iterator[str]:
    if report.groups:
        yield ""
    for group in report.groups:
        texts = ", ".join(map(code, group_texts(group)))
        yield f"- group {code(group.label, 80)}: {texts}"


def _gates(report: Report) -> Iterator[str]:
    if report.gates:
        yield ""
    for result in report.gates:
        text = code(gate_text(result))
        yield f"- gate **{result.state}**: {code(result.scope, 80)} {text}"


def _comparison(report: Report) -> Iterator[str]:
    if report.compared is None:
        return
    decision, comparison = report.compared.decision, report.compared.comparison
    yield ""
    for text in drift_texts(comparison):
        yield f"**Drift**: {code(text)}"
        yield ""
    yield (
        f"Compared with {code(report.compared.name)}: **{decision.state}** "
        f"({code(decision.reason)})"
    )
    yield ""
    yield " · ".join(change_counts(comparison))
    if changed := changed_text(comparison):
        yield ""
        yield code(changed)
    records = {record.nodeid: record for record in report.cases}
    for kind in FLIPS:
        changes = comparison.of(kind)  # type: ignore[arg-type]
        if changes:
            yield ""
            yield f"**{len(changes):,} {kind}**"
            yield ""
        for change in changes[:_AT_MOST]:
            yield _flip(change, records.get(change.case.nodeid))
        yield from _more(changes)


def _flip(change: Change, record: Record | None) -> str:
    case = change.case
    parts = [
        code(case_name(case.nodeid) or case.identity),
        code(case.source or ""),
        code(why_text(change)),
        code(record.reason) if record and change.kind == "regressed" else "",
    ]
    return "- " + " · ".join(part for part in parts if part)


def _cases(report: Report, status: str) -> Iterator[str]:
    found = report.worst_first(status)
    if not found:
        return
    yield ""
    yield f"**{len(found):,} {status}**"
    yield ""
    for record in found[:_AT_MOST]:
        name = code(case_name(record.nodeid))
        place = code(record.source or "")
        yield "- " + " · ".join(part for part in (name, place) if part)
        if why := code(record.reason):
            yield f"  <br>{why}"
    yield from _more(found)


def _more(found: Sequence[object]) -> Iterator[str]:
    if len(found) > _AT_MOST:
        yield f"- and {len(found) - _AT_MOST:,} more"

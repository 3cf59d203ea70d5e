"""The report as a table: CSV, a sample a row."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from math import fsum
from typing import Any, Final

from pytest_llmeval.report.model import Report
from pytest_llmeval.report.replies import call_under_test
from pytest_llmeval.types import Record, as_text

__all__ = ["csv_pieces"]

#: First the names that spreadsheets of other evaluations have.
_COLUMNS: Final = (
    *("question", "context", "prediction", "expected_output", "score", "cost"),
    *("status", "cause", "reason", "test", "case_id", "sample", "params", "tags"),
    *("metric", "threshold", "scores", "seconds", "model", "origin", "source"),
    "nodeid",
)


def csv_pieces(report: Report) -> Iterator[str]:
    """Yield a row a sample; ``score`` is that of the first check, ``scores`` are all.

    Lists and objects stand in their cells as JSON. What is not known is empty.
    """
    written = _Last()
    writer = csv.DictWriter(written, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    yield written.text
    for record in report.cases:
        # What was skipped has no sample, and is a case all the same.
        for sample in record.samples or ({},):
            cells = dict(_cells(record, sample))
            writer.writerow({name: _cell(value) for name, value in cells.items()})
            yield written.text


class _Last:
    """A file of what was written last."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text


def _cells(record: Record, sample: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    calls = sample.get("calls", ())
    checks = sample.get("checks", ())
    first = checks[0] if checks else {}
    call = call_under_test(sample) if sample else None
    response = (call and call["response"]) or {}
    yield "question", record.row.get("input")
    yield "context", record.row.get("context")
    yield "prediction", response.get("text", first.get("response"))
    yield "expected_output", record.row.get("expected")
    yield "score", first.get("value")
    yield "cost", _cost(calls)
    yield "status", record.status
    yield "cause", record.cause
    yield "reason", record.reason
    yield "test", record.test
    yield "case_id", record.case_id
    yield "sample", sample.get("index")
    yield "params", record.params or None
    yield "tags", " ".join(record.tags)
    yield "metric", first.get("name")
    yield "threshold", first.get("threshold")
    yield "scores", {check["name"]: check["value"] for check in checks} or None
    yield "seconds", round(record.seconds, 6)
    yield "model", response.get("model") or (call and call["client"])
    yield "origin", response.get("origin")
    yield "source", record.source
    yield "nodeid", record.nodeid


def _cost(calls: Any) -> float | None:
    """Return what the calls cost, None when that is not known of one of them."""
    costs = [
        call["response"].get("cost")
        for call in calls
        if call["response"] and call["response"]["origin"] != "column"
    ]
    if not costs or not all(isinstance(cost, int | float) for cost in costs):
        return None
    return fsum(costs)


def _cell(value: Any) -> str:
    # A NUL ends a cell for many readers, and the file for some.
    return as_text(value).replace("\0", "\\x00")

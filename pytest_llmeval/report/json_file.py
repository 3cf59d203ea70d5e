"""The JSON report: one object, a line a test and a case, for other programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from pytest_llmeval.baseline import KINDS, Compared
from pytest_llmeval.gates import GateResult
from pytest_llmeval.report.metrics import MetricSummary
from pytest_llmeval.report.model import Report, Row, Totals
from pytest_llmeval.report.replies import call_under_test, replies_of, reply_of
from pytest_llmeval.store.lines import strict_json
from pytest_llmeval.types import Record

__all__ = ["FORMAT", "case_lines", "json_pieces", "render"]

#: Of the report; journals have their own. A new key doesn't change it.
FORMAT: Final = 1


def render(report: Report) -> dict[str, Any]:
    """Return the report as plain JSON types.

    ``gates`` is empty and ``comparison`` None where the run has none.
    """
    return {
        key: [*value] if isinstance(value, map) else value
        for key, value in _members(report)
    }


def json_pieces(report: Report) -> Iterator[str]:
    """Yield strict JSON with each item of the lists on a line of its own."""
    start = "{\n"
    for key, value in _members(report):
        yield f"{start}{strict_json(key)}: "
        if isinstance(value, list | map):
            yield from _list(value)
        else:
            yield strict_json(value)
        start = ",\n"
    yield "\n}\n"


def _list(values: Iterable[Any]) -> Iterator[str]:
    start = "[\n"
    for value in values:
        yield f"{start}{strict_json(value)}"
        start = ",\n"
    yield "\n]" if start == ",\n" else "[]"


def case_lines(report: Report) -> Iterator[str]:
    """Yield the cases, each as JSON on a line."""
    return (f"{strict_json(_case(record))}\n" for record in report.cases)


def _members(report: Report) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a report; the items of lists are made one at a time."""
    yield "format", FORMAT
    yield "run", dict(report.run)
    yield "totals", _totals(report.totals)
    yield "tests", map(_row, report.rows)
    yield "cases", map(_case, report.cases)
    yield "gates", map(_gate, report.gates)
    yield "comparison", report.compared and _compared(report.compared)
    yield "judge", report.judge.to_json()
    yield "repeats", report.repeats.to_json()
    yield "groups", [group.to_json() for group in report.groups]


def _gate(result: GateResult) -> dict[str, Any]:
    measured = result.measured
    interval = measured.interval if measured else None
    return {
        "gate": str(result.gate),
        "scope": result.scope,
        "state": result.state,
        "value": measured and measured.value,
        "n": measured.n if measured else 0,
        "unknown": measured.unknown if measured else 0,
        "interval": list(interval) if interval else None,
        "reason": result.reason,
    }


def _compared(compared: Compared) -> dict[str, Any]:
    comparison = compared.comparison
    return {
        "drift": [asdict(drift) for drift in comparison.drifts],
        "baseline": compared.name,
        "state": compared.decision.state,
        "reason": compared.decision.reason,
        **{
            kind: [change.case.identity for change in comparison.of(kind)]
            for kind in KINDS
        },
        "p": comparison.p,
        "compared": comparison.compared,
        "passed": list(comparison.passed),
        "changed": {
            change.case.identity: {"parts": list(change.parts), "why": change.why}
            for change in comparison.changes
            if change.parts or change.why
        },
        "metrics": [
            {
                "test": metric.test,
                "name": metric.name,
                **asdict(metric.difference),
                "p_adjusted": metric.p_adjusted,
                "higher_is_better": metric.higher_is_better,
            }
            for metric in comparison.metrics
        ],
    }


def _totals(totals: Totals) -> dict[str, Any]:
    interval = totals.interval
    return {
        **asdict(totals),
        "pass_rate": totals.pass_rate,
        "interval": list(interval) if interval else None,
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "nodeid": row.nodeid,
        "params": dict(row.params),
        "totals": _totals(row.totals),
        "metrics": {metric.name: _metric(metric) for metric in row.metrics},
        "tokens": asdict(row.tokens),
        "cost": row.cost.total,
        "cost_live": row.cost.live,
        "cost_known_calls": row.cost.known,
        "cost_calls": row.cost.calls,
        "cost_by_role": dict(row.cost.by_role),
        "p50_seconds": row.latency.p50_seconds,
        "p95_seconds": row.latency.p95_seconds,
        "live_calls_timed": row.latency.n,
        "origins": asdict(row.origins),
        "judge": row.judge.to_json(),
        "repeats": row.repeats.to_json(),
        "calibration": row.calibration and row.calibration.to_json(),
        "retries": asdict(row.retries),
    }


def _metric(metric: MetricSummary) -> dict[str, Any]:
    data = asdict(metric)
    del data["name"]
    return data


def _case(record: Record) -> dict[str, Any]:
    data = record.to_json()
    data["samples"] = [_sample(sample) for sample in record.samples]
    data["unstable"] = record.is_unstable
    data["replies"] = [{"text": text, "n": n} for text, n in replies_of(record)]
    return data


def _sample(sample: Mapping[str, Any]) -> dict[str, Any]:
    call = call_under_test(sample)
    response = (call and call["response"]) or {}
    return {
        "index": sample["index"],
        "status": sample["status"],
        "cause": sample["cause"],
        "reason": sample["reason"],
        "prompt": call and call["prompt"],
        "response": reply_of(sample),
        "origin": response.get("origin"),
        "scores": sample["checks"],
        "calls": sample["calls"],
        "attachments": sample["attachments"],
    }

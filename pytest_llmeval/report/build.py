"""From the records of a run to its report, in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_llmeval.baseline import Compared
from pytest_llmeval.calibration import Labelled, calibration_of
from pytest_llmeval.errors import UserError
from pytest_llmeval.gates import GateResult
from pytest_llmeval.report.grouping import group_rows
from pytest_llmeval.report.judges import JudgeCounter
from pytest_llmeval.report.metrics import Aggregate, MetricCounter
from pytest_llmeval.report.model import STATUSES, Report, Row, Totals
from pytest_llmeval.report.repeats import RepeatCounter
from pytest_llmeval.report.usage import UsageCounter
from pytest_llmeval.types import Group, Record

__all__ = ["build_report"]


def build_report(
    records: Iterable[Record],
    run: Mapping[str, Any],
    *,
    gates: tuple[GateResult, ...] = (),
    compared: Compared | None = None,
    aggregate: Aggregate | None = None,
    groups: Iterable[Group] = (),
) -> Report:
    """Return the report of a run.

    Args:
        records: One a case.
        run: What is known of the run itself, shown as it is.
        gates: Each with its decision.
        compared: With a baseline, if it was.
        aggregate: Puts the values of checks together that tasks have functions for.
        groups: Tests whose values are put together.

    Raises:
        UserError: A record has a status there isn't.
    """
    rows: dict[Any, _RowCounter] = {}
    overall = UsageCounter()
    judges = JudgeCounter()
    repeats = RepeatCounter()
    for record in records:
        key = record.row_key
        if key not in rows:
            rows[key] = _RowCounter(record)
        rows[key].add(record)
        overall.add_all(_calls_of(record))
        judges.add(record)
        repeats.add(record)
    statuses: Counter[str] = Counter()
    for row in rows.values():
        statuses.update(row.statuses)
    summaries = tuple(row.summary(aggregate) for row in rows.values())
    return Report(
        run=run,
        totals=_totals(statuses),
        rows=summaries,
        cases=tuple(record for row in rows.values() for record in row.records),
        tokens=overall.tokens(),
        cost=overall.cost(),
        latency=overall.latency(),
        origins=overall.origins(),
        retries=overall.retries(),
        judge=judges.summary(),
        repeats=repeats.summary(),
        gates=gates,
        compared=compared,
        groups=tuple(group_rows(groups, summaries)),
    )


class _RowCounter:
    def __init__(self, first: Record) -> None:
        self.nodeid = first.test
        self.params = dict(first.params)
        self.records: list[Record] = []
        self.statuses: Counter[str] = Counter()
        self.metrics: dict[str, MetricCounter] = {}
        self.usage = UsageCounter()
        self.judge = JudgeCounter()
        self.repeats = RepeatCounter()
        self.labelled: list[Mapping[str, Any]] = []

    def add(self, record: Record) -> None:
        if record.status not in STATUSES:
            known = ", ".join(STATUSES)
            message = (
                f"{record.nodeid} has the status {record.status!r}; there are {known}"
            )
            raise UserError(message)
        self.records.append(record)
        self.statuses[record.status] += 1
        self.usage.add_all(_calls_of(record))
        self.judge.add(record)
        self.repeats.add(record)
        if record.calibration:
            self.labelled.append(record.calibration)
        for sample in record.samples:
            for check in sample["checks"]:
                name = check["name"]
                if name not in self.metrics:
                    self.metrics[name] = MetricCounter(check)
                self.metrics[name].add(check, is_repeated=len(record.samples) > 1)

    def summary(self, aggregate: Aggregate | None) -> Row:
        return Row(
            name=self.nodeid.partition("::")[2] or self.nodeid,
            nodeid=self.nodeid,
            params=self.params,
            totals=_totals(self.statuses),
            metrics=tuple(
                metric.summary(self.nodeid, aggregate)
                for metric in self.metrics.values()
            ),
            tokens=self.usage.tokens(),
            cost=self.usage.cost(),
            latency=self.usage.latency(),
            origins=self.usage.origins(),
            retries=self.usage.retries(),
            judge=self.judge.summary(),
            repeats=self.repeats.summary(),
            calibration=calibration_of(map(Labelled.from_json, self.labelled))
            if self.labelled
            else None,
            calibrated=self.labelled[0]["judge"] if self.labelled else "",
        )


def _calls_of(record: Record) -> Iterator[Mapping[str, Any]]:
    for sample in record.samples:
        yield from sample["calls"]


def _totals(statuses: Counter[str]) -> Totals:
    return Totals(cases=statuses.total(), **statuses)

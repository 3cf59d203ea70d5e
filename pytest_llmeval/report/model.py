"""A run in numbers: what every renderer shows, computed once.

Renderers do no arithmetic. All of it is one pass over the records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import Any, Final

from pytest_llmeval.baseline import Compared
from pytest_llmeval.calibration import Calibration, Labelled, calibration_of
from pytest_llmeval.errors import UserError
from pytest_llmeval.gates import GateResult
from pytest_llmeval.report.judges import JudgeCounter, JudgeSummary
from pytest_llmeval.report.repeats import RepeatCounter, RepeatSummary
from pytest_llmeval.report.usage import (
    Cost,
    Latency,
    Origins,
    Retries,
    Tokens,
    UsageCounter,
)
from pytest_llmeval.stats import (
    mean,
    pooled,
    pooled_label,
    rate,
    wilson_interval,
)
from pytest_llmeval.types import Record

#: Puts the values of a check together by a task's own function: gets the test, the check
#: and the values, NaN for an unscored one.
Aggregate = Callable[[str, str, list[float]], float | None]

__all__ = ["STATUSES", "MetricSummary", "Report", "Row", "Totals", "build_report"]

#: What a case can have come to, in the order of a report.
STATUSES: Final = (
    "passed",
    "failed",
    "unscored",
    "gated",
    "known",
    "skipped",
    "xfailed",
    "xpassed",
    "not_run",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """How many cases came to what. `cases` is the sum of all the others."""

    cases: int = 0
    passed: int = 0
    failed: int = 0
    unscored: int = 0
    gated: int = 0
    known: int = 0
    skipped: int = 0
    xfailed: int = 0
    xpassed: int = 0
    not_run: int = 0

    @property
    def scored(self) -> int:
        """Cases with a verdict that counts: what the pass rate is a share of."""
        return self.passed + self.failed + self.gated + self.known

    @property
    def pass_rate(self) -> float | None:
        """Passed of scored, None when nothing was scored."""
        return rate(self.passed, self.scored)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the pass rate, None when nothing was scored."""
        return wilson_interval(self.passed, self.scored) if self.scored else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSummary:
    """The values of a check over the cases of a test."""

    name: str
    """Of the check; that of the metric by default."""
    metric: str
    mean: float | None
    """Of the scored checks alone; None when there are none. Of a check with another
    aggregation, the value by that."""
    n: int
    """How many checks have a value: a repeated case has one a sample."""
    unscored: int
    higher_is_better: bool
    version: int | None
    """Of the metric; None when checks of different versions stand together."""
    pooled: float | None = None
    """The value over all scored checks at once (corpus BLEU, micro F1)."""
    pooled_as: str | None = None
    """What it is called: micro, corpus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A test with one set of parameters."""

    name: str
    """The test without its file."""
    nodeid: str
    """The test with its file, without parameters."""
    params: Mapping[str, str]
    totals: Totals
    metrics: tuple[MetricSummary, ...]
    tokens: Tokens
    cost: Cost
    latency: Latency
    origins: Origins
    retries: Retries
    judge: JudgeSummary = field(default_factory=JudgeSummary)
    repeats: RepeatSummary = field(default_factory=RepeatSummary)
    calibration: Calibration | None = None
    """Of a test that holds its judge against people's labels."""
    calibrated: str = ""
    """The judge's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A run."""

    run: Mapping[str, Any]
    """What is known of the run itself."""
    totals: Totals
    rows: tuple[Row, ...]
    """In the order in which the tests were first seen."""
    cases: tuple[Record, ...]
    """Row by row, each row's in the order given."""
    tokens: Tokens
    cost: Cost
    latency: Latency
    origins: Origins
    retries: Retries
    judge: JudgeSummary = field(default_factory=JudgeSummary)
    repeats: RepeatSummary = field(default_factory=RepeatSummary)
    gates: tuple[GateResult, ...] = ()
    compared: Compared | None = None
    """With the baseline, if it was."""


def build_report(
    records: Iterable[Record],
    run: Mapping[str, Any],
    *,
    gates: tuple[GateResult, ...] = (),
    compared: Compared | None = None,
    aggregate: Aggregate | None = None,
) -> Report:
    """Return the report of a run.

    Args:
        records: One a case.
        run: What is known of the run itself, shown as it is.
        gates: Each with its decision.
        compared: With a baseline, if it was.
        aggregate: Puts the values of checks together that tasks have functions for.

    Raises:
        UserError: A record has a status there isn't.
    """
    rows: dict[Any, _RowCounter] = {}
    overall = UsageCounter()
    judges = JudgeCounter()
    repeats = RepeatCounter()
    for record in records:
        key = (record.test, *record.params.items())
        if key not in rows:
            rows[key] = _RowCounter(record)
        rows[key].add(record)
        overall.add_all(_calls_of(record))
        judges.add(record)
        repeats.add(record)
    statuses: Counter[str] = Counter()
    for row in rows.values():
        statuses.update(row.statuses)
    return Report(
        run=run,
        totals=_totals(statuses),
        rows=tuple(row.summary(aggregate) for row in rows.values()),
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
    )


class _RowCounter:
    def __init__(self, first: Record) -> None:
        self.nodeid = first.test
        self.params = dict(first.params)
        self.records: list[Record] = []
        self.statuses: Counter[str] = Counter()
        self.metrics: dict[str, _MetricCounter] = {}
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
                    self.metrics[name] = _MetricCounter(check)
                self.metrics[name].add(check)

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


class _MetricCounter:
    def __init__(self, first: Mapping[str, Any]) -> None:
        self.name = str(first["name"])
        self.metric = str(first["metric"])
        self.higher_is_better = bool(first["higher_is_better"])
        self.versions: set[int] = set()
        self.values: list[float] = []
        self.unscored = 0
        self.pools: dict[str, list[Sequence[float]]] = {}
        self.aggregation = str(first.get("aggregation", "mean"))
        self.items: list[float] = []

    def add(self, check: Mapping[str, Any]) -> None:
        self.versions.add(check["version"])
        value = check["value"]
        # An infinite value stands in JSON as its text: no mean can hold it.
        if isinstance(value, int | float):
            self.values.append(float(value))
            if pool := check.get("pool"):
                self.pools.setdefault(pool["form"], []).append(pool["counts"])
            self.items.append(float(value))
        else:
            self.unscored += 1
            self.items.append(nan)

    def summary(self, test: str, aggregate: Aggregate | None) -> MetricSummary:
        form, value = self._pooled()
        return MetricSummary(
            name=self.name,
            metric=self.metric,
            mean=self._overall(value, test, aggregate),
            n=len(self.values),
            unscored=self.unscored,
            higher_is_better=self.higher_is_better,
            version=self.versions.pop() if len(self.versions) == 1 else None,
            pooled=value,
            pooled_as=None if value is None else pooled_label(form),
        )

    def _overall(
        self, value: float | None, test: str, aggregate: Aggregate | None
    ) -> float | None:
        if self.aggregation == "mean":
            return mean(self.values)
        if self.aggregation == "pooled":
            return value
        if self.aggregation == "median":
            # The upper one of two, as lm-evaluation-harness has it.
            ranked = sorted(self.values)
            return ranked[len(ranked) // 2] if ranked else None
        return aggregate(test, self.name, self.items) if aggregate else None

    def _pooled(self) -> tuple[str, float | None]:
        """Return the value over all checks, if each that has a value brings counts."""
        if len(self.pools) != 1:
            return "", None
        ((form, counts),) = self.pools.items()
        if len(counts) != len(self.values) or len(set(map(len, counts))) > 1:
            return form, None  # checks with different options stand together
        value = pooled(form, counts)
        return form, value if value is None or isfinite(value) else None


def _calls_of(record: Record) -> Iterator[Mapping[str, Any]]:
    for sample in record.samples:
        yield from sample["calls"]


def _totals(statuses: Counter[str]) -> Totals:
    return Totals(cases=statuses.total(), **statuses)

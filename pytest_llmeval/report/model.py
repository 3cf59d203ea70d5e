"""A run in numbers: what every renderer shows, computed once (`build.py`).

Renderers do no arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_llmeval.baseline import Compared
from pytest_llmeval.calibration import Calibration
from pytest_llmeval.gates import GateResult
from pytest_llmeval.report.groups import GroupRow
from pytest_llmeval.report.judges import JudgeSummary
from pytest_llmeval.report.metrics import MetricSummary
from pytest_llmeval.report.repeats import RepeatSummary
from pytest_llmeval.report.usage import Cost, Latency, Origins, Retries, Tokens
from pytest_llmeval.stats import rate, wilson_interval
from pytest_llmeval.types import Record

__all__ = ["STATUSES", "Report", "Row", "Totals", "shown_statuses"]

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
#: Those that a table shows even when every number of them is 0.
_ALWAYS: Final = frozenset({"passed", "failed", "unscored"})


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


def shown_statuses(totals: Iterable[Totals]) -> list[str]:
    """Return the outcomes that have a column: rare ones only where there are any."""
    found = list(totals)
    return [
        status
        for status in STATUSES
        if status in _ALWAYS or any(getattr(one, status) for one in found)
    ]


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
    groups: tuple[GroupRow, ...] = ()
    """Tests whose values are put together."""

    @property
    def regressed(self) -> frozenset[str]:
        """Node ids of the cases that got worse than the baseline's."""
        if self.compared is None:
            return frozenset()
        found = self.compared.comparison.of("regressed")
        return frozenset(change.case.nodeid for change in found)

    def worst_first(self, status: str) -> list[Record]:
        """Return the cases of a status, those that got worse first."""
        worse = self.regressed
        found = [record for record in self.cases if record.status == status]
        return sorted(found, key=lambda record: record.nodeid not in worse)

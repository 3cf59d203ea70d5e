"""The values of the checks of a test, put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_llmeval.stats import Gathered

__all__ = ["Aggregate", "MetricCounter", "MetricSummary"]

#: Puts the values of a check together by a task's own function: gets the test, the
#: check, the function's name and the values, NaN for an unscored one.
Aggregate = Callable[[str, str, str, list[Any]], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSummary:
    """The values of a check over the cases of a test."""

    name: str
    """Of the check; that of the metric by default."""
    metric: str
    mean: float | None
    """Of the scored checks alone; None when there are none. Of a check with another
    aggregation, the value by that."""
    stderr: float | None
    """The standard error of `mean`, of YAML tasks in lm-evaluation-harness's format."""
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


class MetricCounter:
    """Collects the values of a check."""

    def __init__(self, first: Mapping[str, Any]) -> None:
        self.name = str(first["name"])
        self.metric = str(first["metric"])
        self.higher_is_better = bool(first["higher_is_better"])
        self.versions: set[int] = set()
        self.gathered = Gathered()

    def add(self, check: Mapping[str, Any], *, is_repeated: bool) -> None:
        """Take in the check of a sample, one of several of its case if `is_repeated`."""
        self.versions.add(check["version"])
        self.gathered.add(check, is_repeated=is_repeated)

    def summary(self, test: str, aggregate: Aggregate | None) -> MetricSummary:
        """Return what the values say together; `aggregate` is asked for a task's own."""
        gathered = self.gathered
        pooled, label = gathered.pooled()
        combine = aggregate and partial(aggregate, test, self.name)
        return MetricSummary(
            name=self.name,
            metric=self.metric,
            mean=gathered.overall(combine),
            stderr=gathered.error(),
            n=gathered.n,
            unscored=gathered.unscored,
            higher_is_better=self.higher_is_better,
            version=self.versions.pop() if len(self.versions) == 1 else None,
            pooled=pooled,
            pooled_as=label,
        )

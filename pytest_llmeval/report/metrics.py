"""The values of the checks of a test, put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

from pytest_llmeval.stats import mean, pooled, pooled_label

__all__ = ["Aggregate", "MetricCounter", "MetricSummary"]

#: Puts the values of a check together by a task's own function: gets the test, the check
#: and the values, NaN for an unscored one.
Aggregate = Callable[[str, str, list[float]], float | None]


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


class MetricCounter:
    """Collects the values of a check."""

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
        """Take in the check of a sample."""
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
        """Return what the values say together; `aggregate` is asked for a task's own."""
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

"""Measuring what a group of tests comes to."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.gates._measure import measure
from pytest_llmeval.gates._measured import Measured
from pytest_llmeval.stats import weighted_mean
from pytest_llmeval.types import Group, Record

__all__ = ["measure_group"]


def measure_group(name: str, group: Group, records: Sequence[Record]) -> Measured:
    """Return a check over the tests of a group that have it.

    Args:
        name: Of the check, ``acc,none``.
        group: Says whether tests count by their cases.
        records: The cases of its tests.

    Raises:
        ConfigError: No test has such a check.
    """
    metric, _, filtered = name.partition(",")
    by_size = any(
        one.weight_by_size
        for one in group.metrics
        if one.metric == metric and (one.filters is None or filtered in one.filters)
    )
    found = [
        measure(name, [record for record in records if record.test == test])
        for test in group.tests
        if any(_may_have(record, name) for record in records if record.test == test)
    ]
    if not found:
        raise ConfigError(f"no test of the group has a check named {name!r}")
    sizes = [one.n + one.unknown if by_size else 1 for one in found]
    return Measured(
        value=_mean([one.value for one in found], sizes),
        low=_bound([one.low for one in found], sizes),
        high=_bound([one.high for one in found], sizes),
        n=sum(one.n for one in found),
        unknown=sum(one.unknown for one in found),
    )


def _may_have(record: Record, name: str) -> bool:
    """Return whether a case has the check, or never came to its checks."""
    if record.status == "unscored":
        return True
    checks = (check for sample in record.samples for check in sample["checks"])
    return any(check["name"] == name for check in checks)


def _mean(values: Sequence[float | None], sizes: Sequence[int]) -> float | None:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    return weighted_mean(known, sizes)


def _bound(values: Sequence[float], sizes: Sequence[int]) -> float:
    mean = weighted_mean(values, sizes)
    return nan if mean is None else mean

"""From the rows of a report to those of its groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_llmeval.report.groups import GroupRow, GroupValue
from pytest_llmeval.report.metrics import MetricSummary
from pytest_llmeval.report.model import Row
from pytest_llmeval.stats import weighted_error, weighted_mean
from pytest_llmeval.types import Group, GroupMetric

__all__ = ["group_rows"]


def group_rows(groups: Iterable[Group], rows: Sequence[Row]) -> Iterator[GroupRow]:
    """Yield the rows of groups, one for each set of parameters that their tests have.

    Source: lm_eval.api.group 0.4.13.
    """
    for group in groups:
        of_params: dict[tuple[tuple[str, str], ...], list[Row]] = {}
        for row in rows:
            if row.nodeid in group.tests:
                of_params.setdefault(tuple(row.params.items()), []).append(row)
        for params, found in of_params.items():
            yield GroupRow(
                name=group.name,
                alias=group.alias,
                params=dict(params),
                tests=tuple(row.nodeid for row in found),
                values=tuple(
                    value
                    for metric in group.metrics
                    for value in _values(metric, found)
                ),
            )


def _values(metric: GroupMetric, rows: Sequence[Row]) -> Iterator[GroupValue]:
    for name in _names(metric, rows):
        found = [
            (one, _size(row)) for row in rows for one in row.metrics if one.name == name
        ]
        if any(one.mean is None for one, _ in found) or not found:
            continue  # of a test without a value the others say nothing
        yield _value(name, metric, found)


def _value(
    name: str, metric: GroupMetric, found: Sequence[tuple[MetricSummary, int]]
) -> GroupValue:
    sizes = [size for _, size in found]
    weights = sizes if metric.weight_by_size else [1] * len(sizes)
    means = [one.mean for one, _ in found if one.mean is not None]
    mean = weighted_mean(means, weights)
    assert mean is not None
    return GroupValue(
        name=name,
        mean=mean,
        stderr=weighted_error(
            [one.stderr for one, _ in found], sizes, by_size=metric.weight_by_size
        ),
        n=sum(sizes),
        tests=len(found),
        higher_is_better=all(one.higher_is_better for one, _ in found),
    )


def _names(metric: GroupMetric, rows: Sequence[Row]) -> list[str]:
    """Return the names of the checks that a metric stands for, with the filters."""
    if metric.filters is not None:
        return [f"{metric.metric},{name}" for name in metric.filters]
    names = {one.name for row in rows for one in row.metrics}
    return sorted(name for name in names if name.startswith(f"{metric.metric},"))


def _size(row: Row) -> int:
    """Return how many rows a test has, scored or with no number."""
    return max((one.n + one.unscored for one in row.metrics), default=0)

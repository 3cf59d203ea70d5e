"""Groups of tests whose values are put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetric:
    """What a group puts together of its tests."""

    metric: str
    """The part of a check's name before the comma: acc of ``acc,none``."""
    filters: tuple[str, ...] | None = None
    """The parts after it; None for each that a test has."""
    weight_by_size: bool = True
    """Whether a test counts by its cases; else all count alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Tests whose values are put together."""

    name: str
    alias: str
    """What people read."""
    tests: tuple[str, ...]
    """The node ids of the tests, without their cases."""
    metrics: tuple[GroupMetric, ...] = ()
    gates: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {
            "name": self.name,
            "alias": self.alias,
            "tests": list(self.tests),
            "metrics": [asdict(metric) for metric in self.metrics],
            "gates": list(self.gates),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild it from the data of `to_json`."""
        metrics = tuple(
            GroupMetric(**{**one, "filters": one["filters"] and tuple(one["filters"])})
            for one in data["metrics"]
        )
        return cls(
            name=data["name"],
            alias=data["alias"],
            tests=tuple(data["tests"]),
            metrics=metrics,
            gates=tuple(data["gates"]),
        )

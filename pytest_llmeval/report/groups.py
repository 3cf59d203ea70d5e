"""What the tests of a group come to together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["GroupRow", "GroupValue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupValue:
    """A check over the tests of a group."""

    name: str
    """``acc,none``."""
    mean: float
    stderr: float | None
    n: int
    """Cases of the tests that have it."""
    tests: int
    """How many do."""
    higher_is_better: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """A group with one set of parameters."""

    name: str
    alias: str
    params: Mapping[str, str]
    tests: tuple[str, ...]
    """Node ids, without cases."""
    values: tuple[GroupValue, ...]

    @property
    def label(self) -> str:
        """The group with its parameters, for people."""
        params = ", ".join(self.params.values())
        return f"{self.alias}[{params}]" if params else self.alias

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        values = {one.name: asdict(one) for one in self.values}
        for value in values.values():
            del value["name"]
        return {
            "name": self.name,
            "alias": self.alias,
            "params": dict(self.params),
            "tests": list(self.tests),
            "metrics": values,
        }

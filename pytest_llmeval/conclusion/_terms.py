"""What a run is held to besides its single checks, and how pytest ended it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from pytest_llmeval.baseline import Baseline

__all__ = ["Ended", "Terms"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a run is held to besides its single checks."""

    gates: tuple[str, ...] = ()
    """Of llmeval.yaml: on the run, or on a tag."""
    baseline: Baseline | None = None
    fail_on: str = "any"
    """What fails a comparison, one of `baseline.FAIL_ON`."""
    allow_missing: bool = False
    max_unscored: int = 0
    require: int | str | None = None
    """A number of cases, or "all"."""
    budget: float | None = None
    """US dollars."""
    fail_on_unstable: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {
            **values,
            "gates": list(self.gates),
            "baseline": self.baseline and self.baseline.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], shown: str) -> Self:
        """Rebuild it from the data of `to_json`.

        Args:
            data: As read.
            shown: The file's name, for error texts.

        Raises:
            UserError: The baseline is not whole.
            TypeError: There is something else in it.
        """
        baseline, require = data.get("baseline"), data.get("require")
        if isinstance(require, str) and require != "all":
            message = f"require is {require!r:.60}"
            raise TypeError(message)
        parts = {
            "gates": tuple(data.get("gates", ())),
            "baseline": None
            if baseline is None
            else Baseline.from_json(baseline, shown),
        }
        return cls(**{**data, **parts})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How pytest ended a session, before its evaluations are weighed."""

    status: int = 0
    """pytest's exit status."""
    failed: int = 0
    """Tests it counts as failed, unscored ones and those of others included; not those
    that a gate or the baseline holds."""
    is_cut: bool = False
    """Stopped early, by -x and the like: what did not run might have failed."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return asdict(self)

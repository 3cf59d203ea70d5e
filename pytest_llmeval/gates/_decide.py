"""Deciding gates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_llmeval.gates._measure import Measured, measure
from pytest_llmeval.gates._read import Gate
from pytest_llmeval.types import Record

__all__ = ["GateResult", "State", "decided", "evaluate"]

State = Literal["holds", "fails", "undecided", "not evaluated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """A gate, decided or not."""

    gate: Gate
    state: State
    scope: str = ""
    """What it is about: a test, ``tag geo``, ``the run``."""
    measured: Measured | None = None
    reason: str = ""
    """Why it is undecided or not evaluated."""

    @property
    def breaks(self) -> bool:
        """Whether the run must not pass because of it."""
        return self.state in {"fails", "undecided"}


def evaluate(gate: Gate, records: Sequence[Record], *, scope: str = "") -> GateResult:
    """Return whether a gate holds for these cases.

    Args:
        gate: The bar.
        records: Every case it is about, ended.
        scope: What it is about, for the report.

    Raises:
        ConfigError: No case has a check of that name.
    """
    return decided(gate, measure(gate.name, records), scope=scope)


def decided(gate: Gate, measured: Measured, *, scope: str = "") -> GateResult:
    """Return whether a gate holds, whatever the unknown values are.

    Args:
        gate: The bar.
        measured: The quantity.
        scope: What it is about, for the report.
    """
    at_worst, at_best = (
        (measured.low, measured.high)
        if gate.operator == ">="
        else (measured.high, measured.low)
    )
    reason = ""
    state: State = "undecided"
    if measured.value is None:
        reason = "not measured"
    elif gate.holds(at_worst):
        state = "holds"
    elif not gate.holds(at_best):
        state = "fails"
    else:
        reason = f"{measured.unknown} unknown decides"
    return GateResult(
        gate=gate, state=state, scope=scope, measured=measured, reason=reason
    )

"""Gates: bars for a whole test, a tag or the run, written as ``pass_rate >= 0.9``.

A gate holds only if it would hold with every unscored case as the worst, and fails only
if it would fail with every one as the best; in between nothing can be said.
"""

from __future__ import annotations

from pytest_llmeval.gates._decide import GateResult, decided, evaluate
from pytest_llmeval.gates._estimates import refuse_too_few
from pytest_llmeval.gates._groups import measure_group
from pytest_llmeval.gates._measure import Measured, measure, measured_of
from pytest_llmeval.gates._read import (
    QUANTITIES,
    Gate,
    asks_for_estimate,
    calibration_gate,
    parse_gate,
    scoped_gate,
)

__all__ = [
    "QUANTITIES",
    "Gate",
    "GateResult",
    "Measured",
    "asks_for_estimate",
    "calibration_gate",
    "decided",
    "evaluate",
    "measure",
    "measure_group",
    "measured_of",
    "parse_gate",
    "refuse_too_few",
    "scoped_gate",
]

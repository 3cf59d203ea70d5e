"""Baselines: how cases stood before, and a run held against them."""

from __future__ import annotations

from pytest_llmeval.baseline._compare import (
    KINDS,
    Change,
    Comparison,
    MetricChange,
    compare,
)
from pytest_llmeval.baseline._decide import FAIL_ON, Compared, Decision, decide
from pytest_llmeval.baseline._drift import Drift, Snapshot
from pytest_llmeval.baseline._file import Baseline, parse_baseline, write_baseline
from pytest_llmeval.baseline._git import head_commit
from pytest_llmeval.baseline._source import NoBaseline, baseline_path, find_baseline
from pytest_llmeval.baseline._standing import SCORED, Standing, Value, standing_of

__all__ = [
    "FAIL_ON",
    "KINDS",
    "SCORED",
    "Baseline",
    "Change",
    "Compared",
    "Comparison",
    "Decision",
    "Drift",
    "MetricChange",
    "NoBaseline",
    "Snapshot",
    "Standing",
    "Value",
    "baseline_path",
    "compare",
    "decide",
    "find_baseline",
    "head_commit",
    "parse_baseline",
    "standing_of",
    "write_baseline",
]

"""Baselines: how cases stood before, and a run held against them."""

from __future__ import annotations

from pytest_llmeval.baseline._compare import (
    KINDS,
    Change,
    Comparison,
    MetricChange,
    compare,
)
from pytest_llmeval.baseline._standing import Standing, Value, standing_of

__all__ = [
    "KINDS",
    "Change",
    "Comparison",
    "MetricChange",
    "Standing",
    "Value",
    "compare",
    "standing_of",
]

"""Every number of a report: means, rates, their intervals, quantiles, their texts."""

from __future__ import annotations

from pytest_llmeval.stats._rates import mean, quantile, rate, wilson_interval
from pytest_llmeval.stats._texts import (
    interval_text,
    money_text,
    number_text,
    percent_text,
    seconds_text,
)

__all__ = [
    "interval_text",
    "mean",
    "money_text",
    "number_text",
    "percent_text",
    "quantile",
    "rate",
    "seconds_text",
    "wilson_interval",
]

"""Every number that is computed, and numbers as texts."""

from __future__ import annotations

from pytest_llmeval.stats._aggregates import AGGREGATIONS, aggregated, standard_error
from pytest_llmeval.stats._agreement import Agreement, agreement_of, disagreement
from pytest_llmeval.stats._gathered import Combine, Gathered
from pytest_llmeval.stats._paired import (
    Difference,
    holm,
    losses_to_show,
    mcnemar_exact,
    paired_bootstrap,
)
from pytest_llmeval.stats._pooled import pooled, pooled_label
from pytest_llmeval.stats._rates import mean, quantile, rate, wilson_interval
from pytest_llmeval.stats._repeats import (
    pass_at_k,
    pass_hat_k,
    samples_needed,
    settled,
)
from pytest_llmeval.stats._texts import (
    interval_text,
    money_text,
    number_text,
    percent_text,
    seconds_text,
)
from pytest_llmeval.stats._weighted import weighted_error, weighted_mean

__all__ = [
    "AGGREGATIONS",
    "Agreement",
    "Combine",
    "Difference",
    "Gathered",
    "aggregated",
    "agreement_of",
    "disagreement",
    "holm",
    "interval_text",
    "losses_to_show",
    "mcnemar_exact",
    "mean",
    "money_text",
    "number_text",
    "paired_bootstrap",
    "pass_at_k",
    "pass_hat_k",
    "percent_text",
    "pooled",
    "pooled_label",
    "quantile",
    "rate",
    "samples_needed",
    "seconds_text",
    "settled",
    "standard_error",
    "weighted_error",
    "weighted_mean",
    "wilson_interval",
]

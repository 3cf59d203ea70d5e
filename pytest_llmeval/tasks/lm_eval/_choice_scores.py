"""The metrics of rows with choices, of how likely the model holds each.

Source: lm_eval.api.task, 0.4.13.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.tasks.lm_eval._plan import Plan
from pytest_llmeval.tasks.lm_eval._scores import Metric, scored
from pytest_llmeval.types import Likelihood, Score

__all__ = ["choice_scores", "choices_asked"]


def choices_asked(plan: Plan, metrics: Sequence[Metric]) -> list[tuple[str, str]]:
    """Return the questions of a row, those without context last."""
    asked = list(zip(plan.contexts, plan.continuations, strict=True))
    if any(metric.name == "acc_mutual_info" for metric in metrics):
        asked += [("", text) for text in plan.alone]
    return asked


def choice_scores(
    wanted: Sequence[Metric], found: Sequence[Likelihood], plan: Plan
) -> list[tuple[Metric, Score]]:
    """Return the scores of a row with choices, in the order of `wanted`.

    Args:
        wanted: The metrics.
        found: Of each choice; those without the context after them.
        plan: Of the row: its choices, and which are right.

    Raises:
        UnscoredError: The model does not say what a metric needs.
    """
    return [(metric, _choice(metric, found, plan)) for metric in wanted]


def _choice(metric: Metric, found: Sequence[Likelihood], plan: Plan) -> Score:
    choices, gold = plan.choices, plan.gold
    values = [one.logprob for one in found[: len(choices)]]
    if metric.name == "brier_score":
        shares = _softmax(values)
        parts = (
            (share - (index == gold[0])) ** 2 for index, share in enumerate(shares)
        )
        return scored(metric, fsum(parts), item=[gold[0], shares])
    if metric.name == "likelihood":
        return scored(metric, _softmax(values)[gold[0]], item=[gold[0], values])
    if metric.name == "exact_match":
        greedy = [found[index].is_greedy for index in gold]
        if any(one is None for one in greedy):
            message = "the model does not say whether a choice is what it would write"
            raise UnscoredError(message, cause="provider")
        return scored(metric, float(any(greedy)))
    if metric.name in {"f1", "mcc"}:
        best = _best(values)
        return scored(metric, float(best in gold), item=[gold[0], best])
    return scored(
        metric, float(_best(_compared(metric, values, found, choices)) in gold)
    )


def _compared(
    metric: Metric,
    values: list[float],
    found: Sequence[Likelihood],
    choices: Sequence[str],
) -> list[float]:
    """Return what the choice of a metric is the greatest of."""
    if metric.name == "acc_norm":
        return [v / len(c) for v, c in zip(values, choices, strict=True)]
    if metric.name == "acc_bytes":
        return [v / len(c.encode()) for v, c in zip(values, choices, strict=True)]
    if metric.name == "acc_mutual_info":
        alone = found[len(choices) :]
        return [v - one.logprob for v, one in zip(values, alone, strict=True)]
    return values


def _best(values: Sequence[float]) -> int:
    return max(range(len(values)), key=lambda index: (values[index], -index))


def _softmax(values: Sequence[float]) -> list[float]:
    powers = [exp(value - max(values)) for value in values]
    return [power / fsum(powers) for power in powers]

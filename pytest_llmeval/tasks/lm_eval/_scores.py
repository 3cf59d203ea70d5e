"""The metrics of task files, by lm-evaluation-harness's names and scales.

Sources: lm_eval.api.metrics and lm_eval.api.task, 0.4.13.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, fsum, inf, isnan, log
from typing import Any, Final

from pytest_llmeval import metrics
from pytest_llmeval.errors import UnscoredError, UserError
from pytest_llmeval.types import Likelihood, Pool, Score

__all__ = ["Metric", "choice_scores", "choices_asked", "text_score", "value_score"]

#: Where a metric comes with a scale of its own.
_ERRORS: Final = "ter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """An entry of metric_list."""

    name: str
    higher_is_better: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    function: Callable[..., Any] | None = None
    """The task's own, in place of a known one."""
    aggregation: str = "mean"
    """mean, median, or the name of the task's own function."""
    combine: Callable[[list[float]], Any] | None = None
    """That function."""


def value_score(
    metric: Metric, value: Any, *, pool: Pool | None = None, item: Any = None
) -> Score:
    """Return a number as a score; NaN says that there is none.

    Args:
        metric: Whose.
        value: The number.
        pool: What of it is added up over rows.
        item: What lm-evaluation-harness keeps of a row in place of a number.

    Raises:
        UnscoredError: It is no number.
    """
    plain = getattr(value, "item", None)
    value = plain() if callable(plain) else value
    if not isinstance(value, int | float):
        message = f"{metric.name} is {value!r:.60}, and a metric's value is a number"
        raise UnscoredError(message, cause="application")
    has_value = not isnan(value)
    return Score(
        metric=metric.name,
        value=float(value) if has_value else None,
        reason="" if has_value else "the task gives no value (NaN)",
        cause=None if has_value else "data",
        low=-inf,
        high=inf,
        higher_is_better=metric.higher_is_better,
        pool=pool,
        details={} if item is None else {"item": item},
    )


def text_score(metric: Metric, text: Any, gold: Any) -> Score:
    """Return the score of an answer; of several targets one that is met is enough.

    Raises:
        UnscoredError: The metric can't be had of this.
    """
    golds = gold if isinstance(gold, list) else [gold]
    if not golds:
        message = "doc_to_target gives an empty list: nothing is expected"
        raise UnscoredError(message, cause="data")
    if metric.function is None:
        score = _known(metric, text, [str(one) for one in golds])
        return score
    # Each target is tried with the answer itself, whatever stands before in the list.
    values = [_called(metric, text, one) for one in golds]
    if isinstance(gold, list):
        return value_score(metric, float(any(values)))
    return value_score(metric, values[0])


def _known(metric: Metric, text: Any, golds: list[str]) -> Score:
    try:
        if metric.name in {"bleu", "chrf", "ter"}:
            return _percent(metric, metrics.score(metric.name, str(text), golds[0]))
        return metrics.score(metric.name, str(text), golds, **metric.options)
    except UserError as exc:
        raise UnscoredError(str(exc), cause="suite") from exc


def _percent(metric: Metric, score: Score) -> Score:
    """Return a score on sacrebleu's own scale, 0 to 100."""
    pool = score.pool
    value = None if score.value is None else 100 * score.value
    return value_score(
        metric,
        float("nan") if value is None else value,
        pool=pool and Pool(form=f"{pool.form}%", counts=pool.counts),
    )


def _called(metric: Metric, text: Any, gold: Any) -> Any:
    function = metric.function
    assert function is not None
    try:
        found = function(references=[gold], predictions=[text], **metric.options)
    except Exception as exc:
        message = f"{metric.name} raised {type(exc).__name__}: {exc}"
        raise UnscoredError(message, cause="application") from exc
    return found.get(metric.name) if isinstance(found, Mapping) else found


def choices_asked(
    contexts: Sequence[str], continuations: Sequence[str], *, alone: bool
) -> list[tuple[str, str]]:
    """Return the questions of a row with choices, those without context last."""
    asked = list(zip(contexts, continuations, strict=True))
    return asked + [("", text) for text in continuations if alone]


def choice_scores(
    wanted: Sequence[Metric],
    found: Sequence[Likelihood],
    choices: Sequence[str],
    gold: Sequence[int],
) -> list[Score]:
    """Return the scores of a row with choices, in the order of `wanted`.

    Args:
        wanted: The metrics.
        found: Of each choice; those without the context after them.
        choices: Their texts, without the delimiter.
        gold: The right ones, by position.

    Raises:
        UnscoredError: The model does not say what a metric needs.
    """
    values = [one.logprob for one in found[: len(choices)]]
    return [_choice(metric, values, found, choices, gold) for metric in wanted]


def _choice(
    metric: Metric,
    values: list[float],
    found: Sequence[Likelihood],
    choices: Sequence[str],
    gold: Sequence[int],
) -> Score:
    if metric.name == "brier_score":
        shares = _softmax(values)
        parts = (
            (share - (index == gold[0])) ** 2 for index, share in enumerate(shares)
        )
        return value_score(metric, fsum(parts), item=[gold[0], shares])
    if metric.name == "likelihood":
        return value_score(metric, _softmax(values)[gold[0]])
    if metric.name == "exact_match":
        greedy = [found[index].is_greedy for index in gold]
        if any(one is None for one in greedy):
            message = "the model does not say whether a choice is what it would write"
            raise UnscoredError(message, cause="provider")
        return value_score(metric, float(any(greedy)))
    if metric.name == "f1":
        best = _best(values)
        counts = (
            float(best == 1 == gold[0]),
            float(best == 1 != gold[0]),
            float(best != 1 == gold[0]),
        )
        return value_score(
            metric,
            float(best == gold[0]),
            pool=Pool(form="f1", counts=counts),
            item=[gold[0], best],
        )
    compared = {
        "acc": values,
        "acc_norm": [v / len(c) for v, c in zip(values, choices, strict=True)],
        "acc_bytes": [
            v / len(c.encode()) for v, c in zip(values, choices, strict=True)
        ],
        "acc_mutual_info": [
            v - alone.logprob
            for v, alone in zip(values, found[len(choices) :], strict=False)
        ],
    }[metric.name]
    return value_score(metric, float(_best(compared) in gold))


def _best(values: Sequence[float]) -> int:
    return max(range(len(values)), key=lambda index: (values[index], -index))


def _softmax(values: Sequence[float]) -> list[float]:
    powers = [exp(value - max(values)) for value in values]
    return [power / fsum(powers) for power in powers]


def perplexity_score(metric: Metric, found: Likelihood, text: str) -> Score:
    """Return a score of one text's likelihood.

    Raises:
        UnscoredError: The text has nothing to be counted.
    """
    if metric.name == "acc":
        if found.is_greedy is None:
            message = "the model does not say whether the target is what it would write"
            raise UnscoredError(message, cause="provider")
        return value_score(metric, float(found.is_greedy))
    units = {
        "perplexity": 1,
        "word_perplexity": len(re.split(r"\s+", text)),
        "byte_perplexity": len(text.encode()),
        "bits_per_byte": len(text.encode()),
    }[metric.name]
    if not units:
        raise UnscoredError("an empty text has no bytes to count", cause="data")
    rate = -found.logprob / units
    counts = (found.logprob, float(units))
    item = found.logprob if metric.name == "perplexity" else [found.logprob, units]
    if metric.name == "bits_per_byte":
        return value_score(
            metric, rate / log(2), pool=Pool(form="bits", counts=counts), item=item
        )
    try:
        value = exp(rate)
    except OverflowError as exc:
        message = "the model holds the text for all but impossible: its perplexity has "
        raise UnscoredError(f"{message}no number", cause="data") from exc
    pool = Pool(form="exp_rate", counts=counts)
    return value_score(metric, value, pool=pool, item=item)

"""The metrics of task files, by lm-evaluation-harness's names and scales.

Sources: lm_eval.api.metrics and lm_eval.api.task, 0.4.13.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, inf, isnan, log, nan
from typing import Any, Final

from pytest_llmeval import metrics
from pytest_llmeval.errors import UnscoredError, UserError
from pytest_llmeval.stats import AGGREGATIONS, aggregated
from pytest_llmeval.types import Likelihood, Pool, Score

__all__ = [
    "CORPUS",
    "Metric",
    "no_score",
    "perplexity_score",
    "scored",
    "text_scores",
    "value_score",
]

#: Metrics of all rows' texts at once: ours, with these options.
CORPUS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "bleu": ("bleu", {}),
    "chrf": ("chrf", {}),
    "chrf++": ("chrf", {"word_order": 2}),
    "ter": ("ter", {}),
}
_OF_NUMBERS: Final = frozenset({"mean", "nanmean", "median"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """An entry of metric_list."""

    name: str
    higher_is_better: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    function: Callable[..., Any] | None = None
    """The task's own, in place of a known one."""
    aggregation: str = "mean"
    """One of `stats.AGGREGATIONS`, a key of `CORPUS`, or the task's own function."""
    combine: Callable[[list[Any]], Any] | None = None
    """That function."""
    zero_as: float = 0.0
    """What a value of 0 counts as."""
    low: float = -inf
    """The ends of its scale."""
    high: float = inf

    @property
    def is_per_row(self) -> bool:
        """Whether a metric of all rows' texts is had of each row alone, from 0 to 1."""
        return self.name in CORPUS and self.aggregation in _OF_NUMBERS

    @property
    def keeps_items(self) -> bool:
        """Whether rows are put together from something other than their values."""
        return self.aggregation not in {*_OF_NUMBERS, *CORPUS}


def value_score(metric: Metric, value: Any) -> Score:
    """Return what process_results, or a function, gives for a metric as a score.

    A number is the score's value, unless the aggregation makes another of it; what
    else the aggregation takes has a value where it makes one of it alone. NaN says
    that there is none.

    Raises:
        UnscoredError: It is nothing that the aggregation takes.
    """
    value = _plain(value)
    if metric.aggregation in CORPUS and _is_pair_of_texts(value):
        return corpus_score(metric, value[1], [value[0]])
    if _is_number(value):
        if metric.combine is not None or metric.aggregation in {*_OF_NUMBERS, *CORPUS}:
            return scored(metric, float(value))
        return scored(metric, _alone(metric, float(value)), item=float(value))
    if not metric.keeps_items or value is None:
        message = f"{metric.name} is {value!r:.60}, and a metric's value is a number"
        raise UnscoredError(message, cause="application")
    alone = nan if metric.combine is not None else _alone(metric, value)
    return scored(metric, alone, item=value)


def scored(
    metric: Metric, value: float, *, pool: Pool | None = None, item: Any = None
) -> Score:
    """Return a value as a score.

    Args:
        metric: Whose.
        value: The number; NaN says that there is none.
        pool: What of it is added up over rows.
        item: What lm-evaluation-harness keeps of a row in place of a number.
    """
    has_value = not isnan(value)
    known = has_value or item is not None
    return Score(
        metric=metric.name,
        value=value if has_value else None,
        reason="" if known else "the task gives no value (NaN)",
        cause=None if known else "data",
        low=metric.low,
        high=metric.high,
        higher_is_better=metric.higher_is_better,
        pool=pool,
        details={} if item is None else {"item": item},
    )


def no_score(metric: Metric, reason: str) -> Score:
    """Return that a row has no value, and why."""
    return replace(scored(metric, nan), reason=reason)


def _alone(metric: Metric, item: Any) -> float:
    """Return what the aggregation makes of one row."""
    if metric.aggregation not in AGGREGATIONS:
        return nan
    try:
        value = aggregated(metric.aggregation, [item])
    except (TypeError, ValueError) as exc:
        message = (
            f"{metric.name} is {item!r:.60}, which {metric.aggregation} can't take"
        )
        raise UnscoredError(message, cause="application") from exc
    return nan if value is None else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _is_pair_of_texts(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(one, str) for one in value)
    )


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: code of tasks gives numbers and lists of numpy's."""
    if isinstance(value, str | int | float) or value is None:
        return value
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    tolist = getattr(value, "tolist", None)
    return tolist() if callable(tolist) else value


def text_scores(metric: Metric, text: Any, gold: Any) -> list[tuple[Metric, Score]]:
    """Return the scores of an answer; of several targets one that is met is enough.

    A function may give several metrics at once.

    Raises:
        UnscoredError: The metric can't be had of this.
    """
    golds = gold if isinstance(gold, list) else [gold]
    if not golds:
        message = "doc_to_target gives an empty list: nothing is expected"
        raise UnscoredError(message, cause="data")
    if metric.function is None:
        return [(metric, _known(metric, text, [str(one) for one in golds]))]
    # Each target is tried with the answer itself, whatever stands before in the list.
    found = [_called(metric, text, one) for one in golds]
    if isinstance(gold, list):
        values = [one.get(metric.name) if isinstance(one, Mapping) else one
                  for one in found]  # fmt: skip
        return [(metric, _any_met(metric, values))]
    if isinstance(found[0], Mapping):
        named = [(replace(metric, name=str(n)), v) for n, v in found[0].items()]
        return [(one, value_score(one, value)) for one, value in named]
    return [(metric, value_score(metric, found[0]))]


def _any_met(metric: Metric, values: Sequence[Any]) -> Score:
    """Return whether one of several targets is met.

    Raises:
        UnscoredError: None is known to be, and of one nothing is said.
    """
    plain = [_plain(value) for value in values]
    unknown = [v for v in plain if v is None or v != v]  # NaN differs from itself
    if any(v for v in plain if v == v):
        return value_score(metric, 1.0)
    return value_score(metric, unknown[0] if unknown else 0.0)


def _known(metric: Metric, text: Any, golds: list[str]) -> Score:
    try:
        if metric.is_per_row:
            return _row_score(metric, str(text), golds)
        if metric.name in CORPUS:
            return corpus_score(metric, str(text), golds)
        found = metrics.score(metric.name, str(text), golds, **metric.options)
        return replace(found, higher_is_better=metric.higher_is_better)
    except UserError as exc:
        raise UnscoredError(str(exc), cause="suite") from exc


def _row_score(metric: Metric, text: str, golds: list[str]) -> Score:
    """Return the score of one row, on the scale of the metric of ours."""
    ours, options = CORPUS[metric.name]
    found = metrics.score(ours, text, golds, **{**options, **metric.options})
    if found.value is None or not text.strip():
        return no_score(metric, found.reason or "a blank reply has no words to count")
    return scored(metric, found.value or metric.zero_as)


def corpus_score(metric: Metric, text: str, golds: list[str]) -> Score:
    """Return a score on sacrebleu's own scale, 0 to 100."""
    name = metric.name if metric.name in CORPUS else metric.aggregation
    ours, options = CORPUS[name]
    score = metrics.score(ours, text, golds, **options)
    pool = score.pool
    return scored(
        metric,
        nan if score.value is None else 100 * score.value,
        pool=pool and Pool(form=f"{pool.form}%", counts=pool.counts),
        item=[golds[0], text],
    )


def _called(metric: Metric, text: Any, gold: Any) -> Any:
    function = metric.function
    assert function is not None
    try:
        try:
            return function(references=[gold], predictions=[text], **metric.options)
        except TypeError as exc:
            return _called_with_pair(function, gold, text, exc)
    except Exception as exc:
        message = f"{metric.name} raised {type(exc).__name__}: {exc}"
        raise UnscoredError(message, cause="application") from exc


def _called_with_pair(
    function: Callable[..., Any], gold: Any, text: Any, first: TypeError
) -> Any:
    """Call a function in the form that lm-evaluation-harness's own metrics have."""
    try:
        return function([gold, text])
    except Exception:  # noqa: BLE001 - it was none of that form
        raise first from None


def perplexity_score(metric: Metric, found: Likelihood, text: str) -> Score:
    """Return a score of one text's likelihood.

    Raises:
        UnscoredError: The text has nothing to be counted.
    """
    if metric.name == "acc":
        if found.is_greedy is None:
            message = "the model does not say whether the target is what it would write"
            raise UnscoredError(message, cause="provider")
        return scored(metric, float(found.is_greedy))
    units = {
        "perplexity": 1,
        "word_perplexity": len(re.split(r"\s+", text)),
        "byte_perplexity": len(text.encode()),
        "bits_per_byte": len(text.encode()),
    }[metric.name]
    if not units:
        raise UnscoredError("an empty text has no bytes to count", cause="data")
    rate = -found.logprob / units
    item = found.logprob if metric.name == "perplexity" else [found.logprob, units]
    if metric.name == "bits_per_byte":
        return scored(metric, rate / log(2), item=item)
    try:
        return scored(metric, exp(rate), item=item)
    except OverflowError as exc:
        message = "the model holds the text for all but impossible: its perplexity has "
        raise UnscoredError(f"{message}no number", cause="data") from exc

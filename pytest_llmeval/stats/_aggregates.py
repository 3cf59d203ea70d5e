"""One value of all rows, by lm-evaluation-harness's aggregations, and its standard error.

Source: lm_eval.api.metrics 0.4.13. A correlation and F1 are scikit-learn's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import exp, fsum, inf, isnan, log, nan, sqrt
from random import Random
from typing import Any, Final

from pytest_llmeval.stats._pooled import pooled

__all__ = ["AGGREGATIONS", "aggregated", "standard_error"]

#: Resamples are drawn in parts of so many, each from a generator of its own.
_PART: Final = 1000


def aggregated(name: str, items: Sequence[Any]) -> float | None:
    """Return the value of an aggregation over the items of rows, None where it has none.

    Args:
        name: One of `AGGREGATIONS`.
        items: One a row: numbers; pairs for ``weighted_perplexity`` and
            ``bits_per_byte`` (log-probability, units), ``f1`` and ``matthews_corrcoef``
            (right, chosen), ``brier_score`` (right, shares); a form and counts of
            `pooled` for ``pooled``.
    """
    if not items:
        return None
    value = AGGREGATIONS[name](items)
    return None if value is None or isnan(value) else value


def standard_error(name: str, items: Sequence[Any], resamples: int) -> float | None:
    """Return how far a value would stray over other rows, None where that is not known.

    Of a mean it follows from the spread of the rows; of others from drawing the rows
    anew, with replacement, by fixed seeds; of some there is no estimate.

    Args:
        name: One of `AGGREGATIONS`.
        items: As for `aggregated`.
        resamples: How often rows are drawn anew; 0 asks for no estimate.
    """
    if len(items) < 2 or resamples < 1:
        return None
    if name == "mean":
        found = _deviation(items) / sqrt(len(items))
    elif name in _BY_RESAMPLES:
        values = list(_resampled(AGGREGATIONS[name], items, resamples))
        if len(values) < 2 or any(value is None for value in values):
            return None
        found = _deviation(values)
    else:
        return None
    return None if isnan(found) else found


def _resampled(
    value: Callable[[Sequence[Any]], float | None], items: Sequence[Any], resamples: int
) -> Iterator[Any]:
    part = min(_PART, resamples)
    for seed in range(resamples // part):
        draw = Random(seed).choices
        for _ in range(part):
            yield value(draw(items, k=len(items)))


def _deviation(values: Sequence[float]) -> float:
    middle = fsum(values) / len(values)
    return sqrt(fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def _mean(items: Sequence[float]) -> float:
    return fsum(items) / len(items)


def _nanmean(items: Sequence[float]) -> float:
    known = [item for item in items if not isnan(item)]
    return fsum(known) / len(known) if known else nan


def _median(items: Sequence[float]) -> float:
    """Return the middle value, the upper one of two."""
    return sorted(items)[len(items) // 2]


def _exp(value: float) -> float:
    try:
        return exp(value)
    except OverflowError:
        return inf


def _rate(items: Sequence[tuple[float, float]]) -> float:
    """Return the negative log-probability a unit; no units have none."""
    units = fsum(unit for _, unit in items)
    return -fsum(logprob for logprob, _ in items) / units if units else nan


def _f1(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Return F1 of the second of two choices."""
    found = Counter((bool(gold), bool(best)) for gold, best in pairs)
    if not {label for pair in pairs for label in pair} <= {0, 1}:
        return None
    right = 2 * found[True, True]
    whole = right + found[True, False] + found[False, True]
    return right / whole if whole else 0.0


def _mcc(pairs: Sequence[tuple[int, int]]) -> float:
    """Return Matthews' correlation of any number of choices.

    Source: J. Gorodkin, "Comparing two K-category assignments by a K-category
    correlation coefficient", Computational Biology and Chemistry 28 (2004), 367-374.
    """
    n = len(pairs)
    golds = Counter(gold for gold, _ in pairs)
    bests = Counter(best for _, best in pairs)
    right = sum(gold == best for gold, best in pairs)
    together = n * right - sum(golds[label] * bests[label] for label in golds)
    spread = n * n - sum(count**2 for count in golds.values())
    spread *= n * n - sum(count**2 for count in bests.values())
    return together / sqrt(spread) if spread else 0.0


def _brier(items: Sequence[tuple[int, Sequence[float]]]) -> float:
    return _mean(
        [
            fsum((share - (index == gold)) ** 2 for index, share in enumerate(shares))
            for gold, shares in items
        ]
    )


def _pooled(items: Sequence[tuple[str, Sequence[float]]]) -> float | None:
    return pooled(items[0][0], [counts for _, counts in items])


AGGREGATIONS: Final[Mapping[str, Callable[[Sequence[Any]], float | None]]] = {
    "mean": _mean,
    "nanmean": _nanmean,
    "median": _median,
    "perplexity": lambda items: _exp(-_mean(items)),
    "weighted_perplexity": lambda items: _exp(_rate(items)),
    "bits_per_byte": lambda items: _rate(items) / log(2),
    "f1": _f1,
    "matthews_corrcoef": _mcc,
    "brier_score": _brier,
    "pooled": _pooled,
}
_BY_RESAMPLES: Final = frozenset(
    {"nanmean", "median", "perplexity", "f1", "matthews_corrcoef", "pooled"}
)

"""Two runs over the same cases: what was lost and gained, and whether it is noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Final

from pytest_llmeval.errors import UserError

__all__ = ["Difference", "holm", "losses_to_show", "mcnemar_exact", "paired_bootstrap"]

#: Resamples of `paired_bootstrap`; an odd count puts both ends of 95 % on a resample.
_RESAMPLES: Final = 9_999
#: Pairs from which on the normal curve replaces resampling: the mean of so many is
#: as good as normal, and drawing them would take seconds.
_MANY: Final = 500


def mcnemar_exact(lost: int, gained: int) -> float:
    """Return the two-sided exact p-value of McNemar's test.

    Of the cases whose outcome changed, half are expected to change either way: the
    p-value is twice the binomial tail of the smaller count, at most 1.

    Source: Q. McNemar, "Note on the sampling error of the difference between
    correlated proportions or percentages", Psychometrika 12 (1947), 153-157, in the
    exact form (A. Agresti, Categorical Data Analysis, section 10.1).

    Args:
        lost: Cases that passed before and fail now.
        gained: Cases that failed before and pass now.

    Raises:
        UserError: A count is negative.
    """
    if lost < 0 or gained < 0:
        message = f"lost and gained are counts, not {lost!r} and {gained!r}"
        raise UserError(message)
    changed = lost + gained
    tail = 0
    term = 1  # comb(changed, 0); each next one follows from the one before it
    for k in range(min(lost, gained) + 1):
        tail += term
        term = term * (changed - k) // (k + 1)
    # In whole numbers up to the one division: exact for any count.
    return min(1.0, 2 * tail / (1 << changed))


def losses_to_show(gained: int, alpha: float = 0.05) -> int:
    """Return how many lost cases, beside `gained`, would be significant.

    Args:
        gained: Cases that failed before and pass now.
        alpha: The p-value that must be undercut.
    """
    lost = gained
    while mcnemar_exact(lost, gained) >= alpha:
        lost += 1
    return lost


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How far the mean of a metric moved, over cases that both runs scored."""

    before: float
    """Mean of the pairs' first values."""
    now: float
    """Mean of their second ones."""
    mean: float
    """Of the pairs' differences: now minus before."""
    low: float
    high: float
    """The 95 % interval of `mean`."""
    p: float
    """Two-sided, of "there is no difference"; 1 when no pair differs."""
    n: int
    """How many pairs."""


def paired_bootstrap(
    before: Sequence[float], after: Sequence[float], seed: int = 0
) -> Difference:
    """Return the difference of two means over pairs, with its percentile interval.

    The pairs' differences are drawn anew, with replacement; the interval runs from the
    2.5th to the 97.5th percentile of the means. The same seed gives the same interval.
    From 500 pairs on, the normal approximation is used instead.

    Source: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap (1993),
    chapters 13 and 16.

    Args:
        before: A value a pair.
        after: The other value of each pair, in the same order.
        seed: Of the resampling.

    Raises:
        UserError: There are no pairs, or not as many values on both sides.
    """
    if len(before) != len(after) or not before:
        message = (
            f"a paired comparison needs pairs, and got {len(before)} values before "
            f"and {len(after)} after"
        )
        raise UserError(message)
    n = len(before)
    gaps = [now - then for then, now in zip(before, after, strict=True)]
    mean = fsum(gaps) / n
    low, high, p = mean, mean, 1.0
    if any(gap != gaps[0] for gap in gaps):
        low, high, p = (_normal if n >= _MANY else _resampled)(gaps, mean, seed)
    elif mean and n > 1:
        # All moved alike: resampling shows no spread, a sign test still has an opinion.
        p = min(1.0, 2 * 0.5**n)
    return Difference(
        before=fsum(before) / n,
        now=fsum(after) / n,
        mean=mean,
        low=low,
        high=high,
        p=p,
        n=n,
    )


def _resampled(
    gaps: Sequence[float], mean: float, seed: int
) -> tuple[float, float, float]:
    from random import Random

    n, draw = len(gaps), Random(seed).choices
    means = sorted(sum(draw(gaps, k=n)) / n for _ in range(_RESAMPLES))
    cut = (_RESAMPLES + 1) // 40
    # A resample that lands on zero up to float noise speaks for neither side.
    noise = 1e-12 * max(abs(means[0]), abs(means[-1]))
    not_above = sum(value <= noise for value in means)
    not_below = sum(value >= -noise for value in means)
    p = 2 * (min(not_above, not_below) + 1) / (_RESAMPLES + 1)
    return means[cut - 1], means[-cut], min(1.0, p)


def _normal(
    gaps: Sequence[float], mean: float, seed: int
) -> tuple[float, float, float]:
    from statistics import NormalDist

    n = len(gaps)
    error = sqrt(fsum((gap - mean) ** 2 for gap in gaps) / (n - 1) / n)
    reach = 1.959963984540054 * error
    p = 2 * NormalDist().cdf(-abs(mean) / error)
    return mean - reach, mean + reach, p


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return p-values of several metrics adjusted so that one chance find is none.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure",
    Scandinavian Journal of Statistics 6 (1979), 65-70.

    Args:
        p_values: By the metric's name.
    """
    adjusted: dict[str, float] = {}
    largest = 0.0
    ordered = sorted(p_values.items(), key=lambda pair: pair[1])
    for index, (name, p) in enumerate(ordered):
        largest = max(largest, min(1.0, (len(ordered) - index) * p))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}

"""Means, rates, their intervals, quantiles."""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, fsum, sqrt

from pytest_llmeval.errors import UserError

__all__ = ["mean", "quantile", "rate", "require_counts", "wilson_interval"]


def mean(values: Iterable[float]) -> float | None:
    """Return the arithmetic mean, None of nothing."""
    numbers = list(values)
    return fsum(numbers) / len(numbers) if numbers else None


def rate(passed: int, n: int) -> float | None:
    """Return the share of `n` that passed, None of nothing.

    Raises:
        UserError: `passed` is not between 0 and `n`.
    """
    require_counts(passed, n)
    return passed / n if n else None


def wilson_interval(
    passed: int, n: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the score interval of a rate, (0, 1) when nothing was counted.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical
    inference", Journal of the American Statistical Association 22 (1927), 209-212,
    without continuity correction (method 3 of R. G. Newcombe, Statistics in Medicine
    17 (1998), 857-872).

    Args:
        passed: How many passed.
        n: Of how many.
        confidence: Between 0 and 1, both excluded.

    Raises:
        UserError: `passed` is not between 0 and `n`, or `confidence` is no such number.
    """
    require_counts(passed, n)
    z = _deviate(confidence)
    if not n:
        return 0.0, 1.0
    share, weight = passed / n, z * z / n
    middle = share + weight / 2
    reach = z * sqrt(share * (1 - share) / n + weight / (4 * n))
    # Exact at the ends, where float noise would leave 0.9999999999999999.
    low = 0.0 if passed == 0 else max(0.0, (middle - reach) / (1 + weight))
    high = 1.0 if passed == n else min(1.0, (middle + reach) / (1 + weight))
    return low, high


def quantile(values: Iterable[float], share: float) -> float | None:
    """Return the value below which `share` of the values lie, None of nothing.

    Between two values it is interpolated linearly, the first one standing at 0 and the
    last one at 1: type 7 of R. J. Hyndman and Y. Fan, "Sample quantiles in statistical
    packages", The American Statistician 50 (1996), 361-365; what numpy, pandas and R
    do when not told otherwise. p50 is the median.

    Args:
        values: In any order.
        share: 0.5 for p50, 0.95 for p95.

    Raises:
        UserError: `share` is not between 0 and 1.
    """
    if not 0 <= share <= 1:
        message = f"a quantile's share is between 0 and 1, not {share!r}"
        raise UserError(message)
    ordered = sorted(values)
    if not ordered:
        return None
    place = share * (len(ordered) - 1)
    below = floor(place)
    above = min(below + 1, len(ordered) - 1)
    part = place - below
    return ordered[below] * (1 - part) + ordered[above] * part


def require_counts(passed: int, n: int) -> None:
    """Refuse counts that are none.

    Raises:
        UserError: `passed` is not between 0 and `n`.
    """
    if not 0 <= passed <= n:
        message = f"{passed!r} of {n!r} can't have passed: give 0 <= passed <= n"
        raise UserError(message)


def _deviate(confidence: float) -> float:
    """Return how many standard deviations hold `confidence` of a normal curve."""
    if not 0 < confidence < 1:
        message = (
            f"confidence is a number between 0 and 1, such as 0.95, not {confidence!r}"
        )
        raise UserError(message)
    if confidence == 0.95:
        return 1.959963984540054
    # Takes 20 ms to import, and reports ask for 95 % only.
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + confidence) / 2)

"""Every number of a report: means, rates, their intervals, quantiles, their texts."""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, fsum, sqrt

from pytest_llmeval.errors import UserError

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

#: Cases from which on a percentage is told to a tenth: with fewer, the 95 % interval
#: is wider than six points, and a digit behind the point would only pretend.
_CASES_FOR_TENTHS = 1000
_NOTHING = "–"


def mean(values: Iterable[float]) -> float | None:
    """Return the arithmetic mean, None of nothing."""
    numbers = list(values)
    return fsum(numbers) / len(numbers) if numbers else None


def rate(passed: int, n: int) -> float | None:
    """Return the share of `n` that passed, None of nothing.

    Raises:
        UserError: `passed` is not between 0 and `n`.
    """
    _require_counts(passed, n)
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
    _require_counts(passed, n)
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


def percent_text(passed: int, n: int) -> str:
    """Return a rate as ``82 %``: 100 only when all passed, 0 only when none did.

    Whole percents, tenths from 1,000 cases on, and as many digits as it takes where
    rounding would reach an end that the count does not: 249 of 250 are 99.6 %.

    Raises:
        UserError: `passed` is not between 0 and `n`.
    """
    _require_counts(passed, n)
    if not n:
        return _NOTHING
    return f"{_percent(passed, n, _digits(n))} %"


def interval_text(passed: int, n: int) -> str:
    """Return the 95 % interval of a rate in percent, ``52–95``; a dash for nothing.

    Its ends follow the rule of `percent_text`.

    Raises:
        UserError: `passed` is not between 0 and `n`.
    """
    low, high = wilson_interval(passed, n)
    if not n:
        return _NOTHING
    return f"{_share_text(low, n)}–{_share_text(high, n)}"


def number_text(value: float) -> str:
    """Return a mean as ``0.84``: a whole number (``1.00``) only when it is one.

    Two digits behind the point, more where they would round to a whole number that the
    value is not, and powers of ten for what is very large or small.
    """
    if abs(value) >= 1e6:
        return f"{value:.4g}"
    for digits in (2, 3, 4, 6):
        text = f"{value:.{digits}f}"
        if value == round(value) or float(text) != round(value):
            return text
    return f"{value:.9g}"


def money_text(dollars: float) -> str:
    """Return US dollars: cents from one dollar on, below it four digits, never $0.0000.

    Free is ``$0``.
    """
    if dollars == 0:
        return "$0"
    sign, amount = ("-", -dollars) if dollars < 0 else ("", dollars)
    if amount < 0.00005:
        return f"{sign}<$0.0001"
    return f"{sign}${amount:,.2f}" if amount >= 0.99995 else f"{sign}${amount:.4f}"


def seconds_text(seconds: float) -> str:
    """Return a duration with two or three digits that count: ``1.2 s``, ``85 ms``."""
    if seconds < 0.0005:
        return "<1 ms" if seconds else "0 s"
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.995:
        return f"{seconds:.2f} s"
    return f"{seconds:.1f} s" if seconds < 99.95 else f"{seconds:,.0f} s"


def _share_text(share: float, n: int) -> str:
    return _percent(*share.as_integer_ratio(), _digits(n))


def _percent(part: int, whole: int, digits: int) -> str:
    """Return ``100 * part / whole``, rounded half up, never to an end it isn't at.

    In whole numbers only: half a step is half a step, and the search ends.
    """
    if part in {0, whole}:
        return "100" if part else "0"
    while True:
        steps = 10**digits
        rounded = (200 * part * steps + whole) // (2 * whole)
        if 0 < rounded < 100 * steps:
            break
        digits += 1
    before, behind = divmod(rounded, steps)
    return f"{before}.{behind:0{digits}d}" if digits else str(before)


def _digits(n: int) -> int:
    return 1 if n >= _CASES_FOR_TENTHS else 0


def _require_counts(passed: int, n: int) -> None:
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

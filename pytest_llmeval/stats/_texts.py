"""Numbers as texts: percentages, money, durations."""

from __future__ import annotations

from pytest_llmeval.stats._rates import require_counts, wilson_interval

__all__ = [
    "interval_text",
    "money_text",
    "number_text",
    "percent_text",
    "seconds_text",
]

#: Cases from which on a percentage is told to a tenth: with fewer, the 95 % interval
#: is wider than six points, and a digit behind the point would only pretend.
_CASES_FOR_TENTHS = 1000
_NOTHING = "–"


def percent_text(passed: int, n: int) -> str:
    """Return a rate as ``82 %``: 100 only when all passed, 0 only when none did.

    Whole percents, tenths from 1,000 cases on, and as many digits as it takes where
    rounding would reach an end that the count does not: 249 of 250 are 99.6 %.

    Raises:
        UserError: `passed` is not between 0 and `n`.
    """
    require_counts(passed, n)
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

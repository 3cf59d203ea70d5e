"""Values of several tests put together, and the standard error of that."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

__all__ = ["weighted_error", "weighted_mean"]


def weighted_mean(values: Sequence[float], sizes: Sequence[int]) -> float | None:
    """Return the mean of values that count by their sizes, None of nothing."""
    whole = sum(sizes)
    if not whole:
        return None
    return fsum(v * size for v, size in zip(values, sizes, strict=True)) / whole


def weighted_error(
    errors: Sequence[float | None], sizes: Sequence[int], *, by_size: bool
) -> float | None:
    """Return the standard error of a mean of means, None where one is not known.

    Source: lm_eval.api.metrics 0.4.13. By size it is that of all cases together, with
    the spread that each test has in itself; else that of a mean of independent values.

    Args:
        errors: Of each test.
        sizes: How many cases it has.
        by_size: Whether its value counts by its size.
    """
    known = [error for error in errors if error is not None]
    if not known or len(known) < len(errors):
        return None
    if not by_size:
        return sqrt(fsum(error**2 for error in known)) / len(known)
    freedom = sum(sizes) - len(sizes)
    if freedom < 1:
        return None
    spread = fsum(
        (size - 1) * size * error**2 for error, size in zip(known, sizes, strict=True)
    )
    return sqrt(spread / freedom / sum(sizes))

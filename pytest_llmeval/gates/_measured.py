"""A quantity that has been measured."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Measured"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A quantity: what it is, and what it could be at the least and at the most."""

    value: float | None
    """Of what is known; None when nothing is."""
    low: float
    high: float
    n: int
    """Cases, checks or calls it is of."""
    unknown: int = 0
    """How many more there are of which nothing is known."""
    interval: tuple[float, float] | None = None
    """95 %, of a rate."""

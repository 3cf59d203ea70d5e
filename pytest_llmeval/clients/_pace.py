"""A rate as one number: when the next request may begin.

The generic cell rate algorithm (ITU-T I.371) without its burst: what is granted is
spread evenly, so a server that counts by the second, by the minute or by gaps is never
sent more than it allows, however its counting falls.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Pace"]

#: A timer that wakes late may be made up for by so much, or the rate would fall short.
_SLACK_SECONDS = 0.05


@dataclass(slots=True)
class Pace:
    """Spreads a cost over time."""

    rate: float
    """Of cost (requests or tokens) a second; infinite for no bound."""
    next_at: float = 0.0
    """When all that was granted is paid for."""

    def take(self, cost: float, now: float) -> None:
        """Grant a cost, be it larger than what is due: whoever comes next waits."""
        self.next_at = max(self.next_at, now - _SLACK_SECONDS) + cost / self.rate

    def correct(self, cost: float) -> None:
        """Add to what was granted, or give back where `cost` is negative."""
        self.next_at += cost / self.rate

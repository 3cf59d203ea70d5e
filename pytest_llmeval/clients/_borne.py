"""The rate that a server was seen to bear: estimated, raised, lowered."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_llmeval.clients._pace import Pace

__all__ = ["WINDOW_SECONDS", "Borne"]

WINDOW_SECONDS = 1.0

#: The rate grows by so much a second: from a good estimate, from a bad one.
_GROWTH = 0.05
_FAST_GROWTH = 1.0
#: So many answers make an estimate good: the growth is in inverse proportion to them.
_GOOD_ANSWERS = 100
#: After a refusal it is a little less than what was answered within a second, where
#: that says anything.
_BACK_OFF = 0.95
_TELLING_ANSWERS = 5


@dataclass(slots=True)
class Borne(Pace):
    """Requests a second that a server was seen to bear; infinite until it is known."""

    rate: float = math.inf
    growth: float = _GROWTH
    """By how much it grows a second."""
    raised_at: float = -math.inf
    lowered_at: float = -math.inf
    refused_at: float = -math.inf

    @property
    def is_known(self) -> bool:
        """Whether anything has been learned."""
        return self.rate < math.inf

    def estimate(self, now: float, answers: int, seconds: float) -> None:
        """Take the answers over a time for what the server bears; none say nothing."""
        if answers:
            self.rate = min(self.rate, answers / seconds)
            growth = _GROWTH * _GOOD_ANSWERS / answers
            self.growth = min(max(growth, _GROWTH), _FAST_GROWTH)
        self.raised_at = now

    def answered(self, now: float) -> None:
        """Grow, but for a second after a refusal."""
        begun = max(self.raised_at, self.refused_at + WINDOW_SECONDS)
        if self.is_known and now > begun:
            # For a second at most: idle time proves nothing.
            self.rate *= 1 + self.growth * min(now - begun, 1.0)
            self.raised_at = now

    def refused(self, now: float, answers: int) -> None:
        """Shrink, once a second.

        Args:
            now: The time.
            answers: Those of the last second.
        """
        if self.is_known and now - self.lowered_at >= WINDOW_SECONDS:
            is_telling = answers >= _TELLING_ANSWERS
            seen = answers / WINDOW_SECONDS if is_telling else self.rate
            self.rate = min(self.rate, seen) * _BACK_OFF
            self.growth = _GROWTH
            self.lowered_at = now
        self.refused_at = now

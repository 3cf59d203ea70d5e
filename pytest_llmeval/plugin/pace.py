"""Whether the bodies of a test wait for anything: those that don't need no thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["Pace"]

#: Bodies that take longer in their own turn wait for something, and the next ones run
#: ahead: two in a row, for the first one of all loads recordings and templates. Below, a
#: thread would cost more than it saves.
_QUICK_SECONDS: Final = 0.05
_SLOW_BODIES: Final = 2


@dataclass(slots=True)
class Pace:
    """How the bodies of one test function have gone in their own turns."""

    state: Literal["unknown", "quick", "slow"] = "unknown"
    slow_bodies: int = 0
    """How many in a row took their time."""

    @property
    def is_quick(self) -> bool:
        """Whether the next body is to run in its own turn too."""
        return self.state == "quick"

    def runs_in_turn(self, *, answers_at_once: bool) -> bool:
        """Return whether a body that has not begun is to run in its own turn.

        Args:
            answers_at_once: Whether nothing that it asks has to be waited for.
        """
        if answers_at_once and self.state != "slow":
            self.state = "quick"
            return True
        if self.state == "quick":
            # Models of both sorts: from the next body on all run ahead. Not yet this
            # one: nothing is led away yet that a body ahead would write.
            self.state = "slow"
            return True
        return False

    def note(self, seconds: float) -> None:
        """Take note of how long a body took in its own turn."""
        self.slow_bodies = self.slow_bodies + 1 if seconds > _QUICK_SECONDS else 0
        if self.slow_bodies >= _SLOW_BODIES:
            self.state = "slow"

"""The cases of a run, as they end, against its baseline."""

from __future__ import annotations

from pytest_llmeval.baseline import (
    Baseline,
    compare,
    standing_of,
)
from pytest_llmeval.types import Record

__all__ = ["Against"]


class Against:
    """Holds the cases of a run against a baseline.

    Args:
        baseline: What they are compared with.
    """

    def __init__(self, baseline: Baseline) -> None:
        self.baseline = baseline
        self._failed = [one for one in baseline.cases if one.passed is False]
        self._identities = {one.identity for one in self._failed}
        self._contents = {(one.test, one.row) for one in self._failed}

    def failed_before(self, record: Record) -> bool:
        """Return whether a case that fails now is known to have failed before."""
        now = standing_of(record)
        # Cheap first: most failures of a run are news.
        if (
            now.identity not in self._identities
            and (now.test, now.row) not in self._contents
        ):
            return False
        before = [one for one in self._failed if one.test == now.test]
        return any(change.now for change in compare([now], before).of("known"))

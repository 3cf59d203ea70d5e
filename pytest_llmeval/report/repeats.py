"""What the samples of repeated cases say: how many passed, what to expect of k."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_llmeval.stats import mean, number_text, pass_at_k, pass_hat_k
from pytest_llmeval.types import Record

__all__ = ["RepeatCounter", "RepeatSummary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatSummary:
    """The samples of the repeated cases of a test, or of a run."""

    cases: int = 0
    """Repeated ones."""
    samples: int = 0
    """That ran."""
    passed: int = 0
    failed: int = 0
    unscored: int = 0
    unstable: int = 0
    """Cases that passed although a sample of theirs failed."""
    whole: int = 0
    """Cases of which every sample that was planned was scored: no others can be
    estimated from, for those that were stopped early were stopped by their outcome."""
    pass_at: tuple[float, ...] = ()
    """pass@1, pass@2, …: the mean over whole cases."""
    pass_hat: tuple[float, ...] = ()
    """pass^1, pass^2, …"""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {
            "cases": self.cases,
            "samples": self.samples,
            "passed": self.passed,
            "failed": self.failed,
            "unscored": self.unscored,
            "unstable": self.unstable,
            "whole": self.whole,
            "pass_at": {str(k): v for k, v in enumerate(self.pass_at, 1)},
            "pass_hat": {str(k): v for k, v in enumerate(self.pass_hat, 1)},
        }

    def texts(self) -> Iterator[str]:
        """Yield what a reader should know, in short phrases."""
        if not self.cases:
            return
        text = f"samples {self.passed:,} of {self.passed + self.failed:,} passed"
        if self.unscored:
            text += f", {self.unscored:,} unscored"
        yield text
        if k := len(self.pass_at):
            yield f"pass@{k} {number_text(self.pass_at[-1])}"
            n = "" if self.whole == self.cases else f" (n {self.whole:,})"
            yield f"pass^{k} {number_text(self.pass_hat[-1])}{n}"
        if self.unstable:
            yield f"{self.unstable:,} unstable"


class RepeatCounter:
    """Counts the samples of cases."""

    def __init__(self) -> None:
        self._records: list[Record] = []

    def add(self, record: Record) -> None:
        """Take in a case; one without repeats says nothing."""
        if record.repeat > 1:
            self._records.append(record)

    def summary(self) -> RepeatSummary:
        """Return what the cases say together."""
        records = self._records
        whole = [record for record in records if record.is_whole]
        return RepeatSummary(
            cases=len(records),
            samples=sum(len(record.samples) for record in records),
            passed=sum(record.count("passed") for record in records),
            failed=sum(record.count("failed") for record in records),
            unscored=sum(record.count("unscored") for record in records),
            unstable=sum(record.is_unstable for record in records),
            whole=len(whole),
            pass_at=_means(pass_at_k, whole),
            pass_hat=_means(pass_hat_k, whole),
        )


def _means(
    chance: Callable[[int, int, int], float], records: Sequence[Record]
) -> tuple[float, ...]:
    """Return the mean chance for every k that all cases have samples for."""
    most = min((record.repeat for record in records), default=0)
    means = (
        mean([chance(r.repeat, r.count("passed"), k) for r in records])
        for k in range(1, most + 1)
    )
    return tuple(value for value in means if value is not None)

"""The samples of a case: runs of its body, each with replies of its own.

Most cases have one. Of several, so many must pass; they run beside each other on the
engine's threads, or one after another.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import pytest

from pytest_llmeval.plugin.outcomes import NOT_RUN, Outcome, outcome_of_sample
from pytest_llmeval.recorder import CaseRun, SampleRun
from pytest_llmeval.report.replies import replies_line
from pytest_llmeval.stats import samples_needed, settled
from pytest_llmeval.types import Sample

__all__ = ["NOT_NEEDED", "Samples", "ends_run"]

#: What the body of a sample returns that was decided without it.
NOT_NEEDED: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    outcome: Outcome
    exception: BaseException | None


class Samples:
    """The samples of one case, and what they come to together.

    Bodies tell how they end from their own threads.

    Args:
        run: The case.
        is_spent: Says when nothing more may begin.
    """

    def __init__(self, run: CaseRun, is_spent: Callable[[], bool]) -> None:
        self.run = run
        self._is_spent = is_spent
        self.runs = tuple(SampleRun(run, index) for index in range(run.plan.repeat))
        self.shown = self.runs[0]
        """The one that stands for the case: the first that ended as it did."""
        self._needed = samples_needed(len(self.runs), run.plan.min_sample_rate)
        self._ended: dict[int, _Ended] = {}
        self._lock = threading.Lock()

    @property
    def are_several(self) -> bool:
        """Whether the body runs more than once."""
        return len(self.runs) > 1

    @property
    def wants_more(self) -> bool:
        """Whether a sample that has not begun should."""
        if self._halt() is not None or self._is_spent():
            return False
        return self._settled() is None or not self.run.plan.stops_early

    @property
    def has_failed(self) -> bool:
        """Whether it is known that the case does not pass."""
        if self._settled() == "failed" or self._halt() is not None:
            return True
        return self._settled() is None and self._counts().total() == len(self.runs)

    def note(self, index: int, exception: BaseException | None) -> None:
        """Keep how a sample ended."""
        outcome = outcome_of_sample(exception)
        with self._lock:
            self._ended[index] = _Ended(outcome=outcome, exception=exception)

    def body(self, index: int, call: Callable[[], Any]) -> Callable[[], Any]:
        """Return what runs a plain body as one of the samples."""

        def run() -> Any:
            __tracebackhide__ = True
            if not self.wants_more:
                return NOT_NEEDED
            try:
                value = call()
            except BaseException as exc:
                self.note(index, exc)
                raise
            self.note(index, None)
            return value

        return run

    def async_body(
        self, index: int, call: Callable[[], Awaitable[Any]]
    ) -> Callable[[], Awaitable[Any]]:
        """Return what runs an ``async def`` body as one of the samples."""

        async def run() -> Any:
            __tracebackhide__ = True
            if not self.wants_more:
                return NOT_NEEDED
            try:
                value = await call()
            except BaseException as exc:
                self.note(index, exc)
                raise
            self.note(index, None)
            return value

        return run

    def follow(self, begun: Samples) -> None:
        """Take in what was kept of the case before its bodies ran."""
        self.runs[0].follow(begun.runs[0])

    def close(self) -> None:
        """Ask nothing more for any of them."""
        for sample in self.runs:
            sample.is_over = True

    def conclude(self) -> BaseException | None:
        """Return what the case ends with, None if it passes; `shown` is settled."""
        deciding = self._deciding()
        if deciding is None and self._settled() is None:
            return pytest.skip.Exception(NOT_RUN)
        if deciding is None:
            passed = self._indices("passed")
            self.shown = self.runs[passed[0] if passed else 0]
            return None
        self.shown = self.runs[deciding]
        error = self._ended[deciding].exception
        assert error is not None  # what raised nothing has passed
        if self.are_several:
            error.add_note("\n".join(self._summary()))
        return error

    def kept(self, outcome: Outcome) -> tuple[Sample, ...]:
        """Return what is kept of the samples that ran.

        Args:
            outcome: Of the case, which is that of an only sample.
        """
        if not self.are_several or not self._ended:
            return (_kept(self.shown, outcome),)
        return tuple(
            _kept(self.runs[index], ended.outcome)
            for index, ended in sorted(self._ended.items())
        )

    def headline(self, status: str) -> str:
        """Return how many samples were so, to stand before the reason of a case."""
        if not self.are_several:
            return ""
        count = len(self._indices(status))
        return f"{count} of {len(self._ended)} samples {status}: " if count else ""

    def _deciding(self) -> int | None:
        """Return the index of the sample whose exception the case ends with."""
        state = self._settled()
        if state == "passed":
            return None
        if state == "failed":
            return self._indices("failed")[0]
        if (halt := self._halt()) is not None:
            return halt
        return next(iter(self._indices("unscored")), None)

    def _settled(self) -> Literal["passed", "failed"] | None:
        counts = self._counts()
        return settled(
            n=len(self.runs),
            needed=self._needed,
            passed=counts["passed"],
            failed=counts["failed"],
        )

    def _halt(self) -> int | None:
        """Return a sample that ended the whole case: skipped, or stopped from outside."""
        with self._lock:
            for index, ended in sorted(self._ended.items()):
                outcome = ended.outcome
                is_out = outcome.status in {"skipped", "xfailed"}
                if is_out or outcome.cause == "interrupted":
                    return index
        return None

    def _counts(self) -> Counter[str]:
        with self._lock:
            return Counter(ended.outcome.status for ended in self._ended.values())

    def _indices(self, status: str) -> list[int]:
        with self._lock:
            return [
                index
                for index, ended in sorted(self._ended.items())
                if ended.outcome.status == status
            ]

    def _summary(self) -> list[str]:
        """Return the lines about all samples: how they ended, what was replied."""
        counts = self._counts()
        ended = ", ".join(f"{n} {status}" for status, n in counts.most_common())
        left = len(self.runs) - counts.total()
        if left:
            ended += f", {left} not run"
        text = f"{ended}; {self._needed} of {len(self.runs)} must pass"
        lines = [f"  {'samples':<10}{text}"]
        replies = [self.runs[i].reply for i in sorted(self._ended)]
        if line := replies_line(replies):
            lines.append(f"  {'replies':<10}{line}")
        return lines


def _kept(sample: SampleRun, outcome: Outcome) -> Sample:
    return sample.sample(outcome.status, cause=outcome.cause, reason=outcome.reason)


def ends_run(exception: BaseException | None) -> bool:
    """Return whether an exception is not about a case: it ends the whole run."""
    return isinstance(exception, KeyboardInterrupt | pytest.exit.Exception)

"""The exit status of a run with evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_llmeval.baseline import SCORED, Compared
from pytest_llmeval.conclusion._terms import Ended, Terms
from pytest_llmeval.gates import GateResult
from pytest_llmeval.report.usage import UsageCounter
from pytest_llmeval.stats import money_text
from pytest_llmeval.types import Record

__all__ = ["Status"]

# As pytest has them.
_OK: Final = 0
_FAILED: Final = 1
_NO_TESTS: Final = 5


class Status:
    """Decides the exit status: what is tolerated, and what fails the run.

    Only "ok" and "tests failed" are touched, and "no tests" where there had to be
    scores: interrupted, usage and internal errors keep their own status.

    Args:
        records: Of all cases.
        ended: How pytest ended.
        terms: What the run is held to.
    """

    def __init__(self, records: Sequence[Record], ended: Ended, terms: Terms) -> None:
        self.code = ended.status
        self.notes: list[str] = []
        self._records = records
        self._ended = ended
        self._terms = terms

    def weigh(self, gates: Sequence[GateResult], compared: Compared | None) -> None:
        """Forgive what is tolerated, then fail on gates and the comparison."""
        if self.code == _FAILED:
            self._tolerate(_noise(compared))
        fails = compared is not None and compared.decision.state == "fails"
        if fails or any(gate.breaks for gate in gates):
            self.fail()

    def fail(self) -> None:
        """Fail a run that looked well."""
        if self.code == _OK:
            self.code = _FAILED

    def refuse_unfinished(self, asked: Sequence[Record]) -> None:
        """Fail a run that its budget ended; say what is not known of what it spent.

        Args:
            asked: The cases this run has spent something on.
        """
        if self._terms.budget is None:
            return
        usage = UsageCounter()
        for record in asked:
            for sample in record.samples:
                usage.add_all(sample["calls"])
        cost = usage.cost()
        if unknown := cost.calls - cost.known:
            self.notes.append(
                f"budget: what {unknown} of {cost.calls} calls cost is unknown, and is "
                f"not counted (prices in llmeval.yaml tell it)"
            )
        left = sum(record.status == "not_run" for record in self._records)
        if left:
            spent, budget = (
                money_text(x) for x in (cost.live or 0.0, self._terms.budget)
            )
            noun = "case was" if left == 1 else "cases were"
            self.notes.append(
                f"budget: {spent} of {budget} spent, and {left} {noun} not run "
                f"(--llmeval-budget)"
            )
            self.fail()

    def refuse_unstable(self) -> None:
        """Fail a run with unstable cases, where that was asked for."""
        unstable = sum(record.is_unstable for record in self._records)
        if self._terms.fail_on_unstable and unstable:
            self.notes.append(
                f"{unstable} unstable, and --llmeval-fail-on-unstable fails the run "
                f"for that"
            )
            self.fail()

    def require(self) -> None:
        """Fail a run that scored too few cases."""
        required = self._terms.require
        scored = self._scored
        wanted = len(self._records) if required == "all" else int(required or 0)
        if required is None or (scored >= wanted and scored > 0):
            return
        idle = sum(record.checked_nothing for record in self._records)
        but = f" ({idle} checked nothing)" if idle else ""
        self.notes.append(
            f"{scored} of {len(self._records)} cases were scored{but}, and "
            f"--llmeval-require={required} asks for {wanted or 'at least one'}"
        )
        if self.code in {_OK, _NO_TESTS}:
            self.code = _FAILED

    @property
    def _scored(self) -> int:
        """How many cases say something of a reply."""
        return sum(
            record.status in SCORED and not record.checked_nothing
            for record in self._records
        )

    def _tolerate(self, noise: int) -> None:
        """Forgive a run whose only failures are unscored cases and noise."""
        allowed = self._terms.max_unscored
        if self._ended.is_cut:
            if allowed or noise:
                self.notes.append("the run was stopped early, so nothing is tolerated")
            return
        unscored = self._tolerated(allowed)
        if unscored is None or not unscored + noise:
            return
        if not self._scored:
            self.notes.append("no case was scored, so nothing is tolerated")
            return
        if self._ended.failed == unscored + noise:
            self.code = _OK
            if unscored:
                self.notes.append(
                    f"{unscored} unscored, tolerated by --llmeval-max-unscored={allowed}"
                )

    def _tolerated(self, allowed: int) -> int | None:
        """Return how many unscored cases are tolerated, None when they are too many."""
        unscored = [r for r in self._records if r.status == "unscored"]
        # A crash of the application is a finding about it, never noise.
        crashed = [
            r for r in unscored if r.cause in {"application", "crashed", "suite"}
        ]
        if not crashed and len(unscored) <= allowed:
            return len(unscored)
        if allowed:
            self.notes.append(
                f"{len(unscored)} unscored, {len(crashed)} of them by the application "
                f"or the suite itself; --llmeval-max-unscored={allowed} does not cover "
                f"that"
                if crashed
                else f"{len(unscored)} unscored, and --llmeval-max-unscored={allowed}"
            )
        return None


def _noise(compared: Compared | None) -> int:
    """Return how many failures the comparison takes for noise."""
    if compared is None or not compared.decision.forgives:
        return 0
    regressed = compared.comparison.of("regressed")
    return sum(change.case.status == "failed" for change in regressed)

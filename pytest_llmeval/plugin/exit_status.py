"""The exit status of a run with evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_llmeval.baseline import SCORED
from pytest_llmeval.stats import money_text

if TYPE_CHECKING:
    from pytest_llmeval.plugin.bars import Bars
    from pytest_llmeval.plugin.outputs import Outputs
    from pytest_llmeval.plugin.settings import Settings

__all__ = ["decide_exit"]


def decide_exit(
    session: pytest.Session, outputs: Outputs, settings: Settings, bars: Bars
) -> None:
    """Forgive what is tolerated, fail on gates, the comparison and too few scores.

    Only "ok" and "tests failed" are touched: interrupted, usage and internal errors
    and "no tests" keep their own status.
    """
    if session.exitstatus == pytest.ExitCode.TESTS_FAILED:
        _tolerate(session, outputs, settings.max_unscored, bars)
    if bars.breaks and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if settings.budget is not None:
        _refuse_unfinished(session, outputs, settings.budget)
    if settings.fail_on_unstable:
        _refuse_unstable(session, outputs)
    if not session.config.option.collectonly:
        _require(session, outputs, settings.require)


def _refuse_unfinished(
    session: pytest.Session, outputs: Outputs, budget: float
) -> None:
    """Fail a run that the budget ended; say what is not known of what it spent."""
    cost = outputs.report().cost
    unknown = cost.calls - cost.known
    if unknown:
        outputs.notes.append(
            f"budget: what {unknown} of {cost.calls} calls cost is unknown, and is not "
            f"counted (prices in llmeval.yaml tell it)"
        )
    left = sum(record.status == "not_run" for record in outputs.records.values())
    if not left:
        return
    noun = "case was" if left == 1 else "cases were"
    outputs.notes.append(
        f"budget: {money_text(cost.live or 0.0)} of {money_text(budget)} spent, and "
        f"{left} {noun} not run (--llmeval-budget)"
    )
    if session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _refuse_unstable(session: pytest.Session, outputs: Outputs) -> None:
    unstable = sum(record.is_unstable for record in outputs.records.values())
    if not unstable:
        return
    outputs.notes.append(
        f"{unstable} unstable, and --llmeval-fail-on-unstable fails the run for that"
    )
    if session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _tolerate(
    session: pytest.Session, outputs: Outputs, allowed: int, bars: Bars
) -> None:
    """Forgive a run whose only failures are unscored cases and noise."""
    if session.shouldfail or session.shouldstop:
        # Stopped early: what did not run might have failed.
        if allowed or bars.noise:
            outputs.notes.append("the run was stopped early, so nothing is tolerated")
        return
    unscored = _tolerated(outputs, allowed)
    if unscored is None or not unscored + bars.noise:
        return
    if session.testsfailed == unscored + bars.noise:
        session.exitstatus = pytest.ExitCode.OK
        if unscored:
            outputs.notes.append(
                f"{unscored} unscored, tolerated by --llmeval-max-unscored={allowed}"
            )


def _tolerated(outputs: Outputs, allowed: int) -> int | None:
    """Return how many unscored cases are tolerated, None when they are too many."""
    unscored = [r for r in outputs.records.values() if r.status == "unscored"]
    # A crash of the application is a finding about the application, never noise.
    crashed = [r for r in unscored if r.cause in {"application", "crashed", "suite"}]
    if not crashed and len(unscored) <= allowed:
        return len(unscored)
    if allowed:
        outputs.notes.append(
            f"{len(unscored)} unscored, {len(crashed)} of them by the application or "
            f"the suite itself; --llmeval-max-unscored={allowed} does not cover that"
            if crashed
            else f"{len(unscored)} unscored, and --llmeval-max-unscored={allowed}"
        )
    return None


def _require(
    session: pytest.Session, outputs: Outputs, required: int | str | None
) -> None:
    scored = sum(r.status in SCORED for r in outputs.records.values())
    wanted = len(outputs.records) if required == "all" else int(required or 0)
    if required is None or (scored >= wanted and scored > 0):
        return
    outputs.notes.append(
        f"{scored} of {len(outputs.records)} cases were scored, and "
        f"--llmeval-require={required} asks for {wanted or 'at least one'}"
    )
    if session.exitstatus in {
        pytest.ExitCode.OK,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    }:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED

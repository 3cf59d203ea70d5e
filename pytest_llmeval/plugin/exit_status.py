"""The exit status of a run with evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_llmeval.plugin.outputs import Outputs
    from pytest_llmeval.plugin.settings import Settings

__all__ = ["decide_exit"]


def decide_exit(session: pytest.Session, outputs: Outputs, settings: Settings) -> None:
    """Forgive tolerated unscored cases, and fail a run that scored too little.

    Only "ok" and "tests failed" are touched: interrupted, usage and internal errors
    and "no tests" keep their own status.
    """
    if session.exitstatus == pytest.ExitCode.TESTS_FAILED:
        _tolerate(session, outputs, settings.max_unscored)
    if not session.config.option.collectonly:
        _require(session, outputs, settings.require)


def _tolerate(session: pytest.Session, outputs: Outputs, allowed: int) -> None:
    unscored = [r for r in outputs.records.values() if r.status == "unscored"]
    # A crash of the application is a finding about the application, never noise.
    crashed = [r for r in unscored if r.cause in {"application", "crashed", "suite"}]
    if not unscored or allowed == 0:
        return
    if session.shouldfail or session.shouldstop:
        # Stopped early: what did not run might have failed.
        outputs.notes.append("the run was stopped early, so nothing is tolerated")
        return
    if len(unscored) > allowed or crashed:
        outputs.notes.append(
            f"{len(unscored)} unscored, {len(crashed)} of them by the application or "
            f"the suite itself; --llmeval-max-unscored={allowed} does not cover that"
            if crashed
            else f"{len(unscored)} unscored, and --llmeval-max-unscored={allowed}"
        )
    elif session.testsfailed == len(unscored):
        session.exitstatus = pytest.ExitCode.OK
        outputs.notes.append(
            f"{len(unscored)} unscored, tolerated by --llmeval-max-unscored={allowed}"
        )


def _require(
    session: pytest.Session, outputs: Outputs, required: int | str | None
) -> None:
    scored = sum(r.status in {"passed", "failed"} for r in outputs.records.values())
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

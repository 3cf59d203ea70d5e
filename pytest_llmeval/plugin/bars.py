"""What a run is held to besides its single checks: gates and a baseline.

Cases below the bar of a gate, and cases that failed in the baseline too, stay visible
and are run again by --lf, but do not fail the run by themselves. Which ones they are
is known as their reports arrive; whether gates hold and the comparison passes, when
the run has ended, on the controller alone.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.baseline import NoBaseline, find_baseline
from pytest_llmeval.conclusion import (
    Conclusion,
    Ended,
    Terms,
    conclude,
    quality_gates,
)
from pytest_llmeval.plugin.against import Against
from pytest_llmeval.types import Record

if TYPE_CHECKING:
    from pytest_llmeval.plugin.run import Run

__all__ = ["Bars"]

#: Statuses of ours that a failed report can have, with letter, word and colour.
_WORDS = {
    "unscored": ("U", "UNSCORED", "red"),
    "gated": ("g", "GATED", "yellow"),
    "known": ("k", "KNOWN", "yellow"),
}
_FORGIVEN = {"gated": "below the bar, gated", "known": "failed in the baseline too"}


class Bars:
    """Gates and the baseline of a session.

    Args:
        run: The session's run.

    Raises:
        UserError: The baseline can't be read, or is required and not there.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.conclusion = Conclusion()
        """What the run comes to, once that is decided."""
        self.ended = Ended()
        self._absent: str | None = None
        self._forgiven: dict[str, str] = {}
        settings = run.runtime.settings
        self.against = self._found(settings.compare, settings.require_baseline)
        self.terms = Terms(
            gates=tuple(run.runtime.config.gates),
            baseline=self.against.baseline if self.against else None,
            fail_on=settings.fail_on,
            allow_missing=settings.allow_missing,
            max_unscored=settings.max_unscored,
            require=settings.require,
            budget=settings.budget,
            fail_on_unstable=settings.fail_on_unstable,
        )

    def _found(self, spec: str | None, is_required: bool) -> Against | None:
        """Return the baseline to compare with, None where there is none (yet)."""
        if spec is None:
            return None
        config = self.run.config
        base = config.invocation_params.dir
        try:
            return Against(find_baseline(spec, root=config.rootpath, base=base))
        except NoBaseline as exc:
            if is_required:
                raise
            self._absent = str(exc)
            return None

    # --- as reports arrive -----------------------------------------------------------

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(
        self, report: pytest.TestReport
    ) -> Generator[None, Any, Any]:
        """Take a failure that does not count by itself for what it is.

        Three readers want different things: --lf keeps a case whose report has failed;
        the session counts a failure unless it has `wasxfail`; the xdist controller
        counts what has failed after this hook.
        """
        if report.when == "teardown" and report.nodeid in self._forgiven:
            # What JUnit XML has of a test's properties comes from this report.
            entry = ("llmeval_status", self._forgiven.pop(report.nodeid))
            report.user_properties.append(entry)
        status = self._status(report)
        if status not in _FORGIVEN:
            return (yield)
        report.llmeval["status"] = self._forgiven[report.nodeid] = status
        report.wasxfail = _FORGIVEN[status]
        try:
            return (yield)
        finally:
            del report.wasxfail  # --pdb stops on it again
            if hasattr(report, "node"):  # on the controller: not to be counted for -x
                report.outcome = "skipped"

    def _status(self, report: Any) -> str | None:
        data = getattr(report, "llmeval", None)
        if data is None or report.outcome != "failed":
            return None
        if data["status"] != "failed":
            return str(data["status"])
        record = Record.from_json(data)
        if self.against is not None and self.against.failed_before(record):
            return "known"
        if record.fingerprints.must_pass:
            return "failed"
        held = any(quality_gates(record, self.terms.gates))
        return "gated" if held else "failed"

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.TestReport
    ) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Give our statuses their letter, word and count."""
        data = getattr(report, "llmeval", None) or {}
        found = _WORDS.get(data.get("status", ""))
        if found is None or report.passed:
            return None
        letter, word, colour = found
        return data["status"], letter, (word, {colour: True})

    # --- at the end ------------------------------------------------------------------

    def decide(self, session: pytest.Session) -> None:
        """Weigh the run; what a broken gate held counts as failed."""
        outputs = self.run.outputs
        self.ended = Ended(
            status=int(session.exitstatus),
            failed=session.testsfailed,
            is_cut=bool(session.shouldfail or session.shouldstop),
        )
        self.conclusion = conclude(
            list(outputs.records.values()),
            self.terms,
            self.run.runtime.collected,
            self.ended,
            taken=outputs.progress.taken,
        )
        outputs.records = {one.nodeid: one for one in self.conclusion.records}
        if self._absent is not None and outputs.records:
            outputs.note(self._absent)
        outputs.notes += self.conclusion.notes
        if self.conclusion.status != self.ended.status:
            session.exitstatus = pytest.ExitCode(self.conclusion.status)
        self._release()

    def _release(self) -> None:
        """Show cases as failed that no gate holds any more."""
        released = self.conclusion.released
        reporter = self.run.config.pluginmanager.getplugin("terminalreporter")
        if reporter is None or not released:
            return
        gated = reporter.stats.pop("gated", [])
        kept = [report for report in gated if report.nodeid not in released]
        if kept:
            reporter.stats["gated"] = kept
        for report in gated:
            if report.nodeid in released:
                report.outcome = "failed"
                report.llmeval["status"] = "failed"
                reporter.stats.setdefault("failed", []).append(report)

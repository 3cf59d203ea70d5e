"""The run of a session's evaluations: records on reports, journal, summary, exit.

Registered when the first evaluation is collected, or, on an xdist controller, when the
first report with a record arrives. A suite without evaluations never has one.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_llmeval.errors import EvalAssertionError, UnscoredError
from pytest_llmeval.plugin import summary
from pytest_llmeval.plugin._internals import (
    clean_report,
    has_texts,
    name_crash,
    redact_report,
)
from pytest_llmeval.plugin.ahead import Ahead
from pytest_llmeval.plugin.attach import attach
from pytest_llmeval.plugin.bars import Bars
from pytest_llmeval.plugin.bodies import warn_if_unchecked
from pytest_llmeval.plugin.calibrating import Calibrating
from pytest_llmeval.plugin.cases import case_run, record_of
from pytest_llmeval.plugin.circumstances import is_wanted
from pytest_llmeval.plugin.earlier import rescored_of, resumed_of
from pytest_llmeval.plugin.ending import Ending
from pytest_llmeval.plugin.failures import Questions
from pytest_llmeval.plugin.junit import is_ours
from pytest_llmeval.plugin.outcomes import NOT_RUN, Outcome, outcome_of, with_parts
from pytest_llmeval.plugin.outlived import Outlived
from pytest_llmeval.plugin.outputs import Outputs
from pytest_llmeval.plugin.runtime import Runtime, close_runtime, runtime_of
from pytest_llmeval.plugin.samples import Samples
from pytest_llmeval.plugin.stopped import Stopped
from pytest_llmeval.plugin.taken import is_taken_over, replay
from pytest_llmeval.recorder import begin, end

__all__ = ["Run", "run_of"]

_KEY = pytest.StashKey["Run"]()


@dataclass(slots=True)
class _Turn:
    """The case whose item runs."""

    samples: Samples
    parts: list[Outcome] = field(default_factory=list)
    """Of what was reported from within its body."""
    is_in_body: bool = False


class Run:
    """What a session keeps of its evaluations.

    Args:
        config: The pytest config.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.runtime: Runtime = runtime_of(config)
        self.is_worker = hasattr(config, "workerinput")
        self.bars = Bars(self)
        self.resumed = resumed_of(config)
        if (stored := rescored_of(config)) is not None:
            stored.clean = lambda value: self.runtime.redactor.redact(value)
            self.runtime.facades.stored = stored
        self.outputs = Outputs(self)
        self.questions = Questions()
        self.outlived = Outlived()
        self.stopped = Stopped(self)
        self.runtime.facades.on_asked = self.outlived.note
        self._turns: dict[pytest.Item, _Turn] = {}
        """Not in the items' stashes, which pytest keeps to the end."""

    # --- a case runs -----------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Forget the case when its item is done."""
        if self.takes_over(item):
            replay(item)
        try:
            return (yield)
        except BaseException:
            if (turn := self._turns.get(item)) is not None:
                self.stopped.hold(turn.samples)
            raise
        finally:
            if self._turns.pop(item, None) is not None:
                end()
                self.runtime.cases.pop(item, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin a record; a rerun begins anew."""
        if item.get_closest_marker("llmeval") is not None:
            samples = self.samples_for(item)
            self._turns[item] = _Turn(samples)
            samples.shown.is_in_setup = True
            self.outlived.begin(samples.shown)
            begin(samples.shown)
            ahead: Any = self.config.pluginmanager.getplugin("llmeval-ahead")
            has_begun = ahead is not None and ahead.has_begun(item)
            is_needed = not (has_begun or is_taken_over(item))
            if is_needed and self.runtime.is_spent():
                pytest.skip(NOT_RUN)

    def takes_over(self, item: pytest.Item) -> bool:
        """Return whether an item ends as it did in the run that is gone on with."""
        if self.resumed is None or item.get_closest_marker("llmeval") is None:
            return False
        return self.resumed.takes_over(item, self.runtime)

    def samples_for(self, item: pytest.Item) -> Samples:
        """Return the samples of an item that is about to run."""
        return Samples(case_run(item, self.runtime), self.runtime.is_spent)

    def samples_of(self, item: pytest.Item) -> Samples:
        """Return the record that an item's set-up began."""
        return self._turns[item].samples

    def conclude(self, item: pytest.Item, samples: Samples) -> BaseException | None:
        """Make the record of bodies that have run the item's own.

        Returns:
            What the item ends with; None if it passes.
        """
        turn = self._turns[item]
        if samples is not turn.samples:
            samples.follow(turn.samples)
            turn.samples = samples
        error = samples.conclude()
        begin(samples.shown)
        return error

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, Any, Any]:
        """Put the case's record on its report."""
        report: pytest.TestReport = yield
        turn = self._turns.get(item)
        if turn is None:
            if has_texts(report):
                redact_report(report, self.runtime.redactor)
            return report
        samples = turn.samples
        if call.when == "setup":
            samples.shown.is_in_setup = False
            self.questions.note_setup(samples)
            # A rerun must not inherit the last status and scores.
            item.user_properties[:] = [
                entry for entry in item.user_properties if not is_ours(entry[0])
            ]
            if self.is_worker:
                # Should the process die in the body, this is what is left of the case.
                crash = Outcome(status="unscored", cause="crashed")
                begun = record_of(samples, crash, 0.0).to_json()
                report.llmeval_begun = begun  # type: ignore[attr-defined]
                count = self.stopped.count(item.session)
                report.llmeval_selected = count  # type: ignore[attr-defined]
        error = call.excinfo.value if call.excinfo else None
        outcome = outcome_of(report, error)
        if outcome is not None and turn.is_in_body:
            # Of a block of the subtests fixture: a part of the case, not the case.
            turn.parts.append(outcome)
        elif outcome is not None:
            outcome = with_parts(report, outcome, turn.parts)
            if outcome.status == "not_run":
                file, line, _ = report.location  # and not where we said so
                report.longrepr = (file, (line or 0) + 1, f"Skipped: {outcome.reason}")
            attach(self, report, item, samples, outcome)
            is_verbose = self.config.get_verbosity() > 1
            summary.add_sections(report, samples.shown, error, is_verbose=is_verbose)
            counted = samples.headline(outcome.status)
            if counted or isinstance(error, EvalAssertionError | UnscoredError):
                name_crash(report, f"{counted}{outcome.reason}")
        if has_texts(report):
            clean_report(report, self.runtime.redactor)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Know whether the body is running when a report is made."""
        if (turn := self._turns.get(item)) is None:
            return (yield)
        turn.is_in_body = True
        try:
            return (yield)
        finally:
            turn.is_in_body = False

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(
        self, pyfuncitem: pytest.Function
    ) -> Generator[None, Any, Any]:
        """Warn, within the call, about a body that checked nothing."""
        if (turn := self._turns.get(pyfuncitem)) is None:
            return (yield)
        self.outlived.check(pyfuncitem, turn.samples.run.plan)
        result = yield
        warn_if_unchecked(pyfuncitem)
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        """Take secrets out of a warning, which the summary prints."""
        text = str(warning_message.message)
        if (clean := self.runtime.redactor.text(text)) != text:
            # Not its own class: that may take any arguments.
            warning_message.message = UserWarning(clean)

    # --- reports arrive --------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the record of a finished case; also those that workers send."""
        if not self.is_worker:
            self.stopped.selected = getattr(
                report, "llmeval_selected", self.stopped.selected
            )
            self.outputs.take(report)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Let go of the texts of a case that is done."""
        self.outputs.done(nodeid)

    # --- the end ---------------------------------------------------------------------

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Close clients, and the journal that records are read from."""
        close_runtime(config)
        self.outputs.close()


def run_of(config: pytest.Config) -> Run:
    """Return the session's run, made and registered on first need."""
    if _KEY not in config.stash:
        run = config.stash[_KEY] = Run(config)
        config.pluginmanager.register(run, "llmeval-run")
        config.pluginmanager.register(Ending(run), "llmeval-ending")
        config.pluginmanager.register(run.bars, "llmeval-bars")
        config.pluginmanager.register(run.outlived, "llmeval-outlived")
        config.pluginmanager.register(run.stopped, "llmeval-stopped")
        if is_wanted(config):
            config.pluginmanager.register(Ahead(run), "llmeval-ahead")
        config.pluginmanager.register(Calibrating(), "llmeval-calibrating")
        if config.option.collectonly:
            from pytest_llmeval.plugin.planning import Planning

            config.pluginmanager.register(Planning(run), "llmeval-planning")
        if run.runtime.settings.mutate:
            from pytest_llmeval.plugin.mutants import Mutants

            config.pluginmanager.register(Mutants(run), "llmeval-mutants")
    return config.stash[_KEY]

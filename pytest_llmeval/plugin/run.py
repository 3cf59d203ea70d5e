"""The run of a session's evaluations: records on reports, journal, summary, exit.

Registered when the first evaluation is collected, or, on an xdist controller, when the
first report with a record arrives. A suite without evaluations never has one.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from typing import Any

import pytest

from pytest_llmeval.errors import UserError
from pytest_llmeval.plugin import summary
from pytest_llmeval.plugin._internals import (
    parameter_marks,
    parameters,
    redact_report,
)
from pytest_llmeval.plugin.bodies import warn_if_unchecked
from pytest_llmeval.plugin.collect import label_of
from pytest_llmeval.plugin.exit_status import decide_exit
from pytest_llmeval.plugin.junit import mark_unscored
from pytest_llmeval.plugin.marker import read_marker
from pytest_llmeval.plugin.outcomes import Outcome, outcome_of
from pytest_llmeval.plugin.recordings import RecordingWriter
from pytest_llmeval.plugin.runtime import Runtime, close_runtime, runtime_of
from pytest_llmeval.recorder import CaseRun, SampleRun, begin, end
from pytest_llmeval.report import json_file
from pytest_llmeval.report.model import Report, build_report
from pytest_llmeval.store.runs import Journal
from pytest_llmeval.types import Case, Record, as_text

__all__ = ["Run", "run_of"]

_KEY = pytest.StashKey["Run"]()
_SAMPLE = pytest.StashKey[SampleRun]()


class Run:
    """What a session keeps of its evaluations.

    Args:
        config: The pytest config.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.runtime: Runtime = runtime_of(config)
        self.is_worker = hasattr(config, "workerinput")
        self.records: dict[str, Record] = {}
        self.started = time.time()
        self.recordings = RecordingWriter(config.rootpath)
        self.notes: list[str] = []
        """Lines of the summary about the run itself: trouble, the exit status."""
        self._journal: Journal | None = None

    # --- a case runs -----------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Forget the case when its item is done."""
        try:
            return (yield)
        finally:
            if _SAMPLE in item.stash:
                end()
                del item.stash[_SAMPLE]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin a record; a rerun begins anew."""
        if item.get_closest_marker("llmeval") is not None:
            item.stash[_SAMPLE] = SampleRun(self.case_run(item))
            begin(item.stash[_SAMPLE])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, Any, Any]:
        """Put the case's record on its report."""
        report: pytest.TestReport = yield
        sample = item.stash.get(_SAMPLE, None)
        if sample is None:
            return report
        if call.when == "setup":  # a rerun must not inherit the last status
            item.user_properties[:] = [
                entry for entry in item.user_properties if entry[0] != "llmeval_status"
            ]
        error = call.excinfo.value if call.excinfo else None
        outcome = outcome_of(report, error)
        if outcome is not None:
            self._attach(report, item, sample, outcome)
            summary.add_section(report, sample, error)
        redact_report(report, self.runtime.redactor)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(
        self, pyfuncitem: pytest.Function
    ) -> Generator[None, Any, Any]:
        """Warn, within the call, about a body that checked nothing."""
        result = yield
        if _SAMPLE in pyfuncitem.stash:
            warn_if_unchecked(pyfuncitem)
        return result

    def case_run(self, item: pytest.Item) -> CaseRun:
        """Return the case an item is about to run."""
        found = parameters(item)
        case = found.get("case")
        if not isinstance(case, Case):
            # No dataset: one case, named after the test or its parameters.
            case = Case(id=item.name)
        return CaseRun(
            nodeid=item.nodeid,
            test=item.nodeid.partition("[")[0],
            case=case,
            plan=self.runtime.plan(read_marker(item), item.path.parent),
            params={
                **{name: _shown(v) for name, v in found.items() if name != "case"},
                **_pinned(item),
            },
            rerun=self.runtime.rerun_command(item),
        )

    def _attach(
        self,
        report: pytest.TestReport,
        item: pytest.Item,
        sample: SampleRun,
        outcome: Outcome,
    ) -> None:
        redactor = self.runtime.redactor
        record = _record(sample, outcome, report.duration)
        report.llmeval = redactor.redact(record.to_json())  # type: ignore[attr-defined]
        report.llmeval_recordings = [  # type: ignore[attr-defined]
            (item.nodeid, sample.recordings),
            (None, self.runtime.recorded_outside()),
        ]
        properties = {"llmeval_source": record.source or "", "llmeval_status": ""}
        if outcome.status == "unscored":
            properties["llmeval_status"] = "unscored"
        for entry in properties.items():
            if entry[1]:
                item.user_properties.append(entry)
                report.user_properties.append(entry)

    # --- reports arrive --------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the record of a finished case; also those that workers send."""
        data: Mapping[str, Any] | None = getattr(report, "llmeval", None)
        # "rerun" is how an attempt that does not count is reported.
        if self.is_worker or data is None or str(report.outcome) == "rerun":
            return
        for nodeid, entries in getattr(report, "llmeval_recordings", ()):
            self.recordings.add(nodeid, entries)
        record = Record.from_json(data)
        self.records[record.nodeid] = record
        self.journal.append(record.to_json())

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.TestReport
    ) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Give unscored cases their letter, word and count."""
        if summary.is_unscored(report):
            return "unscored", "U", ("UNSCORED", {"red": True})
        return None

    # --- the end ---------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(
        self, session: pytest.Session
    ) -> Generator[None, Any, Any]:
        """Decide the exit status, write reports, put JUnit right."""
        if self.is_worker:
            return (yield)
        decide_exit(session, self)
        self._write_reports(session)
        self.journal.close(
            {"exit_status": int(session.exitstatus), "totals": self._totals()}
        )
        try:
            return (yield)
        finally:
            if path := getattr(self.config.option, "xmlpath", None):
                mark_unscored(self.config.invocation_params.dir / path)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> Generator[None, Any, Any]:
        """Print unscored cases above the failures and the report below them."""
        if not self.is_worker:
            summary.write_unscored(terminalreporter)
        result = yield
        if not self.is_worker:
            summary.write_short_lines(terminalreporter)
        return result

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Close clients."""
        close_runtime(config)

    @property
    def journal(self) -> Journal:
        """The run's journal, opened with the first record."""
        if self._journal is None:
            self._journal = Journal.open(self.runtime.root / ".llmeval", self.header())
        return self._journal

    def header(self) -> dict[str, Any]:
        """Return what is known of the run itself."""
        settings = self.runtime.settings
        return {
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.started)),
            "arguments": list(self.config.invocation_params.args),
            "generators": [label_of(spec) for spec in self.runtime.generators(None)],
            "judge": label_of(self.runtime.judge_spec(None) or "") or None,
            "limit": settings.limit,
        }

    def report(self) -> Report:
        """Return the report of what has run."""
        return build_report(list(self.records.values()), self.header())

    def _totals(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for record in self.records.values():
            counts[record.status] = counts.get(record.status, 0) + 1
        return counts

    def _write_reports(self, session: pytest.Session) -> None:
        if self.journal.trouble:
            self.notes.append(self.journal.trouble)
        self._write_recordings(session)
        for path in self.runtime.settings.reports:
            try:
                json_file.write(self.report(), path)
            except OSError as exc:
                self.notes.append(f"could not write the report {str(path)!r}: {exc}")
                _fail(session)
            else:
                self.notes.append(f"report written to {path}")

    def _write_recordings(self, session: pytest.Session) -> None:
        try:
            self.notes += self.recordings.write()
        except (OSError, UserError) as exc:
            self.notes.append(f"could not write the recordings: {exc}")
            _fail(session)


def _fail(session: pytest.Session) -> None:
    """Fail a run that looked well: something asked for is not there."""
    if session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _record(sample: SampleRun, outcome: Outcome, seconds: float) -> Record:
    run = sample.run
    kept = sample.sample(outcome.status, cause=outcome.cause, reason=outcome.reason)
    return Record(
        nodeid=run.nodeid,
        test=run.test,
        case_id=run.case.id,
        status=outcome.status,
        params=run.params,
        cause=outcome.cause,
        reason=outcome.reason,
        source=str(run.case.source) if run.case.source else None,
        tags=run.case.tags,
        seconds=seconds,
        rerun=run.rerun,
        samples=(kept.to_json(),),
    )


def _shown(value: Any) -> str:
    text = as_text(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _pinned(item: pytest.Item) -> dict[str, str]:
    """Return the model and prompt of a matrix that an item runs with."""
    return {
        name: label_of(value)
        for mark in parameter_marks(item)
        if mark.name == "llmeval"
        for name, value in mark.kwargs.items()
    }


def run_of(config: pytest.Config) -> Run:
    """Return the session's run, made and registered on first need."""
    if _KEY not in config.stash:
        config.stash[_KEY] = Run(config)
        config.pluginmanager.register(config.stash[_KEY], "llmeval-run")
    return config.stash[_KEY]

"""What a run leaves behind: journal, reports, recordings, failures.

Written by one process.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.conclusion import Aggregates, KeptRun, save_baseline
from pytest_llmeval.plugin.failures import Failures
from pytest_llmeval.plugin.github import append_summary
from pytest_llmeval.plugin.loads import Loads
from pytest_llmeval.plugin.notes import alone_lines
from pytest_llmeval.plugin.recordings import RecordingWriter, drops_unused
from pytest_llmeval.plugin.resuming import Progress
from pytest_llmeval.plugin.sample_log import SampleLog
from pytest_llmeval.plugin.variants import label_of
from pytest_llmeval.report import files
from pytest_llmeval.report.build import build_report
from pytest_llmeval.report.model import Report
from pytest_llmeval.store.journal import Journal
from pytest_llmeval.types import Record

if TYPE_CHECKING:
    from pytest_llmeval.plugin.run import Run

__all__ = ["Outputs"]


class Outputs:
    """Takes the records of a run as its cases end, and writes what was asked for.

    Args:
        run: The session's run.
    """

    def __init__(self, run: Run) -> None:
        self.records: dict[str, Record] = {}
        """By node id: of a case that was run again, the last."""
        self.notes: list[str] = []
        """Lines of the summary about the run itself: trouble, files, exit status."""
        self.alone: dict[str, str] = {}
        """Why tests ran one case at a time, by the test's name."""
        self.known: dict[str, Any] = {}
        """Further things known of the run itself, for its header in reports."""
        self.started = time.time()
        self._config = run.config
        self._runtime = runtime = run.runtime
        self._recordings = RecordingWriter(runtime.root)
        self._samples = SampleLog()
        self._failures = Failures(run.config, runtime)
        self._begun: dict[str, Mapping[str, Any]] = {}
        self._loads = Loads()
        self._aggregates = Aggregates()
        self._journal: Journal | None = None
        self._bars = run.bars
        self._resumed = run.resumed
        self._stored = runtime.facades.stored
        self.progress = Progress()
        """How much of an earlier run was taken over."""

    def take(self, report: Any) -> None:
        """Keep what a report carries; one without a record carries nothing."""
        self._note_crash(report)
        self._loads.note(report)
        if (reason := getattr(report, "llmeval_alone", None)) is not None:
            self.alone[report.nodeid.partition("[")[0].partition("::")[2]] = reason
        data: Mapping[str, Any] | None = getattr(report, "llmeval", None)
        # "rerun" is how an attempt that does not count is reported.
        if data is None or report.outcome == "rerun":
            return
        self._recordings.add(getattr(report, "llmeval_recordings", ()))
        self._samples.add(report)
        for note in getattr(report, "llmeval_notes", ()):
            self.note(note)
        record = self._keep(data)
        self._failures.take(report, record)
        self.progress.add(record.nodeid, getattr(report, "llmeval_resumed", None))

    def done(self, nodeid: str) -> None:
        """Let go of what is not needed of a case whose every report was seen by all."""
        self._begun.pop(nodeid, None)
        self._loads.take_off(nodeid)

    def keep(self, record: Record) -> None:
        """Keep the record of a case that no report was made of."""
        self._keep(self._runtime.redactor.redact(record.to_json()))

    def _keep(self, data: Mapping[str, Any]) -> Record:
        if self._journal is None:
            home = self._runtime.root / ".llmeval"
            needed = self._resumed.paths if self._resumed else frozenset()
            self._journal = Journal.open(home, self._kept().header(), needed=needed)
        record = self._journal.append(data)
        self.records[record.nodeid] = record
        return record

    def close(self) -> None:
        """Let go of what records are read from."""
        if self._journal is not None:
            self._journal.forget()

    def begun(self) -> list[Record]:
        """Return, as workers had begun them, the cases that have not ended."""
        return [
            Record.from_json(begun)
            for nodeid, begun in self._begun.items()
            if nodeid not in self.records
        ]

    def note(self, text: str) -> None:
        """Add a line to the summary; one that several workers have is told once."""
        if text not in self.notes:
            self.notes.append(text)

    def _note_crash(self, report: Any) -> None:
        """Give the report of a case whose worker died the record it had begun with.

        xdist makes that report itself; it says neither "setup" nor "call".
        """
        if (begun := getattr(report, "llmeval_begun", None)) is not None:
            self._begun[report.nodeid] = begun
        elif report.when not in {"setup", "call", "teardown"} and (
            left := self._begun.get(report.nodeid)
        ):
            reason = str(report.longrepr).splitlines()[0]
            report.llmeval = {**left, "reason": reason}

    def header(self) -> dict[str, Any]:
        """Return what is known of the run itself."""
        runtime = self._runtime
        return {
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.started)),
            "arguments": runtime.redactor.redact(
                list(self._config.invocation_params.args)
            ),
            "mode": runtime.settings.mode,
            "generators": [label_of(spec) for spec in runtime.plans.generators(None)],
            "judge": label_of(runtime.plans.judge_spec(None) or "") or None,
            "limit": runtime.settings.limit,
            **({"resumed": self._resumed.name} if self._resumed else {}),
            **({"rescored": self._stored.path.name} if self._stored else {}),
            **self.known,
        }

    @cached_property
    def report(self) -> Report:
        """The report of what has run; read when all is decided, and built once.

        Standard errors are drawn for it, and tasks' own functions called.
        """
        return build_report(
            list(self.records.values()),
            self.header(),
            gates=self._bars.conclusion.gates,
            compared=self._bars.conclusion.compared,
            aggregate=self._aggregated,
            groups=self._runtime.collected.groups_there(),
        )

    def _kept(self) -> KeptRun:
        """Return what the journal keeps of the run besides its cases."""
        return KeptRun(
            run=self.header(),
            terms=self._bars.terms,
            collected=self._runtime.collected,
            ended=self._bars.ended,
            taken=frozenset(self.progress.taken),
            notes=tuple(self._runtime.redactor.redact(self.notes)),
            aggregates=self._aggregates.values,
        )

    def _aggregated(
        self, test: str, name: str, function: str, items: list[Any]
    ) -> float | None:
        """Return what a task's own function makes of a check's values."""
        # As lm-evaluation-harness keeps them: of several things a tuple.
        rows = [tuple(one) if isinstance(one, list) else one for one in items]
        value = None
        try:
            found = float(self._runtime.tasks.task(test).aggregations[function](rows))
            value = found if isfinite(found) else None
        except Exception as exc:  # noqa: BLE001 - whatever a user's function raises
            self.note(f"{test}: {name} has no value: {type(exc).__name__}: {exc}")
        self._aggregates.add(test, name, value)
        return value

    def finish(self, session: pytest.Session) -> None:
        """Write recordings, failures, baseline and reports, and close the journal."""
        if self._resumed is not None and self.records:
            self.notes.append(self.progress.line(self._resumed.name))
        if self._stored is not None and self.records:
            self.notes.append(
                f"rescored {self._stored.path.name}: its replies, and no generator asked"
            )
        self.notes += alone_lines(self.alone)
        for note in self._runtime.clients.settle():
            self.note(note)
        self._save(session)
        self._write_recordings(session)
        self.notes += self._failures.write(self.records)
        self._write_reports(session)
        self._write_samples(session)
        if trouble := append_summary(self.report):
            self.notes.append(trouble)
        if self._journal is None:  # nothing ran, so there is no run to keep
            return
        totals = Counter(record.status for record in self.records.values())
        self._journal.close(
            {
                "exit_status": int(session.exitstatus),
                "totals": dict(totals),
                **self._kept().footer(),
            }
        )
        if self._journal.trouble:
            self.notes.append(self._journal.trouble)

    def _save(self, session: pytest.Session) -> None:
        name = self._runtime.settings.save
        if name is None:
            return
        note, is_saved = save_baseline(
            name,
            list(self.records.values()),
            self.header(),
            self._runtime.collected,
            root=self._runtime.root,
            force="--llmeval-save-force",
            is_forced=self._runtime.settings.save_force,
        )
        if is_saved:
            self.notes.append(note)
        else:
            self._fail(session, note)

    def _write_recordings(self, session: pytest.Session) -> None:
        for told in self._recordings.write(
            self.records.values(),
            self._runtime.collected,
            drops=drops_unused(self._config),
        ):
            if isinstance(told, str):
                self.notes.append(told)
            else:
                self._fail(session, f"could not write the recordings: {told}")

    def _write_reports(self, session: pytest.Session) -> None:
        for path in self._runtime.settings.reports:
            try:
                files.write(self.report, path)
            except OSError as exc:
                self._fail(session, f"could not write the report {str(path)!r}: {exc}")
            else:
                self.notes.append(f"report written to {self._shown(path)}")

    def _shown(self, path: Path) -> str:
        begun = self._config.invocation_params.dir
        return str(path.relative_to(begun) if path.is_relative_to(begun) else path)

    def _write_samples(self, session: pytest.Session) -> None:
        folder = self._runtime.settings.log_samples
        if folder is None:
            return
        for told in self._samples.write(folder, self.started):
            if isinstance(told, str):
                self.notes.append(told)
            else:
                self._fail(session, f"could not write the samples: {told}")

    def _fail(self, session: pytest.Session, note: str) -> None:
        """Fail a run that looked well: something that was asked for is not there."""
        self.notes.append(note)
        if session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

"""What a run is held to besides its single checks: gates and a baseline.

Cases below the bar of a gate, and cases that failed in the baseline too, stay visible
and are run again by --lf, but do not fail the run by themselves. Which ones they are
is known as their reports arrive; whether gates hold and the comparison passes, when
the run has ended, on the controller alone.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.baseline import Baseline, Compared, NoBaseline, find_baseline
from pytest_llmeval.errors import UserError
from pytest_llmeval.gates import Gate, GateResult, evaluate, parse_gate, scoped_gate
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
        self.gates: tuple[GateResult, ...] = ()
        self.compared: Compared | None = None
        self.released: set[str] = set()
        """Node ids of the cases whose gate did not hold: they count as failed."""
        self.against: Against | None = None
        self._absent: str | None = None
        self._forgiven: dict[str, str] = {}
        settings = run.runtime.settings
        if settings.compare is not None:
            try:
                self.against = Against(self._baseline(settings.compare))
            except NoBaseline as exc:
                if settings.require_baseline:
                    raise
                self._absent = str(exc)

    def _baseline(self, spec: str) -> Baseline:
        config = self.run.config
        base = config.invocation_params.dir
        return find_baseline(spec, root=config.rootpath, base=base)

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
        return "gated" if any(self._quality_gates(record)) else "failed"

    def _quality_gates(self, record: Record) -> Iterable[Gate]:
        """Yield the gates that a failure of this case counts for."""
        gates = [parse_gate(text) for text in record.gates]
        for tag, gate in self._wide_gates():
            if tag is None or tag in record.tags:
                gates.append(gate)
        return (gate for gate in gates if gate.is_about_quality)

    def _wide_gates(self) -> list[tuple[str | None, Gate]]:
        """Return the gates of llmeval.yaml, each with its tag or None."""
        return [scoped_gate(text) for text in self.run.runtime.config.gates]

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

    @property
    def noise(self) -> int:
        """How many failures the comparison takes for noise."""
        if self.compared is None or not self.compared.decision.forgives:
            return 0
        regressed = self.compared.comparison.of("regressed")
        return sum(change.case.status == "failed" for change in regressed)

    @property
    def breaks(self) -> bool:
        """Whether the run must not pass because of a gate or the comparison."""
        if any(gate.breaks for gate in self.gates) or self.released:
            return True
        return self.compared is not None and self.compared.decision.state == "fails"

    # --- at the end ------------------------------------------------------------------

    def decide(self) -> None:
        """Evaluate gates and the comparison; what a broken gate held counts as failed."""
        outputs = self.run.outputs
        if not outputs.records:
            return
        self.gates = tuple(self._evaluated())
        self._release()
        if self.against is not None:
            self.compared = self.against.decide(self.run)
        elif self._absent is not None:
            outputs.notes.append(self._absent)

    def _evaluated(self) -> Iterable[GateResult]:
        records = list(self.run.outputs.records.values())
        for (test, *_), group in _groups(records).items():
            for text in group[0].gates:
                yield self._result(
                    parse_gate(text), group, scope=_scope(group[0], test)
                )
        for tag, gate in self._wide_gates():
            chosen = [r for r in records if tag is None or tag in r.tags]
            scope = "the run" if tag is None else f"tag {tag}"
            yield self._result(gate, chosen, scope=scope)

    def _result(self, gate: Gate, records: list[Record], *, scope: str) -> GateResult:
        tests = {record.test for record in records}
        every = list(self.run.outputs.records.values())
        every = [record for record in every if record.status != "not_run"]
        ran = sum(record.test in tests for record in every)
        collected = self.run.runtime.collected
        if scope == "the run":
            tests = set(collected.tests)
            ran = len(every)
        held = sum(collected.items_of(test) for test in tests)
        if ran < held:
            reason = f"{ran} of {held} cases ran"
            return GateResult(
                gate=gate, state="not evaluated", scope=scope, reason=reason
            )
        try:
            return evaluate(gate, records, scope=scope)
        except UserError as exc:
            self.run.outputs.notes.append(f"{scope}: {exc}")
            return GateResult(
                gate=gate, state="undecided", scope=scope, reason="nothing to measure"
            )

    def _release(self) -> None:
        """Count cases as failed whose gate does not hold: nothing holds them then."""
        broken = [one for one in self.gates if one.state != "holds"]
        if not broken:
            return
        outputs = self.run.outputs
        for nodeid, record in outputs.records.items():
            gates = list(self._quality_gates(record))
            if record.status == "gated" and any(
                one.gate in gates and _covers(one, record) for one in broken
            ):
                outputs.records[nodeid] = replace(record, status="failed")
                self.released.add(nodeid)
        reporter = self.run.config.pluginmanager.getplugin("terminalreporter")
        if reporter is None or not self.released:
            return
        gated = reporter.stats.pop("gated", [])
        kept = [report for report in gated if report.nodeid not in self.released]
        if kept:
            reporter.stats["gated"] = kept
        for report in gated:
            if report.nodeid in self.released:
                report.outcome = "failed"
                report.llmeval["status"] = "failed"
                reporter.stats.setdefault("failed", []).append(report)


def _covers(result: GateResult, record: Record) -> bool:
    if result.scope == "the run":
        return True
    if result.scope.startswith("tag "):
        return result.scope.removeprefix("tag ") in record.tags
    return result.scope == _scope(record, record.test)


def _scope(record: Record, test: str) -> str:
    name = test.partition("::")[2] or test
    params = ", ".join(record.params.values())
    return f"{name}[{params}]" if params else name


def _groups(records: Iterable[Record]) -> dict[tuple[Any, ...], list[Record]]:
    """Return the cases of each test with one set of parameters."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        groups.setdefault((record.test, *record.params.items()), []).append(record)
    return groups

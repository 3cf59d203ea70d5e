"""What ``--collect-only`` says of evaluations: what running them would ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.clients import Forecast
from pytest_llmeval.errors import UserError
from pytest_llmeval.plugin._internals import can_show, line_width, parameters
from pytest_llmeval.plugin.basis import row_print
from pytest_llmeval.plugin.cases import pinned_of
from pytest_llmeval.plugin.runtime import Runtime
from pytest_llmeval.recorder import Plan
from pytest_llmeval.report.lines import Page
from pytest_llmeval.report.plan import PlannedTest, plan_line, plan_lines
from pytest_llmeval.store.last import last_cases
from pytest_llmeval.types import Case

if TYPE_CHECKING:
    from pytest_llmeval.plugin.run import Run

__all__ = ["Planning"]

#: Of pytest's verbosity: below it, a number a file is all that is wanted.
_LEAST = -1


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A case that was collected and is not skipped."""

    test: PlannedTest
    case: Case | None
    plan: Plan


class Planning:
    """Counts what was collected, and what its cases asked before.

    Args:
        run: The session's run.
    """

    def __init__(self, run: Run) -> None:
        self._runtime: Runtime = run.runtime
        self._tests: dict[tuple[str, ...], PlannedTest] = {}
        self._trouble = ""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Look at what is left when everything is deselected that is."""
        if session.config.get_verbosity() < _LEAST:
            return
        try:
            wanted = self._collected(session.items)
            self._remember(wanted)
        except UserError as exc:  # recordings beside the suite's own are broken
            self._trouble = str(exc)

    def write(self, reporter: pytest.TerminalReporter) -> None:
        """Write the plan: one line with -q, and nothing with -qq."""
        tests = list(self._tests.values())
        if not tests:
            return
        if reporter.config.get_verbosity() < 0:
            reporter.write_line(plan_line(tests))
        else:
            page = Page(width=line_width(reporter), unicode=can_show(reporter, "–·…"))
            reporter.write_sep("=", "llmeval", bold=True)
            for line in plan_lines(tests, page):
                for text, markup in line.segments:
                    reporter.write(text, **markup)
                reporter.write_line("")
        if self._trouble:
            reporter.write_line(self._trouble)

    def _collected(self, items: Iterable[pytest.Item]) -> dict[str, _Wanted]:
        wanted = {}
        for item in items:
            if item.get_closest_marker("llmeval") is None:
                continue
            plan = self._runtime.plans.of_item(item)
            is_skipped = item.get_closest_marker("skip") is not None
            test = self._test_of(item)
            test.add(plan.repeat, is_skipped=is_skipped)
            if not is_skipped:
                case = parameters(item).get("case")
                wanted[item.nodeid] = _Wanted(
                    test, case if isinstance(case, Case) else None, plan
                )
        return wanted

    def _test_of(self, item: pytest.Item) -> PlannedTest:
        nodeid = item.nodeid.partition("[")[0]
        pins = pinned_of(item)
        key = (nodeid, *pins.values())
        if key not in self._tests:
            name = nodeid.partition("::")[2] or nodeid
            shown = f"[{', '.join(pins.values())}]" if pins else ""
            self._tests[key] = PlannedTest(f"{name}{shown}")
        return self._tests[key]

    def _remember(self, wanted: dict[str, _Wanted]) -> None:
        """Count what the cases asked the last time they ran."""
        forecast = self._runtime.clients.forecast()
        for nodeid, data in last_cases(
            self._runtime.root / ".llmeval" / "runs", wanted
        ):
            one = wanted.pop(nodeid)
            if self._is_as_before(one, data["fingerprints"]):
                self._add(one, data, nodeid.partition("::")[0], forecast)
            else:
                one.test.changed += 1
        for one in wanted.values():
            one.test.new += 1

    def _add(
        self, one: _Wanted, data: Mapping[str, Any], module: str, forecast: Forecast
    ) -> None:
        samples = data["samples"][: one.plan.repeat]
        one.test.further += one.plan.repeat - len(samples)
        for sample in samples:
            asked = (call for call in sample["calls"] if not _is_column(call))
            for call, expected in forecast.of_sample(asked, module):
                one.test.add_call(call, expected)

    def _is_as_before(self, one: _Wanted, fingerprints: Mapping[str, Any]) -> bool:
        """Return whether row and templates are those of the last time."""
        if one.case is not None and row_print(one.case) != fingerprints["row"]:
            return False
        template = self._runtime.basis.of_templates(one.plan)
        return bool(template == fingerprints["template"])


def _is_column(call: Mapping[str, Any]) -> bool:
    """Return whether nobody was asked: the reply stands in the dataset."""
    return bool(call["settings"].get("provider") == "column")

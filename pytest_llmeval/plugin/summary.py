"""What the terminal shows of evaluations, written through pytest's reporter."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.assertions.message import explain_check, headline, where_lines
from pytest_llmeval.diffs import printable
from pytest_llmeval.errors import EvalAssertionError, UnscoredError
from pytest_llmeval.plugin._internals import (
    can_show,
    given_paths,
    line_width,
    writer_of,
)
from pytest_llmeval.plugin.github import annotation_lines
from pytest_llmeval.plugin.options import as_option_arguments
from pytest_llmeval.plugin.places import nodeid_from_here
from pytest_llmeval.recorder import SampleRun
from pytest_llmeval.report import terminal
from pytest_llmeval.report.capsule import whole_texts
from pytest_llmeval.report.model import Report
from pytest_llmeval.types import Record

if TYPE_CHECKING:
    from pytest_llmeval.plugin.run import Run

__all__ = [
    "add_sections",
    "is_unscored",
    "write_report",
    "write_short_lines",
    "write_unscored",
]


def is_unscored(report: Any) -> bool:
    """Return whether a report is of a case that could not be scored."""
    data = getattr(report, "llmeval", None) or {}
    return report.outcome == "failed" and data.get("status") == "unscored"


def add_sections(
    report: pytest.TestReport,
    sample: SampleRun,
    error: BaseException | None,
    *,
    is_verbose: bool,
) -> None:
    """Put on a failed report what its own text does not have.

    Args:
        report: Of a case.
        sample: The run of its body that stands for it.
        error: What it ended with.
        is_verbose: Whether that is all there is, uncut.
    """
    if report.outcome != "failed":
        return
    # The helpers' own errors hold row, command and diff.
    if not isinstance(error, EvalAssertionError) and (
        lines := list(_missing_lines(sample, error))
    ):
        report.sections.insert(0, ("llmeval", "\n".join(lines)))
    if is_verbose:
        record = Record.from_json(report.llmeval)
        for name, text in whole_texts(record):
            if text:
                report.sections.append((f"llmeval: {name}", text))


def _missing_lines(sample: SampleRun, error: BaseException | None) -> Iterator[str]:
    """Yield the diffs of plain asserts, row and rerun command.

    A plain ``assert f1(...) >= 0.6`` shows a diff only where pytest's assertion hook is
    on, which it isn't always.
    """
    if isinstance(error, AssertionError):
        failed = [check for check in sample.checks if check.passed is False]
        for check in failed[-1:]:
            yield headline(check)
            yield from explain_check(check)
    if isinstance(error, UnscoredError):
        # What a judge could not decide on, and by which rubric.
        for check in (c for c in sample.checks if c.metric in {"judge", "pairwise"}):
            if check.passed is None:
                yield from explain_check(check)
    yield from where_lines(sample.run)


def write_unscored(reporter: pytest.TerminalReporter) -> None:
    """Write the texts of unscored cases, which pytest itself prints for none of them.

    An outage makes hundreds alike: each cause and reason is shown once in full.
    """
    reports = reporter.stats.get("unscored", [])
    if not reports or reporter.no_summary:
        return
    # pytest colours its last line by these two counts alone.
    reporter.stats.setdefault("error", [])
    if reporter.config.option.tbstyle == "no":
        return
    reporter.write_sep("=", "UNSCORED")
    for first, others in _alike(reports):
        reporter.write_sep("_", first.head_line, red=True, bold=True)
        first.toterminal(writer_of(reporter))
        for name, content in first.sections:
            reporter.write_sep("-", name)
            reporter.write_line(content.rstrip("\n"))
        if others:
            names = ", ".join(report.head_line or "" for report in others[:3])
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            reporter.write_line("")
            reporter.write_line(f"the same reason: {names}{more}", yellow=True)


def _alike(
    reports: Iterable[pytest.TestReport],
) -> list[tuple[pytest.TestReport, list[pytest.TestReport]]]:
    groups: dict[tuple[str, str], list[pytest.TestReport]] = {}
    for report in reports:
        data = report.llmeval
        groups.setdefault((data["cause"], data["reason"]), []).append(report)
    return [(group[0], group[1:]) for group in groups.values()]


def write_short_lines(reporter: pytest.TerminalReporter) -> None:
    """Write a line per unscored case right below pytest's FAILED lines."""
    reports = reporter.stats.get("unscored", [])
    if not reports or reporter.no_summary or not reporter.hasopt("E"):
        return
    if not any(reporter.stats.get(key) for key in ("failed", "error")):
        reporter.write_sep("=", "short test summary info", cyan=True, bold=True)
    width = line_width(reporter)
    for report in reports:
        reporter.write("UNSCORED", red=True)
        reason = printable(report.llmeval["reason"])
        nodeid = nodeid_from_here(reporter.config, report.nodeid)
        line = f" {nodeid}"
        # As pytest does it: the reason is cut, and left out, but never the id.
        room = width - len("UNSCORED") - len(line) - len(" - ...")
        if len(reason) > room + 3:
            reason = f"{reason[:room]}..." if room > 0 else ""
        reporter.write_line(f"{line} - {reason}" if reason else line)


def write_report(reporter: pytest.TerminalReporter, run: Run) -> None:
    """Write the report: a row a test, origins, failures, the next command."""
    outputs = run.outputs
    if reporter.no_summary:
        return
    planning: Any = reporter.config.pluginmanager.getplugin("llmeval-planning")
    if planning is not None:
        planning.write(reporter)
    if not (outputs.records or outputs.notes):
        return
    report = outputs.report
    reporter.write_sep("=", "llmeval", bold=True)
    lines = terminal.render(
        report,
        width=line_width(reporter),
        unicode=can_show(reporter, "–·…"),
        show=run.runtime.settings.show,
        next_command=_next_command(run, report),
        notes=outputs.notes,
        seconds=time.time() - outputs.started,
        is_verbose=reporter.config.get_verbosity() > 0,
        is_brief=reporter.config.get_verbosity() < -1,
    )
    for line in lines:
        for text, markup in line.segments:
            reporter.write(text, **markup)
        reporter.write_line("")
    for command in annotation_lines(report, run.runtime.root):
        reporter.write_line(command)


def _next_command(run: Run, report: Report) -> str | None:
    settings = run.runtime.settings
    can_go_on = run.stopped.is_unfinished and settings.can_be_resumed
    if can_go_on and report.totals.scored:
        return _going_on(run.config.invocation_params.args, settings.resume)
    worse = report.regressed
    bad = [
        r
        for r in report.cases
        # A gate may forgive it; that it passed before is news all the same.
        if r.status in {"failed", "unscored"} or r.nodeid in worse
    ]
    if not bad:
        return None
    if len(bad) == 1 or not run.config.pluginmanager.hasplugin("cacheprovider"):
        return bad[0].rerun
    arguments = [*given_paths(run.config), "--lf", "-m", "llmeval"]
    arguments += as_option_arguments(run.config)
    return " ".join(["pytest", *map(shlex.quote, arguments)])


def _going_on(arguments: Iterable[Any], resumed: str | None) -> str:
    """Return what goes on with a run: its own command, and one option more."""
    again = [
        text
        for text in map(str, arguments)
        if not text.startswith("--llmeval-resume") and text != resumed
    ]
    return shlex.join(["pytest", *again, "--llmeval-resume"])

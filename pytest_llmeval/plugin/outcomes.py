"""What became of a case: from pytest's report to one of our statuses."""

from __future__ import annotations

import re
import unittest
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_llmeval.errors import UnscoredError, UserError, did_you_mean
from pytest_llmeval.plugin.fixtures import NAMES
from pytest_llmeval.types import Status

#: How pytest-timeout ends a test: by pytest.fail, which says nothing about a reply.
_TIMED_OUT = re.compile(r"Timeout \(?>")

#: Python's words for a helper that was given other arguments than it takes.
_MISCALLED = re.compile(r"assert_\w+\(\) (got|missing|takes) ")

#: Why a case was not begun, or not brought to its end; pytest sees it skipped.
NOT_RUN = "not run: the budget is spent (--llmeval-budget)"

__all__ = ["NOT_RUN", "Outcome", "outcome_of", "outcome_of_sample", "with_parts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A case's status, and why."""

    status: Status
    cause: str | None = None
    reason: str = ""
    """One line."""


def outcome_of(
    report: pytest.TestReport, error: BaseException | None
) -> Outcome | None:
    """Return the outcome a phase decides, None if it leaves the case open.

    Args:
        report: Of setup or call, as pytest and other plugins have made it.
        error: What was raised in the phase.
    """
    if report.when == "teardown" or (report.when == "setup" and report.passed):
        return None
    if report.skipped and _line(error) == NOT_RUN:
        return Outcome(status="not_run", reason=_line(error))
    if report.skipped:
        is_expected_failure = hasattr(report, "wasxfail")
        status: Status = "xfailed" if is_expected_failure else "skipped"
        return Outcome(status=status, reason=_line(error))
    if report.passed:
        return Outcome(status="xpassed" if hasattr(report, "wasxfail") else "passed")
    if report.when == "setup" and not isinstance(error, UserError | UnscoredError):
        # Whatever a fixture raised, an assert too: the case was never asked.
        return Outcome(status="unscored", cause="setup", reason=_of_setup(error))
    return _failed(error)


def outcome_of_sample(error: BaseException | None) -> Outcome:
    """Return what became of one of a case's samples.

    Args:
        error: What its body raised; None if it came to its end.
    """
    if error is None:
        return Outcome(status="passed")
    if isinstance(error, pytest.skip.Exception | unittest.SkipTest):
        return Outcome(status="skipped", reason=_line(error))
    if isinstance(error, pytest.xfail.Exception):
        return Outcome(status="xfailed", reason=_line(error))
    return _failed(error)


def with_parts(
    report: pytest.TestReport, outcome: Outcome, parts: list[Outcome]
) -> Outcome:
    """Return the outcome of a body together with those of its subtests.

    A body in which a subtest failed ends well all the same, and pytest turns its report
    to failed when it asks for the letter, which is too late for a record.

    Args:
        report: Of the body; failed from here on if a part did.
        outcome: Of the body itself.
        parts: Of what was reported before in the same call.
    """
    bad = [part for part in parts if part.status in {"failed", "unscored"}]
    if outcome.status != "passed" or not bad:
        return outcome
    report.outcome = "failed"
    count = f"{len(bad)} subtest{'s' if len(bad) > 1 else ''}"
    report.longrepr = f"contains {count} that failed or could not be scored"
    # A check that did not hold outweighs one that could not be made.
    return next((part for part in bad if part.status == "failed"), bad[0])


def _failed(error: BaseException | None) -> Outcome:
    if isinstance(error, UnscoredError):
        return Outcome(status="unscored", cause=error.cause, reason=_line(error))
    if isinstance(error, UserError):
        return Outcome(status="unscored", cause="suite", reason=_line(error))
    if _TIMED_OUT.match(str(error)) and isinstance(error, pytest.fail.Exception):
        return Outcome(status="unscored", cause="interrupted", reason=_line(error))
    if error is None or isinstance(error, AssertionError | pytest.fail.Exception):
        # No error: a strict xfail that passed.
        return Outcome(status="failed", reason=_line(error) or "[XPASS(strict)]")
    is_of_test = isinstance(error, TypeError) and _MISCALLED.match(str(error))
    cause = "suite" if is_of_test else "application"
    return Outcome(status="unscored", cause=cause, reason=_named(error))


def _of_setup(error: BaseException | None) -> str:
    if isinstance(error, pytest.FixtureLookupError) and error.argname and not error.msg:
        # Its own text is its arguments.
        near = did_you_mean(error.argname, NAMES)
        return f"fixture {error.argname!r} not found{near}"
    return _named(error)


def _named(error: BaseException | None) -> str:
    """Return an exception's name and the first line of its text."""
    text = _line(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _line(error: Any) -> str:
    text = str(error) if error is not None else ""
    return text.splitlines()[0] if text else ""

"""Tests that hold a judge against people: what a body's check says becomes a row.

A verdict that differs from the label fails the case, which the test's gate weighs. A
case without a verdict is unscored, as everywhere, and counts as undecided.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_llmeval.calibration import Labelled, labelled
from pytest_llmeval.errors import EvalAssertionError, UnscoredError, UserError
from pytest_llmeval.plugin.calibration_marker import CalibrationMarker, read_calibration
from pytest_llmeval.recorder import SampleRun, current_sample
from pytest_llmeval.types import Check

__all__ = ["Calibrating"]


class Calibrating:
    """Judges the judge's checks of marked tests."""

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(
        self, pyfuncitem: pytest.Function
    ) -> Generator[None, Any, Any]:
        """Compare the body's one verdict with the row's label."""
        __tracebackhide__ = True
        marker = read_calibration(pyfuncitem)
        if marker is None:
            return (yield)
        error = None
        try:
            yield
        except (EvalAssertionError, UnscoredError) as exc:
            error = exc
        sample = current_sample()
        assert sample is not None
        check = _verdict(sample, error)
        row = labelled(
            sample.run.case.fields.get(marker.label), check.judge or {}, check.passed
        )
        judge = next((c.client for c in sample.calls if c.role == "judge"), "the judge")
        sample.calibration = {**row.to_json(), "judge": judge}
        if error is not None and not _is_of(check, error):
            raise error
        _note(sample, check, row, marker)
        return True


def _verdict(sample: SampleRun, error: Exception | None) -> Check:
    """Return the one check by a judge.

    Raises:
        UserError: There is none, or there are several.
    """
    found = [one for one in sample.checks if one.metric in {"judge", "pairwise"}]
    if len(found) == 1:
        return found[0]
    if error is not None and not found:
        raise error
    message = (
        f"a calibration compares one verdict with the row's label, and the body made "
        f"{len(found) or 'no'} checks by a judge: call assert_judge or assert_pairwise "
        f"once"
    )
    raise UserError(message)


def _is_of(check: Check, error: Exception) -> bool:
    """Whether the body ended as a verdict that is there, and not by another check."""
    return isinstance(error, EvalAssertionError) and check.passed is False


def _note(
    sample: SampleRun, check: Check, row: Labelled, marker: CalibrationMarker
) -> None:
    """Keep whether judge and label agree.

    Raises:
        pytest.fail.Exception: They do not.
        UnscoredError: The judge contradicted itself, and the body accepts that.
    """
    __tracebackhide__ = True
    if row.said is None:
        raise UnscoredError(check.reason, cause="inconsistent")
    agrees = row.said == row.true
    reason = f"{marker.label} {row.true}, the judge {row.said}"
    sample.add_check(
        Check(
            metric="agreement",
            name="agreement",
            value=float(agrees),
            operator="==",
            threshold=1.0,
            passed=agrees,
            reason=reason,
            response=check.response,
            low=0.0,
            high=1.0,
        )
    )
    if not agrees:
        # Without a traceback: it is no line of the body that disagrees.
        pytest.fail(f"agreement failed: {reason}: {check.reason}", pytrace=False)

"""From an item to the case that runs, and from what happened to its record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_llmeval.assertions.message import explain_check
from pytest_llmeval.plugin._internals import parameter_marks, parameters
from pytest_llmeval.plugin.outcomes import Outcome
from pytest_llmeval.plugin.runtime import Runtime
from pytest_llmeval.plugin.samples import Samples
from pytest_llmeval.plugin.variants import label_of
from pytest_llmeval.recorder import CaseRun
from pytest_llmeval.types import Case, Check, Record, Sample, as_text

__all__ = [
    "case_run",
    "pinned_of",
    "record_of",
]

_SHOWN = 40
#: What of a row a reader of a report sees.
_READ = ("input", "expected", "context")


def case_run(item: pytest.Item, runtime: Runtime) -> CaseRun:
    """Return the case an item is about to run; kept until the item is done."""
    found = runtime.cases.get(item)
    if found is None:
        found = runtime.cases[item] = _new_run(item, runtime)
    return found


def _new_run(item: pytest.Item, runtime: Runtime) -> CaseRun:
    found = parameters(item)
    case = found.get("case")
    if not isinstance(case, Case):
        # No dataset: one case, named after the test and its parameters.
        case = Case(id=item.name)
    params = {name: _shown(v) for name, v in found.items() if name != "case"}
    plan = runtime.plans.of_item(item)
    return CaseRun(
        nodeid=item.nodeid,
        test=item.nodeid.partition("[")[0],
        case=case,
        plan=plan,
        params={**params, **pinned_of(item)},
        rerun=runtime.rerun.command(item),
        fingerprints=runtime.basis.of(case, plan, item),
    )


def record_of(samples: Samples, outcome: Outcome, seconds: float) -> Record:
    """Return what is kept of a case.

    Args:
        samples: The runs of its body.
        outcome: What became of it.
        seconds: How long the body took.
    """
    run = samples.run
    return Record(
        nodeid=run.nodeid,
        test=run.test,
        case_id=run.case.id,
        status=outcome.status,
        params=run.params,
        cause=outcome.cause,
        reason=outcome.reason,
        source=str(run.case.source) if run.case.source else None,
        row=_row_of(run.case),
        tags=run.case.tags,
        seconds=seconds,
        rerun=run.rerun,
        fingerprints=run.fingerprints,
        gates=run.plan.gates,
        calibration=samples.shown.calibration,
        checked_nothing=samples.shown.checked_nothing,
        repeat=run.plan.repeat,
        min_sample_rate=run.plan.min_sample_rate,
        samples=tuple(
            _whole(kept, outcome).to_json() for kept in samples.kept(outcome)
        ),
    )


def _whole(sample: Sample, outcome: Outcome) -> Sample:
    """Return a sample with all that a reader of a case that did not pass looks for."""
    calls, checks = sample.calls, sample.checks
    if outcome.status in {"failed", "unscored"}:
        calls = tuple(call.looked_into() for call in calls)
    elif all(check.passed is not False for check in checks):
        return sample
    return replace(sample, calls=calls, checks=tuple(map(_explained, checks)))


def _explained(check: Check) -> Check:
    """Return a check with its diff; what a judge said is kept in full beside it."""
    if check.passed is not False or check.judge is not None:
        return check
    return replace(check, explanation=tuple(explain_check(check)))


def _row_of(case: Case) -> dict[str, Any]:
    found = {name: getattr(case, name) for name in _READ}
    return {name: value for name, value in found.items() if value is not None}


def _shown(value: Any) -> str:
    text = as_text(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def pinned_of(item: pytest.Item) -> dict[str, str]:
    """Return the model and prompt of a matrix that an item runs with."""
    return {
        name: label_of(value)
        for mark in parameter_marks(item)
        if mark.name == "llmeval"
        for name, value in mark.kwargs.items()
    }

"""What rides on a case's report: its record, and what is written of it at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.plugin.cases import record_of
from pytest_llmeval.plugin.junit import junit_properties
from pytest_llmeval.plugin.outcomes import Outcome
from pytest_llmeval.plugin.samples import Samples
from pytest_llmeval.plugin.taken import restored

if TYPE_CHECKING:
    from pytest_llmeval.plugin.run import Run

__all__ = ["attach"]


def attach(
    run: Run,
    report: Any,
    item: pytest.Item,
    samples: Samples,
    outcome: Outcome,
) -> None:
    """Put a case's record on its report, secrets removed.

    Args:
        run: The session's run.
        report: Of the phase that decided the case.
        item: Its properties become those of JUnit.
        samples: What the case asked and checked.
        outcome: What became of it.
    """
    redactor = run.runtime.redactor
    record = restored(item, record_of(samples, outcome, report.duration))
    if run.resumed is not None:
        report.llmeval_resumed = run.resumed.note_of(item)
    report.llmeval = redactor.redact(record.to_json())
    recordings = [one for sample in samples.runs for one in sample.recordings]
    recordings += run.runtime.recorded_outside()
    if recordings:
        report.llmeval_recordings = recordings
    if logged := samples.shown.logged:
        report.llmeval_logged = redactor.redact(logged)
    if outcome.status in {"failed", "unscored"}:
        answers = run.questions.answers(samples)
        report.llmeval_answers = redactor.redact(answers)
    if notes := run.runtime.clients.trouble():
        report.llmeval_notes = notes
    for entry in junit_properties(report.llmeval):
        item.user_properties.append(entry)
        report.user_properties.append(entry)

"""A run, as its records have it, held against its baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_llmeval.baseline import (
    Baseline,
    Compared,
    Standing,
    compare,
    decide,
    standing_of,
)
from pytest_llmeval.conclusion._collected import Collected
from pytest_llmeval.types import Record

__all__ = ["compared_with"]


def compared_with(
    baseline: Baseline,
    records: Sequence[Record],
    collected: Collected,
    *,
    fail_on: str,
    allow_missing: bool,
) -> Compared:
    """Return how a run stands against a baseline, and what that means.

    Args:
        baseline: How the cases stood before.
        records: Of all cases.
        collected: What the suite holds.
        fail_on: One of `baseline.FAIL_ON`.
        allow_missing: Whether cases that passed before may be gone.
    """
    now = [standing_of(record) for record in records if record.status != "not_run"]
    before = [one for one in baseline.cases if collected.is_in_scope(one.test)]
    ran = Counter(one.test for one in now)
    not_run = frozenset(
        one.identity for one in before if _is_not_run(one, collected, ran)
    )
    comparison = compare(now, before, not_run=not_run)
    decision = decide(comparison, fail_on, allow_missing=allow_missing)
    return Compared(name=baseline.shown, comparison=comparison, decision=decision)


def _is_not_run(one: Standing, collected: Collected, ran: Counter[str]) -> bool:
    """Return whether a case, if it did not run, is there all the same."""
    if one.test not in collected.tests:
        # Only failures of the last time, and their files: nobody looked for the others.
        return collected.only_failed
    holds = collected.holds(one.test, one.case_id)
    if holds is not None and not one.is_numbered:
        return holds
    whole = collected.ran_whole(one.test, ran[one.test])
    return not whole or collected.is_limited(one.test)

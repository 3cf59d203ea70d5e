"""Items whose outcome is taken over from an earlier run.

They run neither their fixtures nor their body. Each ends as its case ended, so that
everything that looks at reports (-x, --lf, JUnit, gates) sees the whole run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from pytest_llmeval.errors import EvalAssertionError
from pytest_llmeval.types import BELOW, ENDED, Record

__all__ = ["is_taken_over", "replay", "restored", "take_over"]

_TAKEN = pytest.StashKey[Record]()


def take_over(item: pytest.Item, record: Record) -> None:
    """Let an item end as a case did that was scored before."""
    item.stash[_TAKEN] = record


def is_taken_over(item: pytest.Item) -> bool:
    """Return whether an item ends as it did before."""
    return _TAKEN in item.stash


def replay(item: pytest.Item) -> None:
    """Let an item that is taken over end as its case did, and do nothing else."""
    own: Any = item
    own.setup = _nothing
    own.runtest = lambda: _end_as(item.stash[_TAKEN], item)
    own.repr_failure = lambda found, style=None: found.getrepr(style="value")


def restored(item: pytest.Item, record: Record) -> Record:
    """Return the record of an item with what was asked and scored before.

    Tags, gates and the row's place are those of today.
    """
    before = item.stash.get(_TAKEN, None)
    if before is None or record.status not in ENDED:
        return record
    return replace(
        record,
        cause=before.cause,
        reason=before.reason,
        seconds=before.seconds,
        calibration=before.calibration,
        samples=before.samples,
    )


def _nothing() -> None:
    """Set nothing up: no body will need it."""


def _end_as(before: Record, item: pytest.Item) -> None:
    """End as a case did.

    Raises:
        EvalAssertionError: A check did not hold.
        pytest.xfail.Exception: The body itself had called it an expected failure.
    """
    __tracebackhide__ = True
    if before.reason.startswith("[XPASS(strict)]"):
        return  # the mark fails it again
    if before.status in BELOW:
        raise EvalAssertionError("\n".join(_failure(before)))
    if before.status == "xfailed":
        if item.get_closest_marker("xfail") is None:
            pytest.xfail(before.reason)
        raise EvalAssertionError(before.reason)


def _failure(record: Record) -> Iterator[str]:
    yield record.reason
    for sample in record.samples:
        for check in sample["checks"]:
            if check["passed"] is False:
                yield from (f"  {line}" for line in check.get("explanation") or ())
    if record.source:
        yield f"  {'row':<10}{record.source}"
    yield f"  {'rerun':<10}{record.rerun}"
    yield "  (taken over from an earlier run: --llmeval-resume)"

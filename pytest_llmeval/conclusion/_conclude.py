"""What a run comes to."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from pytest_llmeval.baseline import Compared
from pytest_llmeval.conclusion._collected import Collected
from pytest_llmeval.conclusion._compared import compared_with
from pytest_llmeval.conclusion._gates import Gates
from pytest_llmeval.conclusion._status import Status
from pytest_llmeval.conclusion._terms import Ended, Terms
from pytest_llmeval.gates import GateResult
from pytest_llmeval.types import Record

__all__ = ["Conclusion", "conclude"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What a run comes to."""

    records: tuple[Record, ...] = ()
    """Of all cases; what no gate holds any more counts as failed."""
    gates: tuple[GateResult, ...] = ()
    compared: Compared | None = None
    released: frozenset[str] = frozenset()
    """Node ids of the cases whose gate did not hold."""
    notes: tuple[str, ...] = ()
    """Lines about all that, for people."""
    status: int = 0
    """The exit status."""


def conclude(
    records: Sequence[Record],
    terms: Terms,
    collected: Collected,
    ended: Ended | None,
    *,
    taken: Set[str] = frozenset(),
) -> Conclusion:
    """Return what a run comes to.

    Args:
        records: Of all cases, as their reports arrived.
        terms: What the run is held to.
        collected: What the suite holds.
        ended: How pytest ended; None if it did not, and nothing is decided.
        taken: Node ids of cases that an earlier run has asked for.
    """
    gates = Gates(records, terms.gates, collected, is_whole=ended is not None)
    released = gates.released()
    records = [
        replace(one, status="failed") if one.nodeid in released else one
        for one in records
    ]
    compared = None
    if records and terms.baseline is not None and ended is not None:
        compared = compared_with(
            terms.baseline,
            records,
            collected,
            fail_on=terms.fail_on,
            allow_missing=terms.allow_missing,
        )
    status = Status(records, ended or Ended(), terms)
    status.weigh(gates.results, compared)
    if released:
        status.fail()
    status.refuse_unfinished([one for one in records if one.nodeid not in taken])
    status.refuse_unstable()
    status.require()
    return Conclusion(
        records=tuple(records),
        gates=gates.results,
        compared=compared,
        released=released,
        notes=(*gates.notes, *status.notes),
        status=status.code,
    )

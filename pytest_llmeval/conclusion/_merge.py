"""Several runs of parts of a suite, united to the run of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from pytest_llmeval.conclusion._collected import Collected
from pytest_llmeval.conclusion._journal import KeptRun
from pytest_llmeval.conclusion._terms import Ended, Terms
from pytest_llmeval.errors import UserError
from pytest_llmeval.types import BELOW, Record

__all__ = ["merged"]

_NO_TESTS = 5


def merged(parts: Mapping[str, KeptRun]) -> KeptRun:
    """Return the run that runs of its parts make together.

    Args:
        parts: The runs by name, at least one.

    Raises:
        UserError: They contradict each other: they are held to different things, are of
            different states of the suite, or a case has different results.
    """
    names = list(parts)
    for name, run in parts.items():
        _refuse_other_terms(parts[names[0]].terms, run.terms, names[0], name)
    _refuse_other_states(parts)
    united = _United()
    for name, run in parts.items():
        united.add(name, run)
    collected = Collected()
    for run in parts.values():
        collected.take(run.collected.to_json())
    return KeptRun(
        run=_header(parts),
        terms=parts[names[0]].terms,
        collected=collected,
        ended=_ended(list(parts.values()), united.failed_again),
        taken=frozenset(nodeid for run in parts.values() for nodeid in run.taken),
        aggregates=dict(_aggregates(list(parts.values()))),
        records=tuple(united.records.values()),
    )


class _United:
    """The cases of several runs."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.failed_again = 0
        """Failures that are counted in more than one run."""
        self._of: dict[str, str] = {}

    def add(self, name: str, run: KeptRun) -> None:
        """Take in the cases of a run.

        Raises:
            UserError: One has another result in a run before.
        """
        for record in run.records:
            before = self.records.get(record.nodeid)
            if before is not None and "not_run" not in {before.status, record.status}:
                if _result(before) != _result(record):
                    raise UserError(_contradiction(before, record, self._of, name))
                self.failed_again += before.status in {"failed", "unscored"}
            elif before is None or before.status == "not_run":
                self.records[record.nodeid] = record
                self._of[record.nodeid] = name


def _result(record: Record) -> Any:
    """Return what must be the same where a case stands in two runs."""
    status = "failed" if record.status in BELOW else record.status
    samples = [
        (
            sample["index"],
            sample["status"],
            [(c["name"], c["value"], c["passed"]) for c in sample["checks"]],
            [c["response"] and c["response"].get("text") for c in sample["calls"]],
        )
        for sample in record.samples
    ]
    return status, samples


def _contradiction(
    before: Record, record: Record, places: Mapping[str, str], name: str
) -> str:
    other = places[record.nodeid]
    if before.status == record.status:
        what = f"got other replies or values in {name} than in {other}"
    else:
        what = f"is {before.status} in {other} and {record.status} in {name}"
    return (
        f"{record.nodeid} {what}: runs of parts of one suite have each case once; leave "
        f"one of the two out, or compare them: python -m pytest_llmeval compare"
    )


def _refuse_other_terms(one: Terms, other: Terms, name: str, other_name: str) -> None:
    for part in fields(Terms):
        first, second = getattr(one, part.name), getattr(other, part.name)
        if first != second:
            shown = (
                f"{first!r} and {second!r}"
                if part.name != "baseline"
                else "what they are compared with"
            )
            message = (
                f"{name} and {other_name} are not held to the same: "
                f"{part.name.replace('_', '-')} differs ({shown}); run all parts with "
                f"the same options and the same llmeval.yaml"
            )
            raise UserError(message)


def _refuse_other_states(parts: Mapping[str, KeptRun]) -> None:
    """Refuse runs between which a test, its prompt or its models have changed."""
    seen: dict[Any, tuple[str, Record]] = {}
    for name, run in parts.items():
        for record in run.records:
            other, first = seen.setdefault(record.row_key, (name, record))
            changed = next(_differing(first, record), None)
            if changed is not None:
                message = (
                    f"{other} and {name} are of different states of the suite: the "
                    f"{changed} of {record.test} differs"
                )
                raise UserError(message)


def _differing(one: Record, other: Record) -> Iterator[str]:
    a, b = one.fingerprints, other.fingerprints
    if a.code != b.code:
        yield "file"
    if a.template != b.template:
        yield "prompt"
    if a.generator != b.generator:
        yield "generator"
    if a.judge != b.judge:
        yield "judge"


def _ended(runs: Sequence[KeptRun], failed_again: int) -> Ended | None:
    """Return how one run of all would have ended; None if a part was interrupted."""
    ended = [run.ended for run in runs]
    known = [one for one in ended if one is not None]
    if len(known) < len(ended):
        return None
    statuses = {one.status for one in known}
    # A part in which nothing was selected is none that failed.
    status = max(statuses - {_NO_TESTS}, default=_NO_TESTS)
    return Ended(
        status=status,
        failed=sum(one.failed for one in known) - failed_again,
        is_cut=any(one.is_cut for one in known),
    )


def _header(parts: Mapping[str, KeptRun]) -> dict[str, Any]:
    """Return what is known of the runs together."""
    runs = [run.run for run in parts.values()]
    found: dict[str, Any] = {
        key: _common(run.get(key) for run in runs) for key in ("mode", "judge", "limit")
    }
    generators = (g for run in runs for g in run.get("generators", ()))
    return {
        "started": min((str(run.get("started", "")) for run in runs), default=""),
        "arguments": ["merge", *parts],
        "generators": list(dict.fromkeys(generators)),
        **found,
        "merged": list(parts),
        **({"interrupted": True} if any(r.get("interrupted") for r in runs) else {}),
    }


def _common(values: Iterable[Any]) -> Any:
    """Return what all say; where they differ, all of it as a text."""
    distinct = list(dict.fromkeys(values))
    return distinct[0] if len(distinct) == 1 else ", ".join(map(str, distinct))


def _aggregates(runs: Sequence[KeptRun]) -> Iterator[tuple[str, Any]]:
    """Yield the values of tasks' own functions, of tasks that one run has alone."""
    for run in runs:
        others = {r.test for other in runs if other is not run for r in other.records}
        yield from ((t, v) for t, v in run.aggregates.items() if t not in others)

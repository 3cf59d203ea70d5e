"""The gates of a run: which there are, which cases they hold, what they come to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pytest_llmeval.conclusion._collected import Collected
from pytest_llmeval.errors import UserError, did_you_mean
from pytest_llmeval.gates import (
    Gate,
    GateResult,
    decided,
    evaluate,
    measure_group,
    parse_gate,
    scoped_gate,
)
from pytest_llmeval.types import Group, Record

__all__ = ["Gates", "quality_gates"]


def quality_gates(record: Record, wide: Iterable[str]) -> Iterator[Gate]:
    """Yield the gates that a failure of a case counts for.

    Args:
        record: The case.
        wide: The gates of llmeval.yaml.
    """
    gates = [parse_gate(text) for text in record.gates]
    for tag, gate in map(scoped_gate, wide):
        if tag is None or tag in record.tags:
            gates.append(gate)
    return (gate for gate in gates if gate.is_about_quality)


class Gates:
    """Decides the gates of a run.

    Args:
        records: Of all cases.
        wide: The gates of llmeval.yaml.
        collected: What the suite holds.
        is_whole: Whether the run came to its end; else no gate is evaluated.
    """

    def __init__(
        self,
        records: Sequence[Record],
        wide: tuple[str, ...],
        collected: Collected,
        *,
        is_whole: bool,
    ) -> None:
        self.notes: list[str] = []
        self._records = records
        self._wide = wide
        self._collected = collected
        self._is_whole = is_whole
        self.results = tuple(self._results()) if records else ()

    def released(self) -> frozenset[str]:
        """Return the ids of the cases whose gate does not hold: nothing holds them."""
        broken = [one for one in self.results if one.state != "holds"]
        return frozenset(
            record.nodeid
            for record in self._records
            if record.status == "gated" and self._is_held_by(broken, record)
        )

    def _is_held_by(self, results: Iterable[GateResult], record: Record) -> bool:
        gates = list(quality_gates(record, self._wide))
        return any(one.gate in gates and _covers(one, record) for one in results)

    def _results(self) -> Iterator[GateResult]:
        for (test, *_), group in _groups(self._records).items():
            for text in group[0].gates:
                scope = _scope(group[0], test)
                yield self._result(parse_gate(text), group, scope=scope)
        for tag, gate in map(scoped_gate, self._wide):
            chosen = [r for r in self._records if tag is None or tag in r.tags]
            scope = "the run" if tag is None else f"tag {tag}"
            yield self._result(gate, chosen, scope=scope, is_wide=True)
        for one in self._collected.groups_there():
            yield from self._group_results(one)

    def _without_cases(self, scope: str) -> str:
        tags = sorted({tag for record in self._records for tag in record.tags})
        near = did_you_mean(scope.removeprefix("tag "), tags)
        known = ", ".join(tags) or "none"
        return f"{scope}: no case of this run has this tag{near}; tags: {known}"

    def _group_results(self, group: Group) -> Iterator[GateResult]:
        """Yield the gates of a group, for each set of parameters its tests have."""
        of_params: dict[tuple[Any, ...], list[Record]] = {}
        for record in self._records:
            if record.test in group.tests:
                of_params.setdefault(tuple(record.params.items()), []).append(record)
        for params, records in of_params.items():
            named = ", ".join(value for _, value in params)
            scope = f"group {group.name}" + (f"[{named}]" if named else "")
            for gate in map(parse_gate, group.gates):
                yield self._result(gate, records, scope=scope, group=group)

    def _result(
        self,
        gate: Gate,
        records: list[Record],
        *,
        scope: str,
        group: Group | None = None,
        is_wide: bool = False,
    ) -> GateResult:
        if reason := self._why_not(records, group, is_wide=is_wide):
            return GateResult(
                gate=gate, state="not evaluated", scope=scope, reason=reason
            )
        if not records:
            self.notes.append(self._without_cases(scope))
            return GateResult(
                gate=gate, state="undecided", scope=scope, reason="no case has this tag"
            )
        try:
            if group is not None:
                measured = measure_group(gate.name, group, records)
                return decided(gate, measured, scope=scope)
            return evaluate(gate, records, scope=scope)
        except UserError as exc:
            self.notes.append(f"{scope}: {exc}")
            return GateResult(
                gate=gate, state="undecided", scope=scope, reason="nothing to measure"
            )

    def _why_not(
        self, records: list[Record], group: Group | None, *, is_wide: bool
    ) -> str:
        """Return why a gate can't be evaluated, an empty text where it can."""
        if not self._is_whole:
            return "the run was interrupted"
        tests = {record.test for record in records} | set(group.tests if group else ())
        ended = [record for record in self._records if record.status != "not_run"]
        ran = sum(record.test in tests for record in ended)
        if is_wide:
            # Also for a tag: which of the cases that did not run have it, nobody knows.
            tests = set(self._collected.tests)
            ran = len(ended)
        held = sum(self._collected.items_of(test) for test in tests)
        return f"{ran} of {held} cases ran" if ran < held else ""


def _covers(result: GateResult, record: Record) -> bool:
    if result.scope == "the run":
        return True
    if result.scope.startswith("tag "):
        return result.scope.removeprefix("tag ") in record.tags
    return result.scope == _scope(record, record.test)


def _scope(record: Record, test: str) -> str:
    name = test.partition("::")[2] or test
    params = ", ".join(record.params.values())
    return f"{name}[{params}]" if params else name


def _groups(records: Iterable[Record]) -> dict[tuple[Any, ...], list[Record]]:
    """Return the cases of each test with one set of parameters."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        groups.setdefault(record.row_key, []).append(record)
    return groups

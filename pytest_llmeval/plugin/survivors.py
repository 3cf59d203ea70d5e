"""What got through of the wrong replies, counted by test and assertion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_llmeval.diffs import printable
from pytest_llmeval.evaluate import WRONG_KINDS

__all__ = ["Survivors"]


@dataclass(slots=True)
class _Count:
    tried: int = 0
    passed: int = 0
    unknown: int = 0

    def add(self, has_passed: bool | None) -> None:
        if has_passed is None:  # its judge could not be asked
            self.unknown += 1
            return
        self.tried += 1
        self.passed += has_passed

    @property
    def is_vacuous(self) -> bool:
        return self.tried > 0 and self.passed == self.tried


def _kinds() -> dict[str, _Count]:
    return {kind: _Count() for kind in WRONG_KINDS}


@dataclass(slots=True)
class _Test:
    whole: dict[str, _Count] = field(default_factory=_kinds)
    checks: dict[str, dict[str, _Count]] = field(default_factory=dict)


class Survivors:
    """Counts wrong replies, tried and let through."""

    def __init__(self) -> None:
        self.tests: dict[str, _Test] = {}

    def add(self, test: str, found: Sequence[Mapping[str, Any]]) -> None:
        """Add a case: what became of each kind of wrong reply."""
        counts = self.tests.setdefault(test, _Test())
        for one in found:
            counts.whole[one["kind"]].add(one["passed"])
            for name, passed in one["checks"].items():
                kinds = counts.checks.setdefault(name, _kinds())
                kinds[one["kind"]].add(passed)

    @property
    def vacuous(self) -> list[str]:
        """What let every wrong reply through: assertions, and tests as wholes."""
        return [
            f"{test}: {name}"
            for test, counts in self.tests.items()
            for name, kinds in self._named(counts)
            if _sum(kinds).is_vacuous
        ]

    def _named(self, counts: _Test) -> Iterator[tuple[str, dict[str, _Count]]]:
        yield from counts.checks.items()
        yield "the test", counts.whole

    def lines(self) -> Iterator[tuple[str, bool]]:
        """Yield lines for the terminal, and whether each is a finding."""
        for test, counts in self.tests.items():
            whole = _sum(counts.whole)
            name = printable(test.partition("::")[2] or test)
            if not whole.tried and not whole.unknown:
                yield f"{name}: not tried, it asked no model", False
                continue
            caught = whole.tried - whole.passed
            text = f"{name}: {caught} of {whole.tried} wrong replies were caught"
            if whole.unknown:
                text += f", {whole.unknown} not judged (the judge could not be asked)"
            yield text, whole.is_vacuous
            if whole.passed and not counts.checks:
                yield f"    its asserts let through {_by_kind(counts.whole)}", False
            for check, kinds in counts.checks.items():
                if (total := _sum(kinds)).passed:
                    what = f"{printable(check)} let through {_by_kind(kinds)}"
                    if total.is_vacuous:
                        what = f"{printable(check)} let through every one: it checks nothing"
                    yield f"    {what}", total.is_vacuous

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {
            "vacuous": self.vacuous,
            "tests": {
                test: {
                    name: {
                        kind: {
                            "tried": count.tried,
                            "passed": count.passed,
                            "unknown": count.unknown,
                        }
                        for kind, count in kinds.items()
                        if count.tried or count.unknown
                    }
                    for name, kinds in self._named(counts)
                }
                for test, counts in self.tests.items()
            },
        }


def _sum(kinds: Mapping[str, _Count]) -> _Count:
    return _Count(
        tried=sum(count.tried for count in kinds.values()),
        passed=sum(count.passed for count in kinds.values()),
        unknown=sum(count.unknown for count in kinds.values()),
    )


def _by_kind(kinds: Mapping[str, _Count]) -> str:
    return ", ".join(
        f"{kind} {count.passed} of {count.tried}"
        for kind, count in kinds.items()
        if count.passed
    )

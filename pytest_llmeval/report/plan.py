"""What a run would ask: counted from what its cases asked the last time they ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from pytest_llmeval.report.lines import Line, Page, Segment
from pytest_llmeval.report.terminal import usage_texts
from pytest_llmeval.report.usage import Cost, Latency, UsageCounter
from pytest_llmeval.stats import money_text

__all__ = ["PlannedTest", "plan_line", "plan_lines"]

_INDENT: Final = "    "
#: In the order in which they are shown; the last ones in yellow.
_EXPECTED: Final = ("recorded", "cached", "to ask", "not recorded", "not known")
_ON_FILE: Final = frozenset({"recorded", "cached"})
_NO_LATENCY: Final = Latency(p50_seconds=None, p95_seconds=None, n=0)


@dataclass(slots=True)
class PlannedTest:
    """What is known of a test's calls before it runs, case by case added up."""

    name: str
    cases: int = 0
    samples: int = 0
    """That are planned: cases times repeats."""
    skipped: int = 0
    """Cases whose marks skip them."""
    new: int = 0
    """Cases that did not run before: what they ask shows when they run."""
    changed: int = 0
    """Cases whose row, prompt or system message is another one than when they ran."""
    further: int = 0
    """Samples that were not run the last time."""
    roles: Counter[str] = field(default_factory=Counter)
    expected: Counter[str] = field(default_factory=Counter)
    """Calls by where their replies would come from."""
    usage: UsageCounter = field(default_factory=UsageCounter)
    spent: UsageCounter = field(default_factory=UsageCounter)
    """Of the calls that are not on file."""

    def add(self, repeat: int, *, is_skipped: bool = False) -> None:
        """Count a case that was collected."""
        self.cases += 1
        self.skipped += is_skipped
        self.samples += 0 if is_skipped else repeat

    def add_call(self, call: Mapping[str, Any], expected: str) -> None:
        """Count a call that a case made the last time it ran."""
        self.roles[call["role"]] += 1
        self.expected[expected] += 1
        self.usage.add_all([call])
        if expected not in _ON_FILE:
            self.spent.add_all([call])

    @classmethod
    def sum_of(cls, tests: Iterable[PlannedTest]) -> Self:
        """Return several tests added up."""
        total = cls("all")
        for test in tests:
            for name in ("cases", "samples", "skipped", "new", "changed", "further"):
                setattr(total, name, getattr(total, name) + getattr(test, name))
            total.roles += test.roles
            total.expected += test.expected
            total.usage.include(test.usage)
            total.spent.include(test.spent)
        return total

    @property
    def is_unknown(self) -> bool:
        """Whether no case of it that would run is known from a run before."""
        return self.new + self.changed >= self.cases - self.skipped


def plan_lines(tests: Sequence[PlannedTest], page: Page) -> Iterator[Line]:
    """Yield a block a test, and their sum where there are several."""
    if not all(test.is_unknown for test in tests):
        text = "what a run would ask, if the tests ask as they did the last time:"
        yield Line.of(Segment.of(page.cut_end(text, page.width)))
    total = [PlannedTest.sum_of(tests)] if len(tests) > 1 else []
    for test in (*tests, *total):
        name = page.foreign(test.name)
        yield Line.of(Segment.of(page.cut_middle(name, page.width), "bold"))
        for look in _LOOKS:
            parts = [Segment.of(page.own(text)) for text in look(test)]
            yield from page.wrap(parts, indent=_INDENT, between=page.dot)


def plan_line(tests: Iterable[PlannedTest]) -> str:
    """Return the sum in one line, for those who want little."""
    total = PlannedTest.sum_of(tests)
    return f"llmeval: {', '.join(text for look in _LOOKS for text in look(total))}"


def _size(test: PlannedTest) -> Iterator[str]:
    yield _count(test.cases, "case")
    if test.samples != test.cases - test.skipped:
        yield f"{test.samples:,} samples"
    if test.skipped:
        yield f"{test.skipped:,} skipped"


def _calls(test: PlannedTest) -> Iterator[str]:
    if test.is_unknown and test.cases > test.skipped:
        yield "calls not known"
    elif not test.roles and test.cases > test.skipped:
        yield "no calls"
    for role, calls in test.roles.items():
        yield f"{role} {_count(calls, 'call')}"


def _sources(test: PlannedTest) -> Iterator[str]:
    for name in _EXPECTED:
        if test.expected[name]:
            yield f"{name} {test.expected[name]:,}"


def _usage(test: PlannedTest) -> Iterator[str]:
    cost = test.usage.cost()
    # Where the replies were from the last time is no matter here.
    whole = Cost(total=cost.total, live=cost.total, known=cost.known, calls=cost.calls)
    yield from usage_texts(test.usage.tokens(), whole, _NO_LATENCY)
    spent = test.spent.cost().total
    if cost.total and (spent or 0.0) < cost.total:
        yield f"of it to be spent {money_text(spent or 0.0)}"


def _gaps(test: PlannedTest) -> Iterator[str]:
    """Yield what the numbers above leave out."""
    if test.new:
        yield f"{_count(test.new, 'case')} not run before"
    if test.changed:
        yield f"{_count(test.changed, 'case')} with another row or prompt than before"
    if test.further:
        yield f"{_count(test.further, 'sample')} not run the last time"


#: What there is to say of a test, a line each.
_LOOKS: Final = (_size, _calls, _sources, _usage, _gaps)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

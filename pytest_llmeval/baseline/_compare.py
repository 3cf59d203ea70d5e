"""Two runs held against each other, case by case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from pytest_llmeval.baseline._changes import changed_parts, makes_incomparable
from pytest_llmeval.baseline._drift import Drift, drifts
from pytest_llmeval.baseline._pairs import content, pairs
from pytest_llmeval.baseline._standing import Standing
from pytest_llmeval.stats import Difference, holm, mcnemar_exact, paired_bootstrap
from pytest_llmeval.types import whole_number

__all__ = ["KINDS", "Change", "Comparison", "MetricChange", "compare"]

Kind = Literal[
    "regressed", "fixed", "same", "known", "new", "missing", "incomparable", "not_run"
]

#: In the order of a report.
KINDS: Final[tuple[Kind, ...]] = (
    "regressed",
    "missing",
    "incomparable",
    "fixed",
    "known",
    "new",
    "same",
    "not_run",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A case in both runs, or in one of them."""

    kind: Kind
    before: Standing | None
    now: Standing | None
    parts: tuple[str, ...] = ()
    """What differs between the runs besides the outcome: ``prompt template``, …"""
    why: str = ""
    """Why it is incomparable or missing."""

    @property
    def case(self) -> Standing:
        """The case as it stands now, or stood when it is gone."""
        found = self.now or self.before
        assert found is not None
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricChange:
    """The mean of a check over the cases that both runs scored by it."""

    test: str
    name: str
    difference: Difference
    p_adjusted: float
    """By Holm, over all metrics compared."""
    higher_is_better: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A run against a baseline."""

    changes: tuple[Change, ...]
    metrics: tuple[MetricChange, ...]
    drifts: tuple[Drift, ...] = ()
    """Models that are served as others than before."""

    def of(self, kind: Kind) -> tuple[Change, ...]:
        """Return the changes of a kind."""
        return tuple(change for change in self.changes if change.kind == kind)

    @property
    def lost(self) -> int:
        """How many cases passed before and fail now."""
        return len(self.of("regressed"))

    @property
    def gained(self) -> int:
        """How many cases failed before and pass now."""
        return len(self.of("fixed"))

    @property
    def compared(self) -> int:
        """How many cases were scored in both runs and can be compared."""
        return len(self._scored)

    @property
    def passed(self) -> tuple[int, int]:
        """How many of these passed before, and how many now."""
        pairs = self._scored
        return sum(then for then, _ in pairs), sum(now for _, now in pairs)

    @property
    def _scored(self) -> list[tuple[bool, bool]]:
        return [
            (change.before.passed, change.now.passed)
            for change in self.changes
            if change.kind not in {"incomparable", "missing"}
            and change.before is not None
            and change.now is not None
            and change.before.passed is not None
            and change.now.passed is not None
        ]

    @property
    def doubtful(self) -> int:
        """How many cases passed before and fail now, and can't be compared."""
        return sum(
            change.before.passed is True and change.now.passed is False
            for change in self.of("incomparable")
            if change.before and change.now
        )

    @property
    def p(self) -> float:
        """Two-sided exact McNemar: how surprising this is if nothing got better or worse."""
        return mcnemar_exact(self.lost, self.gained)

    @property
    def must_pass_lost(self) -> tuple[Change, ...]:
        """The regressed cases that say they must pass."""
        return tuple(c for c in self.of("regressed") if c.case.must_pass)


def compare(
    now: Iterable[Standing],
    before: Iterable[Standing],
    *,
    not_run: frozenset[str] = frozenset(),
    in_scope: frozenset[str] | None = None,
) -> Comparison:
    """Return how a run stands against a baseline.

    Args:
        now: The cases of the run.
        before: Those of the baseline.
        not_run: Identities of cases that are there and were not run this time
            (deselected, or the run was stopped): not missing.
        in_scope: Tests (file, class, function) the run looked at; what the baseline
            has of others is left out. None: all of them.
    """
    found = [
        _change(old, new, not_run)
        for old, new in pairs(list(before), list(now))
        if new is not None or in_scope is None or _test(old) in in_scope
    ]
    found = _renamed(found)
    found.sort(key=_place)
    return Comparison(
        changes=tuple(found),
        metrics=_metrics(found),
        drifts=drifts(
            (change.before.served, change.now.served)
            for change in found
            if change.before and change.now
        ),
    )


def _renamed(changes: list[Change]) -> list[Change]:
    """Return the changes, those of cases that only got another id explained.

    They stay missing and new: an id is what a case is known by.
    """
    new: dict[tuple[str, ...], list[str]] = {}
    for change in changes:
        if change.kind == "new":
            new.setdefault(content(change.case), []).append(change.case.case_id)
    explained = []
    for change in changes:
        ids = new.get(content(change.case), [])
        if change.kind == "missing" and change.now is None and len(ids) == 1:
            why = f"{change.why}; the new case {ids[0]} has the same row"
            change = replace(change, why=why)
        explained.append(change)
    return explained


def _place(change: Change) -> tuple[int, str, str, int, str]:
    """Return where a change stands: workers end their cases in any order."""
    case = change.case
    file, _, line = (case.source or "").rpartition(":")
    number = whole_number(line) or 0
    return KINDS.index(change.kind), case.test, file, number, case.identity


def _test(old: Standing | None) -> str:
    return old.test if old is not None else ""


def _change(
    before: Standing | None, now: Standing | None, not_run: frozenset[str]
) -> Change:
    if before is None:
        return Change(kind="new", before=None, now=now)
    if now is None:
        if before.identity in not_run:
            return Change(kind="not_run", before=before, now=None)
        return Change(kind="missing", before=before, now=None, why="not there any more")
    parts = changed_parts(before, now)
    if before.passed and now.status in {"skipped", "xfailed", "xpassed"}:
        # A mark on the row must not hide what used to be checked.
        return Change(
            kind="missing", before=before, now=now, parts=parts, why=f"{now.status} now"
        )
    if why := makes_incomparable(before, now, parts):
        return Change(kind="incomparable", before=before, now=now, parts=parts, why=why)
    kinds: dict[tuple[bool | None, bool | None], Kind] = {
        (True, False): "regressed",
        (False, True): "fixed",
        (False, False): "known",
    }
    kind = kinds.get((before.passed, now.passed), "same")
    return Change(kind=kind, before=before, now=now, parts=parts)


def _metrics(changes: Iterable[Change]) -> tuple[MetricChange, ...]:
    """Return the change of each check's mean, over the pairs that can be compared."""
    found: dict[tuple[str, str], list[tuple[float, float, bool]]] = {}
    for change in changes:
        for key, pair in _values(change):
            found.setdefault(key, []).append(pair)
    differences = {
        key: paired_bootstrap([a for a, _, _ in pairs], [b for _, b, _ in pairs])
        for key, pairs in found.items()
    }
    names = {key: f"{key[0]}\n{key[1]}" for key in differences}
    adjusted = holm({names[key]: one.p for key, one in differences.items()})
    return tuple(
        MetricChange(
            test=key[0],
            name=key[1],
            difference=difference,
            p_adjusted=adjusted[names[key]],
            higher_is_better=found[key][0][2],
        )
        for key, difference in differences.items()
    )


def _values(
    change: Change,
) -> Iterator[tuple[tuple[str, str], tuple[float, float, bool]]]:
    before, now = change.before, change.now
    if before is None or now is None or change.kind in {"incomparable", "missing"}:
        return
    for name, value in now.values.items():
        old = before.values.get(name)
        if old is None or old.value is None or value.value is None:
            continue
        if (old.metric, old.version) == (value.metric, value.version):
            pair = (old.value, value.value, value.higher_is_better)
            yield (now.test, name), pair

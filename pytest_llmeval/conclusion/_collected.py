"""What the suite holds, whether it is run or not: tests, and the ids of their cases.

Filled where tests are collected; under xdist a worker sends it to the controller when
it ends. From it follow which cases are gone, which were only not run, and whether a
test ran whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from pytest_llmeval.types import Case, Group

__all__ = ["Collected"]


@dataclass(slots=True)
class _Test:
    ids: frozenset[str] | None = None
    """Of every case of the dataset; None for a test without one."""
    is_limited: bool = False
    """An option or the marker left cases out."""
    items: int = 0
    """How many tests pytest made of it, over all parameters."""


@dataclass(slots=True)
class Collected:
    """The tests of a session, before anything is deselected."""

    tests: dict[str, _Test] = field(default_factory=dict)
    """By file, class and function."""
    groups: dict[str, Group] = field(default_factory=dict)
    """Of YAML tasks, by file and name."""
    looked_at: tuple[str, ...] = ()
    """Where tests were looked for: files and folders as seen from the root directory, or
    the beginnings of node ids."""
    only_failed: bool = False
    """Whether other tests than those that failed the last time were left out."""

    def add_dataset(
        self, test: str, cases: Sequence[Case], kept: Sequence[Case]
    ) -> None:
        """Keep the ids of a test's dataset, and whether all of it is run."""
        found = self.tests.setdefault(test, _Test())
        found.ids = frozenset(case.id for case in cases)
        found.is_limited = len(kept) < len(cases)

    def add_test(self, test: str, items: int) -> None:
        """Keep how many items a test is made into, as far as its marks tell."""
        self.tests.setdefault(test, _Test()).items = items

    def count_items(self, nodeids: Iterable[str]) -> None:
        """Count the items that were collected.

        There may be more than the marks told (parametrized fixtures), and fewer: --lf
        takes items away while they are collected.
        """
        counts = Counter(nodeid.partition("[")[0] for nodeid in nodeids)
        for test, count in counts.items():
            found = self.tests.setdefault(test, _Test())
            found.items = max(found.items, count)

    def ran_whole(self, test: str, ended: int) -> bool:
        """Return whether all items of a test have ended.

        Args:
            test: File, class and function.
            ended: How many of its items have.
        """
        found = self.tests.get(test)
        return found is not None and ended >= found.items

    def is_limited(self, test: str) -> bool:
        """Return whether options or the marker left cases of the dataset out."""
        found = self.tests.get(test)
        return found is not None and found.is_limited

    def items_of(self, test: str) -> int:
        """Return how many items a test has."""
        found = self.tests.get(test)
        return found.items if found else 0

    def left(self, ended: Iterable[str]) -> int:
        """Return how many items have not ended.

        Args:
            ended: Node ids of those that have.
        """
        counts = Counter(nodeid.partition("[")[0] for nodeid in ended)
        return sum(max(0, one.items - counts[test]) for test, one in self.tests.items())

    def groups_there(self) -> tuple[Group, ...]:
        """Return the groups of which every test was collected, in order of their names.

        Of others too little is known: another part of the suite was run.
        """
        return tuple(
            group
            for _, group in sorted(self.groups.items())
            if all(test in self.tests for test in group.tests)
        )

    def holds(self, test: str, case_id: str) -> bool | None:
        """Return whether a test has a case, None when that is not known."""
        found = self.tests.get(test)
        if found is None or found.ids is None:
            return None
        return case_id in found.ids

    def is_in_scope(self, test: str) -> bool:
        """Return whether the run looked where a test is, or was."""
        if test in self.tests:
            return True
        file, _, name = test.partition("::")
        for place in self.looked_at:
            path, _, rest = place.partition("::")
            if rest:
                if file == path and name.startswith(rest):
                    return True
            elif path == "." or PurePosixPath(file).is_relative_to(path):
                return True
        return False

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types, which execnet can send."""
        return {
            "tests": {
                name: [
                    None if test.ids is None else sorted(test.ids),
                    test.is_limited,
                    test.items,
                ]
                for name, test in self.tests.items()
            },
            "groups": {name: group.to_json() for name, group in self.groups.items()},
            "looked_at": list(self.looked_at),
            "only_failed": self.only_failed,
        }

    def take(self, data: Mapping[str, Any]) -> None:
        """Take over what a worker has sent, or another run of the suite has kept.

        Raises:
            TypeError: The data are not those of `to_json`.
        """
        for name, (ids, is_limited, items) in data.get("tests", {}).items():
            found = self.tests.setdefault(name, _Test())
            if ids is not None:
                found.ids = frozenset(ids) | (found.ids or frozenset())
            found.is_limited = found.is_limited or is_limited
            found.items = max(found.items, items)
        for name, group in data.get("groups", {}).items():
            self.groups[name] = Group.from_json(group)
        places = (*self.looked_at, *data.get("looked_at", ()))
        self.looked_at = tuple(dict.fromkeys(places))
        self.only_failed = self.only_failed or bool(data.get("only_failed"))

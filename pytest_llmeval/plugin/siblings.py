"""Which bodies may run ahead: the cases of one test function, and what speaks against.

pytest tells what is set up for an item as it happens; fixtures that are set up anew for
every item show themselves then. So the first case of a function is the one that tells
about the others, and what a case was given is compared once more in its own turn.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_llmeval.ahead import obstacle
from pytest_llmeval.plugin._internals import (
    fixture_names,
    is_direct,
    own_fixtures_used,
    parameter_indices,
    parameters,
)
from pytest_llmeval.plugin.bodies import argument_names, claimed_by
from pytest_llmeval.plugin.fixtures import NAMES, Recorder
from pytest_llmeval.plugin.pace import Pace
from pytest_llmeval.plugin.task_item import TaskItem
from pytest_llmeval.plugin.upcoming import Upcoming

__all__ = ["Evaluation", "Group", "Watch", "siblings"]

#: The items whose bodies may run ahead.
Evaluation = pytest.Function | TaskItem


class Watch:
    """Sees which fixtures are set up for the item that runs."""

    def __init__(self) -> None:
        self.narrow: set[str] = set()
        """Fixtures that live no longer than the item."""
        self.direct: set[str] = set()
        """Parameters that are given as they are."""
        self._async: set[str] = set()
        self._seen: set[Any] = set()
        self._item: pytest.Item | None = None

    def begin(self, item: pytest.Item) -> None:
        """Watch an item; also when it is run again."""
        self._item = item
        self.narrow = set()
        self.direct = set()

    def see(self, fixturedef: Any, request: Any) -> None:
        """Take note of a fixture that is about to be set up."""
        name, function = fixturedef.argname, fixturedef.func
        if self._item is not None and is_direct(fixturedef, self._item):
            self.direct.add(name)
        elif request.node is self._item:
            # By the node and not by the scope: for a plain function a fixture of class
            # scope is set up for every item too.
            self.narrow.add(name)
        if function not in self._seen:
            self._seen.add(function)
            if is_async(function):
                self._async.add(name)

    def async_fixtures(self, item: pytest.Item) -> list[str]:
        """Return the async fixtures an item uses, itself or through others."""
        if not self._async:
            return []
        return [name for name in fixture_names(item) if name in self._async]


def is_async(function: Any) -> bool:
    """Return whether a fixture's function has to be awaited."""
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


@dataclass(slots=True, kw_only=True)
class Group:
    """The cases of one test function that share all but their own parameters."""

    is_async: bool
    width: int
    """How many of its bodies may run at once."""
    arguments: tuple[str, ...]
    """The names of what its function takes."""
    own: frozenset[str]
    """Fixtures of ours it uses, not those a project has overridden."""
    obstacle: str | None
    """Why its bodies can't run beside others, as far as the function itself says."""
    is_proven: bool = False
    """Whether a case of it has been set up, and nothing spoke against."""
    has_several: bool = False
    """Whether a case of it has run already."""
    pace: Pace = field(default_factory=Pace)
    frontier: int = 0
    """Position of the next item to look at."""
    direct: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, item: Evaluation, width: int, module: str) -> Group:
        """Return the group of an item.

        Args:
            item: Any of its items.
            width: How many of its bodies may run at once.
            module: That defines the fixtures of ours.
        """
        function = item.function
        arguments = argument_names(item.obj)  # bound: without self
        found = obstacle(function)
        if (plugin := claimed_by(item)) is not None:
            found = f"{plugin} runs it"
        elif "request" in arguments:
            found = "it uses the fixture 'request'"
        return cls(
            is_async=inspect.iscoroutinefunction(function),
            width=width,
            arguments=arguments,
            own=frozenset(own_fixtures_used(item, NAMES, module)),
            obstacle=found,
            # A task's only argument; no fixture is set up for it that would tell.
            direct={"case"} if isinstance(item, TaskItem) else set(),
        )

    def speaks_against(self, item: pytest.Item, watch: Watch) -> str | None:
        """Return why the item that has just been set up must run alone."""
        if self.obstacle is not None:
            return self.obstacle
        narrow = watch.narrow - (self.own & {"llmeval"})
        if narrow:
            names = ", ".join(map(repr, sorted(narrow)[:3]))
            is_one = len(narrow) == 1
            return (
                f"the fixture{'' if is_one else 's'} {names} "
                f"{'is' if is_one else 'are'} set up for every case"
            )
        if asynchronous := watch.async_fixtures(item):
            return f"the fixture {asynchronous[0]!r} is async and has its own loop"
        return None

    def given_to(self, sibling: pytest.Item, current: Evaluation) -> dict[str, Any]:
        """Return the arguments of a sibling, as far as they can be known by now."""
        own = parameters(sibling)
        return {
            name: own[name]
            if name in self.direct
            else Recorder()
            if name == "llmeval" and name in self.own
            else current.funcargs[name]
            for name in self.arguments
        }

    def is_what_it_got(self, item: Evaluation, given: Mapping[str, Any]) -> bool:
        """Return whether an item's own set-up made the objects its body was given."""
        return all(
            (name == "llmeval" and name in self.own)
            or item.funcargs.get(name, given) is value
            for name, value in given.items()
        )


def siblings(
    current: Evaluation, group: Group, upcoming: Upcoming, groups: Any
) -> Iterator[Evaluation]:
    """Yield the items whose bodies may run now, in order, from the group's frontier.

    Ends at the first item that may change what is set up, or that may be disturbed: one
    of another class or module, with other values of parametrized fixtures, or of
    a function of which nothing is known yet.

    Args:
        current: The item that runs.
        group: Its group.
        upcoming: The items that will run.
        groups: Returns the group of an item, None when it is no evaluation.
    """
    wider = wider_parameters(current, group)
    group.frontier = max(group.frontier, upcoming.position + 1)
    while (item := upcoming.at(group.frontier)) is not None:
        other = groups(item) if item.parent is current.parent else None
        if other is None or (other is not group and not other.is_proven):
            return
        if wider_parameters(item, other) != wider:
            return
        group.frontier += 1
        if other is group and not _may_be_skipped(item, current):
            assert isinstance(item, Evaluation)
            yield item


def wider_parameters(item: pytest.Item, group: Group) -> dict[str, int]:
    """Return the values an item has of parametrized fixtures, by their index."""
    indices = parameter_indices(item)
    return {n: index for n, index in indices.items() if n not in group.direct}


def _may_be_skipped(item: pytest.Item, current: pytest.Item) -> bool:
    """Return whether marks of its own may keep an item from running.

    pytest decides that in the item's set-up. What the current item has too has just been
    decided.
    """
    known = {id(mark) for mark in current.own_markers}
    return any(
        mark.name in {"skip", "skipif"}
        or (mark.name == "xfail" and not mark.kwargs.get("run", True))
        for mark in item.own_markers
        if id(mark) not in known
    )

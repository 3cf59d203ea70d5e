"""The bodies that have begun before their items' turns, and those that are to."""

from __future__ import annotations

import contextvars
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_llmeval.ahead import Body, Engine, Routes
from pytest_llmeval.loop import LoopThread
from pytest_llmeval.plugin.samples import Samples
from pytest_llmeval.plugin.siblings import Evaluation, Group
from pytest_llmeval.recorder import begin

__all__ = ["Begun", "Bodies"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bodies:
    """The bodies of an item, one a sample, and what they were given."""

    bodies: tuple[Body, ...]
    samples: Samples
    given: dict[str, Any]

    @property
    def have_begun(self) -> bool:
        """Whether one of them has."""
        return any(body.is_started for body in self.bodies)

    @property
    def are_done(self) -> bool:
        """Whether all of them have ended."""
        return all(body.is_done for body in self.bodies)


class Begun:
    """Holds the bodies of items whose turn is still to come, and runs them.

    Args:
        loop: Runs those of ``async def`` tests.
    """

    def __init__(self, loop: LoopThread) -> None:
        self.engine = Engine(loop)
        self.by_item: dict[pytest.Item, Bodies] = {}
        self.count = 0
        """How many bodies they are."""

    def made(
        self, item: Evaluation, group: Group, given: dict[str, Any], samples: Samples
    ) -> Bodies:
        """Return the bodies of an item, not yet begun.

        Args:
            item: The item.
            group: Its group.
            given: The arguments of its function.
            samples: A body is made for each.
        """
        function: Any = item.obj
        wrap = samples.async_body if group.is_async else samples.body
        bodies = []
        for sample in samples.runs:
            context = contextvars.copy_context()
            body = Body(
                wrap(sample.index, lambda: function(**given)),
                context=context,
                is_async=group.is_async,
                width=group.width,
            )
            sample.pauses = self.engine.pause
            context.run(begin, sample)
            context.run(Routes.lead_to, body.pieces)
            bodies.append(body)
        return Bodies(bodies=tuple(bodies), samples=samples, given=given)

    def add(self, item: pytest.Item, bodies: Bodies) -> None:
        """Let the bodies of an item begin as soon as there is room."""
        self.by_item[item] = bodies
        self.count += len(bodies.bodies)
        for body in bodies.bodies:
            self.engine.submit(body)

    def add_next(self, bodies: Bodies) -> None:
        """Let the bodies of the item that has its turn begin before all others."""
        for body in reversed(bodies.bodies):
            self.engine.submit(body, is_next=True)

    def take(self, item: pytest.Item) -> Bodies | None:
        """Return what has begun of an item, which is its own to end now."""
        bodies = self.by_item.pop(item, None)
        if bodies is not None:
            self.count -= len(bodies.bodies)
        return bodies

    def drop(self, bodies: Bodies, *, hang: bool = False) -> None:
        """Let their outcome be; what they would still ask is not asked.

        Args:
            bodies: Those of an item.
            hang: Whether they were waited for in vain: others get their places.
        """
        bodies.samples.close()
        for body in bodies.bodies:
            self.engine.drop(body, hangs=hang)

    def close(self) -> None:
        """Begin nothing more, and let go of what has begun."""
        for bodies in self.by_item.values():
            bodies.samples.close()
        self.by_item.clear()
        self.count = 0
        self.engine.close()

"""Fixtures that outlive the case they asked a model for.

A fixture of session scope that calls `generator` is set up in the first case that needs
it, and asks that case's model. Where another case is about another model, its value is
the reply of the wrong one.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.plugin._internals import fixture_names
from pytest_llmeval.recorder import Plan, SampleRun

__all__ = ["Outlived"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What a fixture asked while it was set up."""

    node: Any
    """What it lives as long as: a class, a module, the session."""
    scope: str
    role: str
    spec: Any


class Outlived:
    """Knows which model was asked by which fixture that is still there."""

    def __init__(self) -> None:
        self._being_set_up: list[Any] = []
        self._asked: dict[str, list[_Asked]] = {}
        self._sample: SampleRun | None = None

    def begin(self, sample: SampleRun) -> None:
        """Note whose set-up begins."""
        self._sample = sample

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: Any, request: pytest.FixtureRequest
    ) -> Generator[None, Any, Any]:
        """Know what is being set up, and for how long."""
        self._being_set_up.append((fixturedef, request.node))
        try:
            return (yield)
        finally:
            self._being_set_up.pop()

    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        """Forget a fixture that is gone."""
        if self._asked:
            self._asked.pop(fixturedef.argname, None)

    def note(self, sample: SampleRun | None, role: str, spec: Any) -> None:
        """Note that a model is asked; bodies that run meanwhile are no matter."""
        if sample is None or sample is not self._sample:
            return
        for fixturedef, node in self._being_set_up:
            if not isinstance(node, pytest.Item):
                asked = _Asked(node=node, scope=fixturedef.scope, role=role, spec=spec)
                self._asked.setdefault(fixturedef.argname, []).append(asked)

    def check(self, item: pytest.Item, plan: Plan) -> None:
        """Refuse a fixture that has asked for another case.

        Raises:
            ConfigError: It asked another model than this case is about.
        """
        if not self._asked:
            return
        alive = item.listchain()
        for name in fixture_names(item):
            for asked in self._asked.get(name, ()):
                mine = getattr(plan, asked.role)
                if asked.node in alive and asked.spec != mine:
                    raise ConfigError(_text(name, asked, mine))


def _text(name: str, asked: _Asked, mine: Any) -> str:
    return (
        f"the fixture {name!r} lives for the {asked.scope} and asked the {asked.role} "
        f"{asked.spec!r} when it was set up; this case is about {mine!r}, and would be "
        f"given the other one's reply: ask in the test itself, leave out the fixture's "
        f"scope, or ask a model of the fixture's own, llm_client({asked.spec!r})"
    )

"""What holds for the cases of a test: its models, prompt, width and repeats.

A marker outweighs the command line, which outweighs ``llmeval.yaml``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.config import Config
from pytest_llmeval.gates import asks_for_estimate
from pytest_llmeval.kinds import kind_use
from pytest_llmeval.plugin.marker import Marker, gates_of, llmeval_marks, read_marker
from pytest_llmeval.plugin.settings import Settings
from pytest_llmeval.prompts import Template
from pytest_llmeval.recorder import Plan

__all__ = ["Plans"]


class Plans:
    """The plans of a session's tests, each made once.

    Args:
        root: Root directory of the suite.
        settings: What the command line says.
        config: What llmeval.yaml says.
    """

    def __init__(self, root: Path, settings: Settings, config: Config) -> None:
        self._root = root
        self._settings = settings
        self._config = config
        self._templates: dict[Any, Template] = {}
        self._plans: dict[tuple[Any, ...], tuple[Plan, tuple[pytest.Mark, ...]]] = {}

    def generators(self, marker: Marker | None) -> tuple[Any, ...]:
        """Return the models a test runs against; one pinned in its marker stays."""
        pinned = marker.generator if marker else None
        if pinned is not None:
            return tuple(pinned) if isinstance(pinned, list | tuple) else (pinned,)
        if self._settings.generators:
            return self._settings.generators
        return (self._config.generator,) if self._config.generator else ()

    def judge_spec(self, marker: Marker | None) -> Any:
        """Return the model a test is judged by, None when there is none."""
        pinned = marker.judge if marker else None
        return pinned or self._settings.judge or self._config.judge

    def width(self, marker: Marker | None) -> int:
        """Return how many bodies of a test may run at once.

        A marker can ask for more than llmeval.yaml, and for less than the command line,
        which is the most there is.
        """
        limit = self._config.limits.concurrency
        asked = marker.concurrency if marker else None
        if asked is None:
            return limit
        return asked if self._settings.concurrency is None else min(asked, limit)

    def of_marker(self, marker: Marker | None, base: Path) -> Plan:
        """Return what holds for a test's cases; templates are read once.

        Raises:
            UserError: A template can't be read.
        """
        generators = self.generators(marker)
        own = marker.prompt if marker else None
        use = kind_use(marker.kind) if marker and marker.kind is not None else None
        default = use.kind.prompt if use else None
        asked = marker or Marker()
        gates = gates_of(asked.gate)
        return Plan(
            prompt=self.template(default if own is None else own, base),
            system=self.template(marker.system if marker else None, base),
            generator=generators[0] if generators else None,
            judge=self.judge_spec(marker),
            kind=use,
            has_own_prompt=own is not None,
            gates=gates,
            repeat=1
            if asked.is_calibration
            else self._settings.repeat or asked.repeat or 1,
            min_sample_rate=asked.min_sample_rate or 1.0,
            stops_early=not (
                self._settings.fail_on_unstable
                or any(map(asks_for_estimate, (*gates, *self._config.gates)))
            ),
        )

    def of_item(self, item: pytest.Item) -> Plan:
        """Return the plan of an item; made once for all with the same markers.

        Raises:
            UserError: A marker or template can't be used.
        """
        marks = tuple(llmeval_marks(item))
        key = (item.nodeid.partition("::")[0], *map(id, marks))
        if key not in self._plans:
            plan = self.of_marker(read_marker(item), item.path.parent)
            # With the marks beside it: an id is only unique while its object lives.
            self._plans[key] = (plan, marks)
        return self._plans[key][0]

    def template(self, source: Any, base: Path) -> Template | None:
        """Return the template of a marker's prompt or system keyword."""
        if source is None:
            return None
        key = (source, base)
        if key not in self._templates:
            self._templates[key] = Template.of(source, base=base, root=self._root)
        return self._templates[key]

"""What a run leaves when it is stopped: cases that were running, and those not run.

Ctrl-C, `pytest.exit` and an xdist controller that stops end a session between two
reports: without this nobody would say what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.plugin.cases import record_of
from pytest_llmeval.plugin.outcomes import Outcome
from pytest_llmeval.plugin.samples import Samples
from pytest_llmeval.plugin.upcoming import evaluations
from pytest_llmeval.types import Record

if TYPE_CHECKING:
    from pytest_llmeval.plugin.run import Run

__all__ = ["Stopped"]

_RUNNING = Outcome(
    status="unscored",
    cause="interrupted",
    reason="the run was stopped while this case ran",
)
_NOT_RUN = Outcome(status="not_run", reason="not run: the run was stopped before")


class Stopped:
    """Knows whether a run was stopped, and gives what is left a record.

    Args:
        run: The session's run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._is_stopped = False
        self.is_unfinished = False
        """Whether it was, and cases are left; known at the end."""
        self._running: dict[str, Samples] = {}
        """By node id; of those that run ahead of their turn, too."""
        self.selected: int | None = None
        """How many cases the session is to run: on a controller as a worker has said."""

    def pytest_keyboard_interrupt(self) -> None:
        """Note that the session ends here, and which bodies are at work."""
        self._is_stopped = True
        ahead: Any = self._run.config.pluginmanager.getplugin("llmeval-ahead")
        if ahead is not None:
            for samples in ahead.begun():
                self.hold(samples)

    def count(self, session: pytest.Session) -> int:
        """Return how many cases a session is to run; counted once, asked each time."""
        if self.selected is None:
            self.selected = len(evaluations(session))
        return self.selected

    def hold(self, samples: Samples) -> None:
        """Keep what has been seen of a case that does not come to its end."""
        self._running[samples.run.nodeid] = samples

    def leave(self, session: pytest.Session) -> None:
        """Give a record to each case that did not end, and tell their number."""
        if not self._is_stopped:
            return
        outputs = self._run.outputs
        running = [*self._held(), *map(_as_running, outputs.begun())]
        for record in running:
            outputs.keep(record)
        left = list(self._not_run(session))
        for record in left:
            outputs.keep(record)
        missing = len(left)
        if self.selected is not None:  # a controller has no items of its own
            missing = self.selected - len(outputs.records)
        parts = []
        if running:
            is_are = "is" if len(running) == 1 else "are"
            parts.append(f"{_counted(len(running))} running and {is_are} unscored")
        if missing:
            parts.append(f"{_counted(missing)} not run")
        if parts:
            self.is_unfinished = True
            outputs.note(f"the run was stopped: {', '.join(parts)}")

    def _held(self) -> Iterator[Record]:
        for nodeid, samples in self._running.items():
            if nodeid not in self._run.outputs.records:
                samples.close()
                yield record_of(samples, _RUNNING, 0.0)

    def _not_run(self, session: pytest.Session) -> Iterator[Record]:
        for item in evaluations(session):
            if item.nodeid not in self._run.outputs.records:
                yield record_of(self._run.samples_for(item), _NOT_RUN, 0.0)
                self._run.runtime.cases.pop(item, None)


def _as_running(begun: Record) -> Record:
    """Return the record of a case that a worker had begun when the run was stopped."""
    return replace(
        begun,
        status=_RUNNING.status,
        cause=_RUNNING.cause,
        reason=_RUNNING.reason,
    )


def _counted(count: int) -> str:
    return "1 case was" if count == 1 else f"{count} cases were"

"""The end of a session: what workers know, exit status, reports, the summary."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.plugin import summary
from pytest_llmeval.plugin.junit import mark_statuses

if TYPE_CHECKING:
    from pytest_llmeval.plugin.run import Run

__all__ = ["Ending"]

_NOTES = "llmeval_notes"


class Ending:
    """Ends a session with evaluations.

    Args:
        run: The session's run.
    """

    def __init__(self, run: Run) -> None:
        self.run = run

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker knows of the suite: here nothing was collected."""
        sent = getattr(node, "workeroutput", None) or {}
        self.run.runtime.collected.take(sent.get("llmeval_collected", {}))
        for note in sent.get(_NOTES, ()):
            self.run.outputs.note(note)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(
        self, session: pytest.Session
    ) -> Generator[None, Any, Any]:
        """Decide the exit status, write reports, put JUnit right."""
        if self.run.is_worker:
            output = self.run.config.workeroutput  # type: ignore[attr-defined]
            output["llmeval_collected"] = self.run.runtime.collected.to_json()
            output[_NOTES] = self.run.runtime.clients.settle()
            return (yield)
        if self.run.config.option.collectonly:  # nothing ran: nothing to decide or keep
            return (yield)
        self.run.stopped.leave(session)
        self.run.bars.decide(session)
        self.run.outputs.finish(session)
        try:
            return (yield)
        finally:
            if path := getattr(self.run.config.option, "xmlpath", None):
                # As pytest reads it: from where the run began.
                path = os.path.expanduser(os.path.expandvars(path))
                path = self.run.config.invocation_params.dir / path
                mark_statuses(path, self.run.bars.conclusion.released)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> Generator[None, Any, Any]:
        """Print unscored cases above the failures and the report below them."""
        if not self.run.is_worker:
            summary.write_unscored(terminalreporter)
        result = yield
        if not self.run.is_worker:
            summary.write_short_lines(terminalreporter)
        return result

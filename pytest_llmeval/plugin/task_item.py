"""A case of a YAML task as a pytest item."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.plugin.bodies import call_samples
from pytest_llmeval.types import Case

__all__ = ["TaskItem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parameters:
    """What a parametrized function's item says of its parameters."""

    params: Mapping[str, Any]
    indices: Mapping[str, int]
    marks: tuple[pytest.Mark, ...]


class TaskItem(pytest.Item):
    """A case of a task; in what runs ahead it stands beside functions.

    Args:
        case: The row.
        body: Asks and checks a case.
        task: The task's name.
        index: Of the item in its task.
        pins: Marks of the model and prompt it runs with, where there are several.
        has_checks: Whether the body checks anything of a reply.
    """

    def __init__(
        self,
        *,
        case: Case,
        body: Callable[[Case], None],
        task: str,
        index: int,
        pins: tuple[pytest.Mark, ...],
        has_checks: bool,
        **arguments: Any,
    ) -> None:
        super().__init__(**arguments)
        self.obj: Callable[..., None] = body
        self.function: Callable[..., None] = body
        self.originalname = task
        self.has_checks = has_checks
        self.funcargs = {"case": case}
        # Not `callspec`: pytest would take it for its own.
        self.task_parameters = _Parameters(
            params={"case": case}, indices={"case": index}, marks=pins
        )

    def runtest(self) -> None:
        """Collect what has run ahead, or run the case here."""
        __tracebackhide__ = True
        ahead: Any = self.config.pluginmanager.getplugin("llmeval-ahead")
        if ahead is not None and ahead.run(self):
            return
        run: Any = self.config.pluginmanager.getplugin("llmeval-run")
        if not call_samples(self, run):
            self.obj(self.funcargs["case"])

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> Any:
        """Return the text of what we raise alone: no source of the user's is in it."""
        if isinstance(excinfo.value, AssertionError | LLMEvalError):
            return excinfo.getrepr(style="value")
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place pytest names: it wants a line of an item that is skipped."""
        return self.path, 0, self.name

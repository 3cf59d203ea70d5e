"""The YAML tasks of a session, as they have been read."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pytest

from pytest_llmeval import tasks
from pytest_llmeval.plugin.settings import Settings
from pytest_llmeval.plugin.task_paths import task_paths

__all__ = ["ReadTasks"]


class ReadTasks:
    """Tasks by file and name.

    Args:
        config: The pytest config.
        settings: What the command line says.
    """

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config = config
        self._root: Path = config.rootpath
        self._settings = settings
        self._known: dict[str, tasks.Task] = {}

    def keep(self, test: str, task: tasks.Task) -> None:
        """Keep a task that was collected."""
        self._known[test] = task

    @cached_property
    def options(self) -> tasks.TaskOptions:
        """What holds for all YAML tasks."""
        return tasks.TaskOptions(
            root=self._root,
            task_paths=tuple(task_paths(self._config)),
            allow_functions=bool(self._config.getini("llmeval_allow_functions")),
            logs_samples=self._settings.log_samples is not None,
            num_fewshot=self._settings.num_fewshot,
            system_instruction=self._settings.system_instruction,
            apply_chat_template=self._settings.apply_chat_template,
            fewshot_as_multiturn=self._settings.fewshot_as_multiturn,
            gen_kwargs=self._settings.gen_kwargs,
        )

    def task(self, test: str) -> tasks.Task:
        """Return a YAML task; an xdist controller, which collects nothing, reads it.

        Raises:
            UserError: Its file can't be used any more.
        """
        if test not in self._known:
            path = self._root / test.partition("::")[0]
            found = tasks.load_task(path, self.options)
            self._known[test] = self._task(found, test)
        return self._known[test]

    def _task(self, found: tasks.Task | tasks.TaskGroup, test: str) -> tasks.Task:
        if isinstance(found, tasks.Task):
            return found
        name = test.partition("::")[2]
        member = next(one for one in found.members if one.name == name)
        return tasks.load_member(member, self.options)

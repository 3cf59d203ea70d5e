"""Groups of YAML tasks: which file brings which of their tasks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_llmeval.plugin.runtime import Runtime
from pytest_llmeval.plugin.task_paths import is_collected
from pytest_llmeval.tasks import TaskGroup
from pytest_llmeval.types import Group

__all__ = ["add_group", "homes_of"]


def homes_of(group: TaskGroup, file: pytest.File) -> dict[str, str]:
    """Return the node id of the file that brings each task of a group.

    It is the task's own file where pytest comes by that, and the group lays nothing
    over it; else the group's.
    """
    homes = {}
    for member in group.members:
        path = member.path
        is_apart = member.is_as_filed and is_collected(path, file.session)
        home = _node_id(path, file.config) if is_apart else file.nodeid
        homes[member.name] = home
    return homes


def add_group(group: TaskGroup, homes: Mapping[str, str], runtime: Runtime) -> None:
    """Keep a group for the report and its gates."""
    names = [member.name for member in group.members]
    runtime.collected.groups[f"{group.shown}::{group.name}"] = Group(
        name=group.name,
        alias=group.alias,
        tests=tuple(f"{homes[name]}::{name}" for name in names),
        metrics=group.metrics,
        gates=group.gates,
    )


def _node_id(path: Path, config: pytest.Config) -> str:
    return path.relative_to(config.rootpath).as_posix()

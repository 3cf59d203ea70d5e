"""YAML task files: a suite without Python, in our own words or lm-evaluation-harness's.

A file becomes a `Task`: its cases, what holds for them, and what is done with each.
Everything that can be wrong in a file is told when it is read, with file and line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmeval.tasks._load import load_member, load_task
    from pytest_llmeval.tasks._task import Member, Task, TaskGroup, TaskOptions
else:
    from pytest_llmeval.late import late

    __getattr__ = late(
        __name__,
        {
            "Member": "_task",
            "Task": "_task",
            "TaskGroup": "_task",
            "TaskOptions": "_task",
            "load_member": "_load",
            "load_task": "_load",
        },
    )

__all__ = [
    "Member",
    "Task",
    "TaskGroup",
    "TaskOptions",
    "load_member",
    "load_task",
]

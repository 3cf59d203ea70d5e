"""YAML task files: a suite without Python, in our own words or lm-evaluation-harness's.

A file becomes a `Task`: its cases, what holds for them, and what is done with each.
Everything that can be wrong in a file is told when it is read, with file and line.
"""

from __future__ import annotations

from pytest_llmeval.tasks._load import load_task
from pytest_llmeval.tasks._task import Task, TaskOptions

__all__ = ["Task", "TaskOptions", "load_task"]

"""From a task file to a task, in whichever dialect it is written."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Final

from pytest_llmeval.config import Section
from pytest_llmeval.errors import EvaluationWarning
from pytest_llmeval.tasks._own import own_task
from pytest_llmeval.tasks._read import read_mapping
from pytest_llmeval.tasks._task import Member, Task, TaskGroup, TaskOptions
from pytest_llmeval.tasks.lm_eval import is_lm_eval, lm_eval_file, member_task

__all__ = ["load_member", "load_task"]

_COMMENTED: Final = re.compile(r"#include\s*:")
_NOT_IN_A_NAME: Final = re.compile(r"[\[\]\x00-\x1f\x7f]|::")


def load_task(path: Path, options: TaskOptions) -> Task | TaskGroup:
    """Return the task of a file, or the group.

    Args:
        path: The file.
        options: What holds for all task files.

    Raises:
        UserError: Something in it, or in a file it names, is wrong; the text has file
            and line.
    """
    top = read_mapping(path, options.root)
    _warn_of_comments(path, top.shown)
    if is_lm_eval(top):
        return lm_eval_file(top, path, options, name_of)
    return own_task(top, name_of(top, path), path, options)


def load_member(member: Member, options: TaskOptions) -> Task:
    """Return a task of a group.

    Raises:
        UserError: Something in its file is wrong.
    """
    return member_task(member, options, name_of)


def _warn_of_comments(path: Path, shown: str) -> None:
    """Warn about an include that is commented out: it looks like one, and is none."""
    for number, line in enumerate(path.read_text("utf-8").split("\n"), start=1):
        if _COMMENTED.match(line):
            message = (
                f"{shown}:{number}: {line.strip()!r} is a comment and includes nothing"
            )
            warnings.warn(message, EvaluationWarning, stacklevel=2)


def name_of(top: Section, path: Path) -> str:
    """Return what a task is called: as it says, else like its file.

    Raises:
        ConfigError: The name can't stand in a node id.
    """
    name = top.text("task") or re.sub(r"(\.llmeval)?\.ya?ml$", "", path.name)
    if found := _NOT_IN_A_NAME.search(name):
        message = (
            f"task: {name!r} holds {found[0]!r}, and the name stands in node ids "
            f"(FILE::TASK[CASE]): name it otherwise"
        )
        raise top.fail(message, "task")
    return name

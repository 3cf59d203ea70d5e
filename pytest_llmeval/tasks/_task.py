"""What a task file says, read and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_llmeval.types import Case, GroupMetric

__all__ = ["FunctionName", "Member", "Task", "TaskGroup", "TaskOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """What the command line and the ini file say about all task files."""

    root: Path
    """Where every file that a task names must lie."""
    task_paths: tuple[Path, ...] = ()
    """Where groups look for tasks, after their own folder."""
    allow_functions: bool = False
    """Whether ``!function`` may import code beside a task file."""
    logs_samples: bool = False
    """Whether each row's replies and values are kept for a log."""
    num_fewshot: int | None = None
    """How many worked examples tasks show that don't say 0."""
    system_instruction: str | None = None
    """Stands before the description of tasks."""
    apply_chat_template: bool = False
    """Whether prompts are sent as messages of a chat."""
    fewshot_as_multiturn: bool | None = None
    """Whether worked examples are turns of it; None: as the task says."""
    gen_kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Laid over the generation_kwargs of tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task: cases, and what is done with each."""

    name: str
    shown: str
    """The file's name for people."""
    cases: tuple[Case, ...]
    run: Callable[[Case, Any, Any], None]
    """Asks and checks one case; gets the case, the generator and the judge."""
    keywords: Mapping[str, Any] = field(default_factory=dict)
    """What the llmeval marker of a test function would say."""
    aggregations: Mapping[str, Callable[[list[Any]], Any]] = field(default_factory=dict)
    """Functions of its own that put the values of a check together, by their names."""
    has_checks: bool = False
    """Whether `run` checks anything of a reply."""
    needs_likelihood: bool = False
    """Whether it asks how likely given texts are, which few models say."""
    uses: frozenset[str] = frozenset({"generator"})
    """The models it needs: generator, judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A task of a group."""

    name: str
    path: Path
    """The file it stands in."""
    shown: str
    """The group's file for people."""
    over: Mapping[str, Any] = field(default_factory=dict)
    """Keys that the group lays over those of the file."""
    stands_alone: bool = False
    """Whether `over` is all there is of it: the file is the group's."""

    @property
    def is_as_filed(self) -> bool:
        """Whether it is the task of its file, with nothing laid over."""
        return not self.over and not self.stands_alone


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGroup:
    """Tasks whose values are put together."""

    name: str
    alias: str
    """What people read."""
    shown: str
    """The file's name for people."""
    path: Path
    members: tuple[Member, ...]
    """Its tasks, those of its groups too."""
    groups: tuple[TaskGroup, ...] = ()
    """The groups in it."""
    metrics: tuple[GroupMetric, ...] = ()
    gates: tuple[str, ...] = ()

    def all_groups(self) -> Iterator[TaskGroup]:
        """Yield the group and those in it."""
        yield self
        for group in self.groups:
            yield from group.all_groups()


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionName:
    """A ``!function module.name``, and the file whose folder it is looked for in."""

    name: str
    file: Path

    def __repr__(self) -> str:
        return f"!function {self.name}"

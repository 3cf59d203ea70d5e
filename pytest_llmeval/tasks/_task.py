"""What a task file says, read and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_llmeval.types import Case

__all__ = ["FunctionName", "Task", "TaskOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """What the command line and the ini file say about all task files."""

    root: Path
    """Where every file that a task names must lie."""
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
    needs_likelihood: bool = False
    """Whether it asks how likely given texts are, which few models say."""
    uses: frozenset[str] = frozenset({"generator"})
    """The models it needs: generator, judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionName:
    """A ``!function module.name``, and the file whose folder it is looked for in."""

    name: str
    file: Path

    def __repr__(self) -> str:
        return f"!function {self.name}"

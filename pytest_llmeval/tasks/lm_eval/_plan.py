"""What is asked for one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_llmeval.tasks.lm_eval._docs import Row

__all__ = ["Plan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is asked for one row."""

    row: Row
    contexts: tuple[str, ...]
    """What stands before the answer; one for each choice."""
    messages: tuple[tuple[str, str], ...] = ()
    """The prompt as role and text of chat messages, where it is sent as these."""
    continuations: tuple[str, ...] = ()
    """The texts whose likelihood is asked for."""
    alone: tuple[str, ...] = ()
    """The choices as they are asked for without what stands before."""
    choices: tuple[str, ...] = ()
    gold: Any = None
    """The expected text or texts; of choices their positions."""
    number: int = 0
    """Of the row in its split, from 0."""
    target: Any = None
    """As doc_to_target gives it."""

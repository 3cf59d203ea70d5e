"""What stands before an answer: description, worked examples, the row's own text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from pytest_llmeval.tasks.lm_eval._docs import Docs, Row, choice_at

__all__ = ["SEED", "Contexts", "Shots", "Turn", "as_messages", "as_text"]

#: lm-evaluation-harness's, of the sampler `default`.
SEED: Final = 1234


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A part of a prompt: a message of a chat, or some of the text."""

    role: str
    text: str
    delimiter: str = ""
    """Follows in a text; a message has none."""


def as_text(turns: Sequence[Turn]) -> str:
    """Return a prompt as one text."""
    return "".join(turn.text + turn.delimiter for turn in turns)


def as_messages(turns: Sequence[Turn], *, one_each: bool) -> list[tuple[str, str]]:
    """Return a prompt as role and text of chat messages.

    Args:
        turns: The prompt.
        one_each: Whether each worked example has messages of its own; else all of them
            stand in the user's one. What the answer begins with has its own always.
    """
    if one_each:
        return [(turn.role, turn.text) for turn in turns]
    begin = 1 if turns[0].role == "system" else 0
    end = len(turns) - (turns[-1].role == "assistant")
    asked = [*turns[begin : end - 1], replace(turns[end - 1], delimiter="")]
    parts = [*turns[:begin], Turn(role="user", text=as_text(asked)), *turns[end:]]
    return [(turn.role, turn.text) for turn in parts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shots:
    """The worked examples a task shows."""

    count: int
    pool: tuple[Row, ...] = ()
    docs: Docs
    """How the rows of the pool are read."""
    sampler: str = "default"
    target_delimiter: str = " "
    delimiter: str = "\n\n"
    leaves_out_row: bool = False
    """Whether a row is taken from those that are drawn for it: one more is drawn."""


class Contexts:
    """Builds what stands before each row's answer, in the order of the rows.

    The sampler `default` draws row after row from one generator of random numbers, so
    what a row shows depends on how many were before it.

    Args:
        docs: How rows are read.
        shots: The worked examples.
        description: Stands first; a reader of a row.
        system: A further text before it.
        delimiter: Between the two.
        target_delimiter: Between text and answer.
    """

    def __init__(
        self,
        *,
        docs: Docs,
        shots: Shots,
        description: Any,
        system: str | None,
        delimiter: str,
        target_delimiter: str,
    ) -> None:
        self._docs = docs
        self._shots = shots
        self._description = description
        self._system = system or ""
        self._delimiter = delimiter
        self._target_delimiter = target_delimiter
        self._random = Random(SEED)

    def before(self, row: Row) -> list[Turn]:
        """Return description and examples; to be called once a row, in their order."""
        said = "" if self._description is None else str(self._description(row) or "")
        system = _joined(self._system, said, self._delimiter)
        turns = [Turn(role="system", text=system)] if system else []
        for shot in self._drawn(row):
            turns += self._shown(shot)
        return turns

    def question(self, row: Row) -> list[Turn]:
        """Return the row's own text, and what its answer begins with."""
        text, prefix = str(self._docs.text(row)), self._docs.prefix(row)
        delimiter = self._target_delimiter if _needs_delimiter(text, prefix) else ""
        return [Turn(role="user", text=text, delimiter=delimiter), *_begun(prefix)]

    def choice(self, row: Row, text: str) -> list[Turn]:
        """Return the same where a choice is the row's text."""
        return [Turn(role="user", text=text), *_begun(self._docs.prefix(row))]

    def _drawn(self, row: Row) -> list[Row]:
        shots = self._shots
        if not shots.count:
            return []
        if shots.sampler == "first_n":
            return self._others(row)[: shots.count]
        if not shots.leaves_out_row:
            return self._random.sample(shots.pool, shots.count)
        found = self._random.sample(shots.pool, shots.count + 1)
        found = [one for one in found if one != row][: shots.count]
        if len(found) < shots.count:  # the row stands in the pool several times
            found = self._random.sample(self._others(row), shots.count)
        return found

    def _others(self, row: Row) -> list[Row]:
        pool = self._shots.pool
        leaves_out = self._shots.leaves_out_row
        return [one for one in pool if not leaves_out or one != row]

    def _shown(self, row: Row) -> list[Turn]:
        """Return a row of the pool with its answer."""
        shots, docs = self._shots, self._shots.docs
        text, target = docs.text(row), docs.target(row)
        choices, prefix = docs.choices(row), docs.prefix(row)
        if choices and isinstance(text, int):
            text, choices = choice_at(choices, text), []
        if isinstance(target, list):
            target = target[0] if target else ""
        if choices and isinstance(target, int):
            target = choice_at(choices, target)
        has_answer = target is not None and target != ""
        is_apart = _needs_delimiter(str(text), prefix) if prefix else has_answer
        delimiter = shots.target_delimiter if is_apart else ""
        question = Turn(role="user", text=str(text), delimiter=delimiter)
        if not has_answer:
            return [question, *_begun(prefix)]
        answer = _joined(prefix, str(target), " ")
        return [
            question,
            Turn(role="assistant", text=answer, delimiter=shots.delimiter),
        ]


def _begun(prefix: str) -> list[Turn]:
    return [Turn(role="assistant", text=prefix)] if prefix else []


def _joined(first: str, second: str, delimiter: str) -> str:
    """Return two texts with a delimiter between them, unless white space is there."""
    if not first or not second:
        return first or second
    is_apart = first[-1].isspace() or second[0].isspace()
    return first + ("" if is_apart else delimiter) + second


def _needs_delimiter(text: str, prefix: str) -> bool:
    return bool(text and prefix) and not (text[-1].isspace() or prefix[0].isspace())

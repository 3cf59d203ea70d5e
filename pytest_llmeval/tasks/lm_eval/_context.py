"""The text before an answer: description, worked examples, the row's own text."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Final

from pytest_llmeval.tasks.lm_eval._docs import Docs, Row

__all__ = ["SEED", "Contexts", "Shots"]

#: lm-evaluation-harness's, of the sampler `default`.
SEED: Final = 1234


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
    shares_split: bool = False
    """The pool is the split that is evaluated: a row is none of its own examples."""


class Contexts:
    """Builds the text before each row's answer, in the order of the rows.

    The sampler `default` draws row after row from one generator of random numbers, so
    what a row shows depends on how many were before it.

    Args:
        docs: How rows are read.
        shots: The worked examples.
        description: Stands first; a reader of a row.
        target_delimiter: Between text and answer.
    """

    def __init__(
        self, *, docs: Docs, shots: Shots, description: Any, target_delimiter: str
    ) -> None:
        self._docs = docs
        self._shots = shots
        self._description = description
        self._delimiter = target_delimiter
        self._random = Random(SEED)

    def before(self, row: Row) -> str:
        """Return description and examples."""
        text = "" if self._description is None else str(self._description(row))
        return text + "".join(map(self._shown, self._drawn(row)))

    def whole(self, row: Row) -> str:
        """Return all that stands before a row's answer."""
        text = self._docs.text(row)
        if isinstance(text, int) and not isinstance(text, bool):
            return self.before(row)  # the choices are the texts
        prefix = self._docs.prefix(row)
        return f"{self.before(row)}{text}" + (
            f"{self._delimiter}{prefix}" if prefix else ""
        )

    def _drawn(self, row: Row) -> list[Row]:
        shots = self._shots
        if shots.count == 0:
            return []
        wanted = shots.count + (1 if shots.shares_split else 0)
        if shots.sampler == "first_n":
            found = list(shots.pool[:wanted])
        else:
            found = self._random.sample(shots.pool, wanted)
        if shots.shares_split:
            found = [one for one in found if one != row]
        return found[: shots.count]

    def _shown(self, row: Row) -> str:
        """Return a row of the pool with its answer."""
        shots, docs = self._shots, self._shots.docs
        text, target = docs.text(row), docs.target(row)
        choices = docs.choices(row)
        if choices and isinstance(text, int):
            text = choices[text]
        if isinstance(target, list):
            target = target[0] if target else ""
        if choices and isinstance(target, int):
            target = choices[target]
        prefix = docs.prefix(row)
        answer = f"{prefix} {target}" if prefix else str(target)
        shown = str(text)
        if answer:
            shown += shots.target_delimiter + answer
        return shown + shots.delimiter

"""Rows as cases, and what is asked for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pytest_llmeval.errors import ConfigError, UserError
from pytest_llmeval.tasks.lm_eval._context import (
    Contexts,
    Turn,
    as_messages,
    as_text,
)
from pytest_llmeval.tasks.lm_eval._dataset import Dataset
from pytest_llmeval.tasks.lm_eval._docs import Docs, Row, choice_at
from pytest_llmeval.tasks.lm_eval._include import Keys
from pytest_llmeval.tasks.lm_eval._plan import Plan
from pytest_llmeval.types import Case, Source

__all__ = ["Planner", "cases_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Makes the plan of each row, in their order."""

    output_type: str
    docs: Docs
    contexts: Contexts
    target_delimiter: str
    chat: Literal["message", "turns"] | None = None
    """Whether prompts of generate_until are messages of a chat, and how many."""

    def plan(self, row: Row) -> Plan:
        """Return what is asked for a row.

        Raises:
            UserError: The row has no usable text, target or choices.
        """
        if self.output_type == "loglikelihood_rolling":
            return Plan(row=row, contexts=("",), continuations=(self._target(row),))
        before = self.contexts.before(row)
        if self.output_type == "multiple_choice":
            return self._choices(row, before)
        turns = [*before, *self.contexts.question(row)]
        context = (as_text(turns),)
        if self.output_type == "loglikelihood":
            return Plan(row=row, contexts=context, continuations=(self._target(row),))
        gold = self.docs.target(row)
        choices = self.docs.choices(row)
        if choices and isinstance(gold, int):
            gold = choice_at(choices, gold)
        if not isinstance(gold, list):
            gold = str(gold)
        messages = self.chat and as_messages(turns, one_each=self.chat == "turns")
        return Plan(
            row=row, contexts=context, messages=tuple(messages or ()), gold=gold
        )

    def _target(self, row: Row) -> str:
        return str(self.docs.target(row))

    def _choices(self, row: Row, before: list[Turn]) -> Plan:
        choices = self.docs.choices(row)
        if not choices or not all(choices):
            message = f"a row of multiple_choice has choices, none empty, not {choices}"
            raise ConfigError(message)
        text, target = self.docs.text(row), self.docs.target(row)
        alone = tuple(f"{self.target_delimiter}{one}" for one in choices)
        if isinstance(text, int) and not isinstance(text, bool):
            # The contexts differ, and what follows is the same.
            return Plan(
                row=row,
                contexts=tuple(
                    as_text([*before, *self.contexts.choice(row, one)])
                    for one in choices
                ),
                continuations=(f"{self.target_delimiter}{target}",) * len(choices),
                alone=alone,
                choices=tuple(choices),
                gold=(_position(choices, text),),
            )
        context = as_text([*before, *self.contexts.question(row)])
        golds = target if isinstance(target, list) else [target]
        if not golds:
            raise ConfigError("doc_to_target is an empty list, and no choice is right")
        return Plan(
            row=row,
            contexts=(context,) * len(choices),
            continuations=alone,
            alone=alone,
            choices=tuple(choices),
            gold=tuple(_position(choices, one) for one in golds),
        )


def _position(choices: Sequence[str], gold: Any) -> int:
    if isinstance(gold, bool) or (isinstance(gold, float) and gold.is_integer()):
        gold = int(gold)
    if isinstance(gold, int):
        choice_at(choices, gold)
        return gold
    if gold in choices:
        return choices.index(gold)
    message = f"doc_to_target is {gold!r:.60}, which is none of the choices: {choices}"
    raise ConfigError(message)


def cases_of(
    rows: Dataset, planner: Planner, *, shown: str, tags: tuple[str, ...], keys: Keys
) -> tuple[tuple[Case, ...], dict[str, Plan]]:
    """Return the cases of a split and the plan of each, by its id.

    Args:
        rows: The split.
        planner: Makes the plans.
        shown: The split's file, for people.
        tags: Marks of every case.
        keys: What the task says, for the places in error texts.

    Raises:
        UserError: There are no rows, or a template can't be filled from one.
    """
    if not len(rows):
        raise keys.top.fail("the evaluated split holds no rows")
    ids = _ids(rows)
    cases: list[Case] = []
    plans: dict[str, Plan] = {}
    for name, row, line in zip(ids, rows, rows.lines, strict=True):
        source = Source(file=shown, line=line) if line else None
        try:
            plan = planner.plan(row)
        except UserError as exc:
            message = f"{source or f'row {name}'}: {exc}"
            raise keys.top.fail(message) from exc
        plan = replace(plan, number=len(cases), target=planner.docs.target(row))
        plans[name] = plan
        cases.append(
            Case(
                id=name,
                is_numbered=name not in {str(row.get("id"))},
                input=plan.contexts[0] or "".join(plan.continuations[:1]),
                expected=plan.gold if isinstance(plan.gold, str | list) else None,
                fields=row,
                tags=tags,
                source=source,
            )
        )
    return tuple(cases), plans


def _ids(rows: Dataset) -> list[str]:
    """Return the ids of rows: their column `id` where it tells them apart, else numbers."""
    found = [row.get("id") for row in rows]
    if all(isinstance(one, str | int) and str(one).strip() for one in found):
        texts = list(map(str, found))
        if len(set(texts)) == len(texts):
            return texts
    return [str(number) for number in range(1, len(rows) + 1)]

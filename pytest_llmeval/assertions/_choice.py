"""Checks of a reply to a multiple-choice question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_llmeval.assertions._arguments import checked_threshold
from pytest_llmeval.assertions._settle import settle_score
from pytest_llmeval.assertions._text import scored
from pytest_llmeval.types import Score

__all__ = ["assert_choice"]


def assert_choice(
    response: Any,
    expected: Any,
    *,
    threshold: float = 1.0,
    choices: Sequence[Any] | None = None,
    label_base: int = 0,
    reply_base: int = 1,
    name: str | None = None,
) -> Score:
    """Fail unless the reply picks the right choice, or enough of the right ones.

    Args:
        response: A Response or a text.
        expected: A case with choices and a ``label`` or ``labels``; or a label, or a
            list of labels, and `choices`.
        threshold: Where several may be right: the least F1 of those picked.
        choices: The choices, where `expected` is no case.
        label_base: The number of the first choice where a label is a position.
        reply_base: The same for a reply that gives one.
        name: The check's name in reports.

    Raises:
        ConfigError: There are no choices, the threshold is not from 0 to 1, there is no
            such base, or the reply is none.
        EvalAssertionError: It picks another one, none, or too few.
        UnscoredError: The row has no label that could be right, or a model replied
            with nothing.
    """
    __tracebackhide__ = True
    bar = checked_threshold(threshold, "choice")
    score = scored(
        "choice",
        response,
        expected,
        choices=choices,
        label_base=label_base,
        reply_base=reply_base,
    )
    operator = "==" if score.binary else ">="
    return settle_score(score, operator, 1 if score.binary else bar, name=name)

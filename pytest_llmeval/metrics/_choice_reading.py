"""Which of the choices of a question a reply picks."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics._base import checked_base
from pytest_llmeval.metrics._choice_labels import LETTERS, cleaned
from pytest_llmeval.metrics._choice_rules import pick_of
from pytest_llmeval.metrics._choice_texts import ChoiceTexts
from pytest_llmeval.metrics._choice_whole import Pick, Question, Status
from pytest_llmeval.types import as_text

__all__ = ["ChoiceReading", "read_choices"]

_JSON: Final = re.compile(r"\s*(?:```\w*\s*)?([\[{].*[\]}])\s*(?:```)?\s*", re.DOTALL)
#: Longest JSON that is parsed, in characters: an answer is short.
_LONGEST_JSON: Final = 20_000
_KEYS: Final = (
    *("answer", "answers", "final_answer", "final answer", "choice", "choices"),
    *("label", "labels", "option", "options", "selected", "selection", "letter"),
    *("letters", "correct", "correct_answer", "correct_answers", "response", "result"),
)
_REFUSAL: Final = re.compile(
    r"\bas an? (?:ai|(?:large )?language model)\b|\bI(?:'m| am) (?:sorry|unable|not able|"
    r"afraid I)\b|\bI (?:cannot|can't|can not|won't|will not|am not able to|must decline|"
    r"refuse|decline)\b(?! be\b)|无法回答|抱歉|お答えできません",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceReading:
    """What a reply to a multiple-choice question picks."""

    labels: tuple[str, ...]
    """Letters, sorted; empty unless the status is ok."""
    status: Status
    """``ok``; ``none``: no choice found; ``ambiguous``: several where one is asked, or an
    "or"; ``out_of_range``: a choice there isn't; ``refusal``."""
    rule: str = ""
    """Where the answer was found."""
    seen: tuple[str, ...] = ()
    """What was found where nothing could be picked."""


def read_choices(
    text: str, choices: Sequence[Any], *, multiple: bool = False, base: int = 1
) -> ChoiceReading:
    r"""Return the letters of the `choices` that a reply picks.

    Read are, in this order: a reply that is nothing but an answer (a letter, a text of
    a choice, a position, JSON), what follows the last ``answer:``, ``\boxed{`` and the
    like, what the reply begins with, a last sentence of letters, what it says is right,
    the only letters it names, the only text of a choice it says. What it denies ("not
    A", "A is wrong") is no pick, nor are the article A and the pronoun I.

    Args:
        text: The reply.
        choices: Texts of the choices, or any values; 1 to 26 of them.
        multiple: Whether several may be picked. An explicitly empty set (``[]``, "None
            of them") is ``ok`` without labels then.
        base: The number of the first choice, where a reply gives positions: 1 or 0. A
            list that holds a 0 counts from 0 in any case.

    Raises:
        ConfigError: There are no choices or too many, or there is no such base.
    """
    if isinstance(choices, str) or not 1 <= len(choices) <= len(LETTERS):
        message = (
            f"choices are a list of 1 to {len(LETTERS)} texts, not "
            f"{as_text(choices)[:80] if isinstance(choices, str) else len(choices)!r}"
        )
        raise ConfigError(message)
    checked_base("base", base)
    question = Question(
        count=len(choices),
        texts=ChoiceTexts([as_text(choice) for choice in choices]),
        multiple=multiple,
        base=base,
    )
    pick = _of_json(text, question)
    if pick is None:
        plain = cleaned(text)
        pick = pick_of(plain, question) or _nothing(plain)
    return ChoiceReading(
        labels=pick.letters if pick.status == "ok" else (),
        status=pick.status,
        rule=pick.rule,
        seen=pick.seen,
    )


def _nothing(text: str) -> Pick:
    is_refusal = _REFUSAL.search(text[:2000]) is not None
    return Pick(status="refusal" if is_refusal else "none")


def _of_json(text: str, question: Question) -> Pick | None:
    match = _JSON.fullmatch(text) if len(text) <= _LONGEST_JSON else None
    if match is None:
        return None
    with suppress(ValueError, RecursionError):
        return _of_value(json.loads(match[1]), question)
    return None


def _of_value(value: Any, question: Question) -> Pick | None:
    if isinstance(value, dict):
        by_key = {str(key).lower(): item for key, item in value.items()}
        keys: list[str] = [key for key in _KEYS if key in by_key]
        if not keys and len(by_key) == 1:
            keys = list(by_key)
        if not keys:
            return None
        value = by_key[keys[0]]
    return question.value(value, "the JSON value")

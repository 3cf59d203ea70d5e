"""Which choices of a question are right, by its row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.metrics._base import checked_base
from pytest_llmeval.metrics._choice_labels import LETTERS
from pytest_llmeval.metrics._explain import inline
from pytest_llmeval.metrics._texts import named
from pytest_llmeval.types import Case, as_text

__all__ = ["Gold", "gold_of"]

_NOT_GIVEN: Final = (
    "choices of the question are needed: give a case that has choices and a label, or "
    "choices=[...]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """The choices of a question and which of them are right."""

    choices: tuple[str, ...]
    letters: tuple[str, ...]
    """Sorted, each once."""
    multiple: bool
    """Whether any number of them may be right."""


def gold_of(expected: Any, *, choices: Sequence[Any] | None, label_base: int) -> Gold:
    """Return the right choices of a row.

    Args:
        expected: A case with choices and ``label`` (or ``expected``) or ``labels``; else
            a label, or a list of labels.
        choices: The choices where `expected` is no case.
        label_base: The number of the first choice where labels are positions.

    Raises:
        ConfigError: There are no choices, or there is no such base.
        UnscoredError: The row has no label that could be right.
    """
    checked_base("label_base", label_base)
    case = expected if isinstance(expected, Case) else None
    if not isinstance(choices, Sequence | None):
        raise ConfigError(f"choices are a list, not {choices!r:.60}")
    given = choices if case is None or choices is not None else case.choices
    if given is None or isinstance(given, str):
        if case is None:
            raise ConfigError(_NOT_GIVEN)
        raise _broken(case, f" has no choices; its columns: {_columns(case)}")
    value, multiple = _labels(expected, case)
    texts = tuple(as_text(choice) for choice in given)
    if not 1 <= len(texts) <= len(LETTERS):
        raise _broken(
            case, f" has {len(texts)} choices; 1 to {len(LETTERS)} can be read"
        )
    if any(not text.strip() for text in texts):
        raise _broken(case, " has an empty choice")
    if not multiple:
        value = [value]
    indices = _indices(value, texts, label_base, case)
    letters = tuple(LETTERS[index] for index in sorted(set(indices)))
    return Gold(choices=texts, letters=letters, multiple=multiple)


def _labels(expected: Any, case: Case | None) -> tuple[Any, bool]:
    """Return the label or labels of a row, and whether they are several."""
    if case is None:
        is_list = isinstance(expected, list | tuple | set | frozenset)
        return (list(expected) if is_list else expected), is_list
    if case.labels is not None:
        if case.label is not None:
            raise _broken(case, " has both label and labels: which of them is meant?")
        return list(case.labels), True
    value = case.label if case.label is not None else case.expected
    if isinstance(value, list | tuple):
        raise _broken(
            case, f" has a list as its label, {_short(value)}: several belong in labels"
        )
    return value, False


def _indices(
    values: Sequence[Any], choices: Sequence[str], base: int, case: Case | None
) -> list[int]:
    found = [_index(value, choices, base, case) for value in values]
    kinds = {kind for _, kind in found}
    if len(kinds) > 1:
        shown = _short(list(values))
        message = f" mixes letters, positions or texts in its labels: {shown}"
        raise _broken(case, message)
    return [index for index, _ in found]


def _index(
    value: Any, choices: Sequence[str], base: int, case: Case | None
) -> tuple[int, str]:
    """Return a label's index from 0 and what it is written as."""
    if value is None or value != value:
        hint = "" if case is None else f"; its columns: {_columns(case)}"
        raise _broken(case, f" has no label{hint}")
    text = as_text(value).strip()
    if isinstance(value, str | bool):
        by_text = [i for i, choice in enumerate(choices) if choice.strip() == text]
        place = LETTERS.find(text.strip("().").upper()) if text else -1
        is_letter = len(text.strip("().")) == 1 and 0 <= place < len(choices)
        if len(by_text) == 1 and not (is_letter and place != by_text[0]):
            return by_text[0], "text"
        if by_text:
            message = f": label {_short(value)} is the text of a choice and a letter, or two texts"
            raise _broken(case, message)
        if is_letter:
            return place, "letter"
    number = _whole_number(value)
    if number is not None and not isinstance(value, bool):
        return _position(value, number, choices, base, case), "position"
    last = LETTERS[len(choices) - 1]
    message = (
        f": label {_short(value)} is no letter from A to {last}, no text of a choice and "
        f"no position"
    )
    raise _broken(case, message)


def _position(
    value: Any, number: int, choices: Sequence[str], base: int, case: Case | None
) -> int:
    if 0 <= number - base < len(choices):
        return number - base
    last = len(choices) - 1 + base
    other = 1 - base
    hint = ""
    if 0 <= number - other < len(choices):
        hint = f"; if the data set counts from {other}, say label_base={other}"
    message = (
        f": label {_short(value)} is out of range: {len(choices)} choices counted from "
        f"{base} are {base} to {last}{hint}"
    )
    raise _broken(case, message)


def _whole_number(value: Any) -> int | None:
    """Return a position; a table with an empty cell has made floats of them."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number == int(number) else None


def _broken(case: Case | None, what: str) -> UnscoredError:
    subject = named(case) if case else "expected"
    return UnscoredError(f"{subject}{what}", cause="data")


def _columns(case: Case) -> str:
    return ", ".join(map(str, case.fields)) or "none"


def _short(value: Any) -> str:
    return inline(repr(value), 60)

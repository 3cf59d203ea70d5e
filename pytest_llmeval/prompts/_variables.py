"""What a template can name: the row's columns and the case's fields."""

from __future__ import annotations

from typing import Any, Final

from pytest_llmeval.types import Case, as_text

__all__ = ["variables"]

#: Fields of a case that stand before a column of the same name: they were mapped.
_FIELDS: Final = (
    "id",
    "input",
    "expected",
    "context",
    "choices",
    "label",
    "labels",
    "better",
    "rejected",
)


def variables(case: Case) -> dict[str, Any]:
    """Return the variables of a template for one case.

    All columns by name; the fields of the case that hold something; `question` (the
    input), `choices_text` and `case`, unless a column is called so.

    Args:
        case: The case.
    """
    found: dict[str, Any] = {"case": case}
    if case.input is not None:
        found["question"] = case.input
    if case.choices is not None:
        found["choices_text"] = _choices_text(case.choices)
    found.update((str(name), value) for name, value in case.fields.items())
    for name in _FIELDS:
        value = getattr(case, name)
        if value is not None:
            found[name] = list(value) if isinstance(value, tuple) else value
    return found


def _choices_text(choices: tuple[Any, ...]) -> str:
    return "\n".join(
        f"{_letter(index)}. {as_text(choice)}" for index, choice in enumerate(choices)
    )


def _letter(index: int) -> str:
    """Return A to Z, then the number counted from 1."""
    return chr(ord("A") + index) if index < 26 else str(index + 1)

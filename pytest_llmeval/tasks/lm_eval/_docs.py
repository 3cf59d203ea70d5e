"""What a row becomes: its text, its target, its choices."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_llmeval.config import plain
from pytest_llmeval.errors import ConfigError, TemplateError, UserError
from pytest_llmeval.tasks._task import FunctionName
from pytest_llmeval.tasks.lm_eval._functions import Functions
from pytest_llmeval.tasks.lm_eval._jinja import JinjaText
from pytest_llmeval.types import whole_number

__all__ = ["Docs", "Row", "choice_at", "reader"]

Row = Mapping[str, Any]
_Read = Callable[[Row], Any]


def reader(value: Any, functions: Functions) -> _Read | None:
    """Return what reads a key's value from a row, None for no value.

    Args:
        value: A column's name, a template, a constant, or a function's name.
        functions: Imports it.

    Raises:
        UserError: The template or the function can't be used.
    """
    if value is None:
        return None
    if isinstance(value, FunctionName):
        return _called(functions.resolved(value), repr(value))
    if not isinstance(value, str):
        constant = plain(value)
        return lambda row: constant
    template = JinjaText(value)

    def read(row: Row) -> Any:
        return row[value] if value in row else template.rendered(row)

    return read


def _called(function: Callable[..., Any], name: str) -> _Read:
    def read(row: Row) -> Any:
        try:
            return function(row)
        except UserError:
            raise
        except Exception as exc:
            # Whatever a user's function raises, it could not be made of the row.
            message = f"{name} raised {type(exc).__name__}: {exc}"
            raise TemplateError(message) from exc

    return read


class Docs:
    """Reads rows by the doc_to_* keys.

    Args:
        given: The keys: doc_to_text, doc_to_target, doc_to_choice, gen_prefix.
        functions: Imports those that are functions.
        reads_lists: Whether a text that looks like a list of Python's is one, wherever it
            comes from, as lm-evaluation-harness has it.

    Raises:
        UserError: One can't be used.
    """

    def __init__(
        self,
        given: Mapping[str, Any],
        functions: Functions,
        *,
        reads_lists: bool = False,
    ) -> None:
        self._given = given
        self._reads_lists = reads_lists
        self._text = reader(given.get("doc_to_text"), functions)
        target = given.get("doc_to_target")
        self._target = reader(target, functions)
        self._target_template = JinjaText(target) if isinstance(target, str) else None
        choice = given.get("doc_to_choice")
        if isinstance(choice, Mapping):
            choice = list(choice.values())
        self._choice = reader(choice, functions)
        self._prefix = reader(given.get("gen_prefix"), functions)

    def over(self, given: Mapping[str, Any], functions: Functions) -> Docs:
        """Return what reads rows by other keys, this where they are the same.

        Raises:
            UserError: One can't be used.
        """
        if given == self._given:
            return self
        return Docs(given, functions, reads_lists=self._reads_lists)

    @property
    def has_choices(self) -> bool:
        """Whether rows have choices."""
        return self._choice is not None

    def text(self, row: Row) -> Any:
        """Return a row's text; the index of a choice where it is one."""
        value = "" if self._text is None else self._text(row)
        is_text = isinstance(value, str) and self._is_template("text", row)
        if not (is_text and self.has_choices):
            return value
        number = whole_number(value)
        return value if number is None else number

    def target(self, row: Row) -> Any:
        """Return what is expected: a text, a list of texts, or the index of a choice."""
        value = "" if self._target is None else self._target(row)
        if not isinstance(value, str) or not self._is_template("target", row):
            return value
        if self.has_choices and (number := whole_number(value)) is not None:
            return number
        if value.startswith("[") and value.endswith("]"):
            return value if self._is_text_of_row(row) else _literal(value)
        return value

    def _is_text_of_row(self, row: Row) -> bool:
        """Return whether a target in brackets is a text that the row holds as it is."""
        if self._reads_lists or self._target_template is None:
            return False
        return isinstance(self._target_template.value(row), str)

    def choices(self, row: Row) -> list[str]:
        """Return a row's choices, none for a task without.

        Raises:
            ConfigError: They are no list of texts.
        """
        if self._choice is None:
            return []
        value = self._choice(row)
        if isinstance(value, str):
            value = _literal(value)
        if not isinstance(value, list | tuple) or not value:
            message = (
                f"doc_to_choice gives {value!r:.80}, and choices are a list of texts"
            )
            raise ConfigError(message)
        return [one if isinstance(one, str) else str(one) for one in value]

    def prefix(self, row: Row) -> str:
        """Return how the answer begins, empty without gen_prefix."""
        return "" if self._prefix is None else str(self._prefix(row))

    def _is_template(self, name: str, row: Row) -> bool:
        """Return whether a value was rendered, and is not a column or a function's."""
        given = self._given.get(f"doc_to_{name}")
        return isinstance(given, str) and given not in row


def choice_at(choices: Sequence[str], index: int) -> str:
    """Return the choice that a text or a target names by its place.

    Raises:
        ConfigError: There is none.
    """
    if not 0 <= index < len(choices):
        message = f"doc_to_target is {index}, and there are {len(choices)} choices"
        raise ConfigError(message)
    return choices[index]


def _literal(text: str) -> Any:
    """Return the Python list that a template printed, or the text as it is."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return text

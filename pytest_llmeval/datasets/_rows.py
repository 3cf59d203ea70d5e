"""A row becomes a case: its fields found, checked, and told with file and line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pytest_llmeval.datasets._columns import Columns, Layout
from pytest_llmeval.datasets._json import decoder
from pytest_llmeval.datasets._lookup import look_up
from pytest_llmeval.errors import DatasetError

__all__ = ["Rows", "written_id"]


#: Words that mean true or false to YAML's users: taking one for a reason would turn a
#: row's test off because it says ``skip: no``.
_NO_REASONS: Final = frozenset(
    {"yes", "no", "on", "off", "y", "n", "0", "1", "none", "null"}
)


class Rows:
    """Finds the fields of cases in rows; the columns of one make-up are worked out once.

    Args:
        columns: How the user said columns are called.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._layouts: dict[tuple[str, ...], Layout] = {}

    def values(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of the case that a row fills.

        Args:
            row: The columns.

        Raises:
            DatasetError: A field is missing, doubled or of another type. The text
                lacks the place of the row.
        """
        names = tuple(row)
        layout = self._layouts.get(names)
        if layout is None:
            layout = self._layouts[names] = self._columns.layout(names)
        values = {name: row[column] for name, column in layout.plain}
        for name, path in layout.paths:
            values[name] = look_up(row, path, name=name)
        for name, column, read in layout.converted:
            values[name] = read(row[column], column)
        for name in layout.checked:
            values[name] = _CHECKS[name](values[name], name)
        return values


def written_id(value: Any, name: str = "id") -> str:
    """Return an id as text, a number as it was written.

    Raises:
        DatasetError: It is empty, or neither text nor number.
    """
    if type(value) is str and value and not value.isspace():
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if value is None or isinstance(value, str):
        message = f"the {name} is empty: give each row a text of its own, or no row one"
        raise DatasetError(message)
    message = f"the {name} is {_short(value)}, and a text or a number is expected"
    raise DatasetError(message)


def _sequence(value: Any, name: str) -> tuple[Any, ...] | None:
    """Return a list, or the list a text holds as JSON (a cell of a CSV file)."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = decoder().decode(value)
        except (ValueError, RecursionError) as exc:
            message = f"{name} is {_short(value)}, and that is no JSON list: {exc}"
            raise DatasetError(message) from exc
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        message = (
            f"{name} is {_short(value)}, and a list is expected (in CSV as JSON: "
            f'["a", "b"])'
        )
        raise DatasetError(message)
    return tuple(value)


def _label(value: Any, name: str) -> Any:
    if isinstance(value, list | dict | bool):
        hint = "; several labels stand in labels" if isinstance(value, list) else ""
        message = (
            f"{name} is {_short(value)}, and a letter, a number or one of the "
            f"choices is expected{hint}"
        )
        raise DatasetError(message)
    return value


def _tags(value: Any, name: str) -> tuple[str, ...]:
    if value is None:
        return ()
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple):
        message = (
            f"{name} is {_short(value)}, and a list of texts or a text with commas is "
            f"expected"
        )
        raise DatasetError(message)
    return tuple(dict.fromkeys(tag for p in parts if (tag := _tag(p, name))))


def _tag(part: Any, name: str) -> str:
    if type(part) is str:
        return part.strip()
    if isinstance(part, bool) or not isinstance(part, int | float):
        message = f"{name} holds {_short(part)}, and a tag is a text"
        raise DatasetError(message)
    return str(part)


def _reason(value: Any, name: str) -> str | None:
    flag = _flag(value)
    if isinstance(flag, bool):
        return f"the row says {name}" if flag else None
    if not isinstance(value, str) or value.strip().lower() in _NO_REASONS:
        message = f"{name} is {_short(value)}, and a reason, true or false is expected"
        raise DatasetError(message)
    return value.strip()


def _must_pass(value: Any, name: str) -> bool:
    flag = _flag(value)
    if not isinstance(flag, bool):
        message = f"{name} is {_short(value)}, and true or false is expected"
        raise DatasetError(message)
    return flag


def _flag(value: Any) -> Any:
    """Return true or false, also as a cell's text; nothing is false, others stay."""
    if value is None:
        return False
    if isinstance(value, str):
        words = {"": False, "false": False, "true": True}
        return words.get(value.strip().lower(), value)
    return value


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


#: What a field's value must be; the others hold anything.
_CHECKS: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "id": written_id,
    "choices": _sequence,
    "label": _label,
    "labels": _sequence,
    "tags": _tags,
    "skip": _reason,
    "xfail": _reason,
    "must_pass": _must_pass,
}

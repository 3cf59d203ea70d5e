"""A dotted path into a row: ``answers.0.text``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_llmeval.errors import DatasetError, did_you_mean

__all__ = ["look_up"]


def look_up(row: Mapping[str, Any], path: str, *, name: str) -> Any:
    """Return what stands at a dotted path, keys of objects and indexes of lists.

    Args:
        row: The row.
        path: The path; a column called just so wins over its parts.
        name: The field of ours it is for.

    Raises:
        DatasetError: Nothing stands there. The text lacks the place of the row.
    """
    if path in row:
        return row[path]
    value: Any = row
    done: list[str] = []
    for part in path.split("."):
        found = _step(value, part)
        if found is None:
            raise DatasetError(_nothing_there(value, part, path, done, name))
        (value,) = found
        done.append(part)
    return value


def _step(value: Any, part: str) -> tuple[Any] | None:
    """Return the value below `part` in a tuple, None when there is none."""
    if isinstance(value, Mapping):
        return (value[part],) if part in value else None
    is_index = part.isascii() and part.isdigit() and len(part) < 10
    if isinstance(value, list | tuple) and is_index and int(part) < len(value):
        return (value[int(part)],)
    return None


def _nothing_there(value: Any, part: str, path: str, done: list[str], name: str) -> str:
    where = f"{name!r} is mapped to {path!r}, and "
    if not done:
        names = list(map(str, value))
        return (
            f"{where}there is no column {part!r}{did_you_mean(part, names)}; "
            f"columns: {_listed(names)}"
        )
    inner = ".".join(done)
    if isinstance(value, Mapping):
        names = list(map(str, value))
        return (
            f"{where}{inner!r} has no {part!r}{did_you_mean(part, names)}; "
            f"it has: {_listed(names)}"
        )
    if isinstance(value, list | tuple):
        return (
            f"{where}{inner!r} is a list of {len(value)}, so {part!r} must be an "
            f"index below that, counted from 0"
        )
    shown = "null" if value is None else type(value).__name__
    return f"{where}{inner!r} is {shown}, with nothing below it"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"

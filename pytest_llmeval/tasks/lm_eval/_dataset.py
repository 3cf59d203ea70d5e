"""Rows as an object that task files' own code takes for a ``datasets.Dataset``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NoReturn

__all__ = ["Dataset", "stand_in"]


class Dataset:
    """Rows, and the line each came from.

    Args:
        rows: One mapping a row.
        lines: Where each stands in its file; None for a row made by code.
    """

    def __init__(
        self, rows: Iterable[dict[str, Any]], lines: Iterable[int | None]
    ) -> None:
        self._rows = list(rows)
        self.lines = list(lines)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self._rows[0]) if self._rows else []

    @property
    def features(self) -> dict[str, Any]:
        """The columns, without their types."""
        return dict.fromkeys(self.column_names)

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    @classmethod
    def from_list(cls, rows: Iterable[Mapping[str, Any]], **_: Any) -> Dataset:
        """Return a dataset of these rows."""
        made = [dict(row) for row in rows]
        return cls(made, [None] * len(made))

    @classmethod
    def from_dict(cls, columns: Mapping[str, Sequence[Any]], **_: Any) -> Dataset:
        """Return a dataset of these columns."""
        return cls.from_list(_rows_of(columns))

    def map(
        self,
        function: Callable[..., Any],
        *,
        with_indices: bool = False,
        batched: bool = False,
        remove_columns: str | Sequence[str] | None = None,
        **_: Any,
    ) -> Dataset:
        """Return each row with what `function` returns for it over it.

        Args:
            function: Gets a row; its number too, and all columns at once, where that is
                asked for.
            with_indices: Whether it gets the number.
            batched: Whether it gets, and returns, columns; it may return more rows.
            remove_columns: Left out of what the rows were.
        """
        named = remove_columns or ()
        gone = {named} if isinstance(named, str) else set(named)
        if batched:
            kept = {n: self[n] for n in self.column_names if n not in gone}
            columns = {n: self[n] for n in self.column_names}
            indices = [list(range(len(self)))] if with_indices else []
            made = {**kept, **(function(columns, *indices) or {})}
            length = len(next(iter(made.values()), []))
            fits = length == len(self)
            return Dataset(_rows_of(made), self.lines if fits else [None] * length)
        rows = []
        for index, row in enumerate(self._rows):
            found = function(dict(row), index) if with_indices else function(dict(row))
            old = {name: value for name, value in row.items() if name not in gone}
            rows.append({**old, **_stored(found or {})})
        return Dataset(rows, self.lines)

    def filter(
        self, function: Callable[..., Any], *, with_indices: bool = False, **_: Any
    ) -> Dataset:
        """Return the rows for which `function` says so."""
        kept = [
            index
            for index, row in enumerate(self._rows)
            if (function(row, index) if with_indices else function(row))
        ]
        return self.select(kept)

    def select(self, indices: Iterable[int], **_: Any) -> Dataset:
        """Return the rows at these positions."""
        chosen = list(indices)
        return Dataset((self._rows[i] for i in chosen), (self.lines[i] for i in chosen))

    def select_columns(self, names: str | Sequence[str]) -> Dataset:
        """Return the rows with these columns alone."""
        kept = [names] if isinstance(names, str) else names
        return Dataset(({n: row[n] for n in kept} for row in self._rows), self.lines)

    def remove_columns(self, names: str | Sequence[str]) -> Dataset:
        """Return the rows without these columns."""
        gone = {names} if isinstance(names, str) else set(names)
        return self.select_columns([n for n in self.column_names if n not in gone])

    def rename_column(self, old: str, new: str) -> Dataset:
        """Return the rows with a column called otherwise."""
        return self.rename_columns({old: new})

    def rename_columns(self, names: dict[str, str]) -> Dataset:
        """Return the rows with columns called otherwise."""
        rows = ({names.get(n, n): v for n, v in row.items()} for row in self._rows)
        return Dataset(rows, self.lines)

    def add_column(self, name: str, column: Sequence[Any]) -> Dataset:
        """Return the rows with one more column."""
        rows = (
            {**row, name: value} for row, value in zip(self._rows, column, strict=True)
        )
        return Dataset(rows, self.lines)

    def to_list(self) -> list[dict[str, Any]]:
        """Return the rows."""
        return [dict(row) for row in self._rows]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def __getitem__(self, key: int | str | slice) -> Any:
        if isinstance(key, str):
            return [row[key] for row in self._rows]
        if isinstance(key, slice):
            return {n: [r[n] for r in self._rows[key]] for n in self.column_names}
        return self._rows[key]


def _rows_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    names = list(columns)
    cells = zip(*columns.values(), strict=True)
    return [dict(zip(names, row, strict=True)) for row in cells]


def _stored(value: Any) -> Any:
    """Return a value as a dataset gives it back: it knows lists, and no tuples."""
    if isinstance(value, Mapping):
        return {name: _stored(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_stored(one) for one in value]
    return value


def stand_in() -> ModuleType:
    """Return what code of tasks can import as ``datasets`` where that is not installed.

    Most of it imports the package to name the type of what it is given.
    """
    module = ModuleType("datasets")
    vars(module).update(Dataset=Dataset, load_dataset=_refuse)
    return module


def _refuse(*_: Any, **__: Any) -> NoReturn:
    message = "nothing is fetched from a hub: save the rows to a file"
    raise RuntimeError(message)

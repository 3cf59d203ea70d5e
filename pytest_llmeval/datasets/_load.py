"""Cases from a file, or from what a marker takes for a dataset."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any

from pytest_llmeval.datasets._columns import columns_of
from pytest_llmeval.datasets._find import DataFile, find_files
from pytest_llmeval.datasets._ids import check_ids
from pytest_llmeval.datasets._read import read_rows
from pytest_llmeval.datasets._rows import Rows
from pytest_llmeval.errors import DatasetError
from pytest_llmeval.types import Case, Source

__all__ = ["cases_from", "load_cases"]

_KINDS = (
    "a path or glob, a list of mappings, texts or Cases, or a callable that returns one"
)


def load_cases(
    path: str | PurePath,
    *,
    columns: str | Mapping[str, str] | None = None,
    root: Path | None = None,
    base: Path | None = None,
    first: Mapping[str, tuple[str, ...]] | None = None,
) -> list[Case]:
    """Return the cases of a file, or of all files a glob matches, in order.

    The suffix says the format: .jsonl, .ndjson, .json, .csv, .tsv, .yaml, .yml.

    Args:
        path: The file or glob.
        columns: Where our fields stand, ``{"input": "data.question"}``, or the name of
            a preset (teff, hotpotqa, gsm8k, squad, drop, dataflow).
        root: A directory the files must lie in; sources are named relative to it.
        base: Where a relative path begins, by default the current directory.
        first: Columns that a field of ours is read from first, where no preset is named.

    Raises:
        DatasetError: A file or row can't be used; the text has file and line.
    """
    rows = Rows(columns_of(columns, first))
    files = find_files(path, root=root, base=base)
    with _without_collector():
        cases = [case for file in files for case in _of_file(file, rows)]
    check_ids(cases)
    return cases


def cases_from(
    dataset: Any,
    *,
    columns: str | Mapping[str, str] | None = None,
    root: Path | None = None,
    base: Path | None = None,
    first: Mapping[str, tuple[str, ...]] | None = None,
) -> list[Case]:
    """Return the cases of what a marker names as its dataset.

    Args:
        dataset: A path or glob, a list of mappings, texts or Cases, or a callable that
            returns one of these (called once).
        columns: As in `load_cases`.
        root: As in `load_cases`.
        base: As in `load_cases`.
        first: As in `load_cases`.

    Raises:
        DatasetError: It is none of these, or what it names can't be used.
    """
    if callable(dataset):
        dataset = _called(dataset)
    if isinstance(dataset, str | PurePath):
        return load_cases(dataset, columns=columns, root=root, base=base, first=first)
    if not isinstance(dataset, list | tuple):
        message = f"a dataset is {_KINDS}, not {_short(dataset)}{_frame_hint(dataset)}"
        raise DatasetError(message)
    cases = list(_of_list(dataset, Rows(columns_of(columns, first))))
    check_ids(cases)
    return cases


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the garbage collector out: reading makes objects only, and it doubles it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _of_file(file: DataFile, rows: Rows) -> list[Case]:
    cases: list[Case] = []
    has_ids: bool | None = None
    for line, row in read_rows(file.path, file.shown):
        source = Source(file=file.shown, line=line)
        try:
            values = rows.values(row)
            if ("id" in values) is not has_ids:
                has_ids = _has_ids(values, has_ids)
        except DatasetError as exc:
            message = f"{source}: {exc}"
            raise DatasetError(message) from exc
        if not has_ids:
            values["id"] = f"{file.prefix}{len(cases) + 1}"
            values["is_numbered"] = True
        cases.append(Case(fields=row, source=source, **values))
    return cases


def _has_ids(values: Mapping[str, Any], before: bool | None) -> bool:
    """Return whether rows name their ids: all do, or none does."""
    has_id = "id" in values
    if before is not None and before != has_id:
        has, had = ("an", "have none") if has_id else ("no", "have one")
        message = f"the row has {has} id, and the rows before it {had}"
        raise DatasetError(message)
    return has_id


def _of_list(dataset: list[Any] | tuple[Any, ...], rows: Rows) -> Iterator[Case]:
    has_ids: bool | None = None
    for number, item in enumerate(dataset, start=1):
        place = f"item {number} of the list, counted from 1"
        if isinstance(item, Case):
            yield item
        elif isinstance(item, str):
            fields = {"input": item}
            yield Case(id=str(number), is_numbered=True, input=item, fields=fields)
        elif isinstance(item, Mapping):
            try:
                row = _row(item)
                values = rows.values(row)
                has_ids = _has_ids(values, has_ids)
            except DatasetError as exc:
                message = f"{place}: {exc}"
                raise DatasetError(message) from exc
            if "id" not in values:
                values = {**values, "id": str(number), "is_numbered": True}
            yield Case(**values, fields=row)
        else:
            message = f"{place}, is {_short(item)}, not a mapping, a text or a Case"
            raise DatasetError(message)


def _row(item: Mapping[Any, Any]) -> dict[str, Any]:
    for name in item:
        if not isinstance(name, str):
            raise DatasetError(f"the column {name!r} is not named by a text")
    return dict(item)


def _called(make: Callable[[], Any]) -> Any:
    """Return what a callable gives, a generator's items as a list."""
    name = getattr(make, "__qualname__", type(make).__name__)
    try:
        made = make()
        made = list(made) if isinstance(made, Iterator) else made
    except Exception as exc:
        # Whatever a user's function raises, the dataset is what could not be had.
        message = f"the dataset's function {name} raised {type(exc).__name__}: {exc}"
        raise DatasetError(message) from exc
    if not isinstance(made, str | PurePath | list | tuple):
        if hasattr(made, "close") and hasattr(made, "send"):
            made.close()
            message = f"the dataset's function {name} is async: give a plain function"
            raise DatasetError(message)
        message = (
            f"the dataset's function {name} returned {_short(made)}, and a dataset is "
            f"a path, or a list of mappings, texts or Cases{_frame_hint(made)}"
        )
        raise DatasetError(message)
    return made


def _frame_hint(value: object) -> str:
    has_rows = hasattr(value, "to_dict") or hasattr(value, "to_list")
    return "; of a data frame give .to_dict('records')" if has_rows else ""


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."

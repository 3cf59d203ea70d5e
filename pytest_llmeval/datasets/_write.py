"""Cases to a file that `load_cases` reads back."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Final

from pytest_llmeval.datasets._columns import ALIASES
from pytest_llmeval.datasets._ids import check_ids
from pytest_llmeval.datasets._json import json_problem, json_text
from pytest_llmeval.datasets._read import suffix_of
from pytest_llmeval.errors import DatasetError
from pytest_llmeval.types import Case, as_text

__all__ = ["write_cases"]

Row = dict[str, Any]

_SURROGATE = re.compile(r"[\ud800-\udfff]")
#: What YAML can't hold as it is, or would take for a line end.
_NO_YAML = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def write_cases(cases: Iterable[Case], path: str | PurePath) -> None:
    """Write cases to a file, whole or not at all; its suffix says the format.

    A case's columns are written as they were (`Case.fields`), its id beside them where
    no column has it. A case made by hand gets a column for each field no column of it
    holds. `load_cases` with the same `columns=` reads the same cases, but for what CSV
    and TSV can't tell apart: every value comes back as text (lists and objects as their
    JSON), and an empty text as a missing one.

    Args:
        cases: The cases.
        path: The file; its folder is made if it isn't there.

    Raises:
        DatasetError: Two ids are equal, the suffix is unknown, or a value can't be
            written in this format.
    """
    target = Path(path)
    write = _WRITERS[suffix_of(target.name)]
    known = list(cases)
    check_ids(known)
    needs_ids = any(
        case.id != str(number) for number, case in enumerate(known, start=1)
    ) or any("id" in case.fields for case in known)
    rows = [_row(case, needs_ids) for case in known]
    _replace(target, write(rows, target.name))


def _row(case: Case, needs_ids: bool) -> Row:
    row = dict(case.fields)
    if case.source is None:
        row = {**_uncovered(case), **row}
    if needs_ids and "id" not in row:
        row = {"id": case.id, **row}
    return row


def _uncovered(case: Case) -> Row:
    """Return the fields of a hand-made case that none of its columns would fill."""
    found: Row = {}
    for name, aliases in ALIASES.items():
        value = getattr(case, name)
        is_set = value is not None and value is not False and value != ()
        if name != "id" and is_set and not any(a in case.fields for a in aliases):
            found[name] = list(value) if isinstance(value, tuple) else value
    return found


def _replace(target: Path, text: str) -> None:
    """Write through a second file: a reader finds the old text or the new one."""
    try:
        real = target.resolve()
        real.parent.mkdir(parents=True, exist_ok=True)
        beside = real.with_name(f".llmeval-{uuid.uuid4().hex}.tmp")
        try:
            beside.write_bytes(text.encode("utf-8"))
            os.replace(beside, real)
        finally:
            beside.unlink(missing_ok=True)
    except (OSError, ValueError) as exc:
        message = f"{target.as_posix()!r} can't be written: {exc}"
        raise DatasetError(message) from exc


def _json_of(value: Any, place: str) -> str:
    try:
        return json_text(value)
    except (ValueError, RecursionError) as exc:
        raise DatasetError(f"{place}: {json_problem(exc)}") from exc


def _escaped(text: str) -> str:
    """Return JSON that UTF-8 can hold: lone surrogates as JSON's own escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _jsonl(rows: Sequence[Row], name: str) -> str:
    return _escaped("".join(f"{_json_of(row, _place(name, row))}\n" for row in rows))


def _json(rows: Sequence[Row], name: str) -> str:
    if not rows:
        return "[]\n"
    items = ",\n".join(f"  {_json_of(row, _place(name, row))}" for row in rows)
    return _escaped(f"[\n{items}\n]\n")


def _yaml(rows: Sequence[Row], name: str) -> str:
    """Return YAML whose values are JSON, which YAML's readers all agree on."""
    lines: list[str] = []
    for row in rows:
        sign = "- "
        for column, value in row.items():
            place = _place(name, row)
            key, text = _yaml_text(column, place), _yaml_text(value, place)
            # YAML wants a long key marked as one.
            pair = f"{key}: {text}" if len(key) < 128 else f"? {key}\n  : {text}"
            lines.append(f"{sign}{pair}\n")
            sign = "  "
        if not row:
            lines.append("- {}\n")
    return "".join(lines) or "[]\n"


def _yaml_text(value: Any, place: str) -> str:
    text = _json_of(value, place)
    if _SURROGATE.search(text):
        message = f"{place}: YAML can't hold half a character (a lone surrogate)"
        raise DatasetError(message)
    return _NO_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _csv(rows: Sequence[Row], name: str) -> str:
    return _table(rows, name, ",")


def _tsv(rows: Sequence[Row], name: str) -> str:
    return _table(rows, name, "\t")


def _table(rows: Sequence[Row], name: str, delimiter: str) -> str:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    for column in columns:
        if not column or column != column.strip():
            message = f"{name}: {column!r} can't be the name of a column in this format"
            raise DatasetError(message)
    lines = [delimiter.join(map(_quoted, columns))]
    for row in rows:
        cells = [_cell(row.get(column), _place(name, row)) for column in columns]
        if not any(cells):
            message = f"{_place(name, row)}: a row without a value can't be told here"
            raise DatasetError(message)
        lines.append(delimiter.join(map(_quoted, cells)))
    return "".join(f"{line}\n" for line in lines)


def _cell(value: Any, place: str) -> str:
    is_nested = isinstance(value, Mapping | list | tuple)
    text = _json_of(value, place) if is_nested else as_text(value)
    if _SURROGATE.search(text):
        message = f"{place}: {text!r} holds half a character (a lone surrogate)"
        raise DatasetError(message)
    if "\0" in text:
        raise DatasetError(f"{place}: {text!r} holds a NUL character")
    return text


def _quoted(cell: str) -> str:
    # A byte-order mark at the start of the file would be taken for the file's own.
    if re.search(r'[",;\t\r\n]|^[\s\ufeff]|\s$', cell):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _place(name: str, row: Row) -> str:
    return f"{name}: case {row['id']!r}" if "id" in row else name


_WRITERS: Final[Mapping[str, Callable[[Sequence[Row], str], str]]] = {
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".json": _json,
    ".csv": _csv,
    ".tsv": _tsv,
    ".yaml": _yaml,
    ".yml": _yaml,
}

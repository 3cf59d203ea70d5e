"""CSV and TSV: cells are texts, an empty cell is a missing value."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pytest_llmeval.errors import DatasetError

__all__ = ["read_csv", "read_tsv"]


def read_csv(text: str, shown: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a CSV text under the names of its header.

    Args:
        text: The file's text.
        shown: Its name in error texts.

    Raises:
        DatasetError: A broken header, quote or row.
    """
    return _rows(text, shown, ",")


def read_tsv(text: str, shown: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a TSV text, quoted as in CSV."""
    return _rows(text, shown, "\t")


def _rows(
    text: str, shown: str, delimiter: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    rows = iter(_split(text, shown, delimiter))
    line, names = next(rows, (1, []))
    header = [name.strip() for name in names]
    _check_header(header, f"{shown}:{line}", delimiter)
    for line, cells in rows:
        if len(cells) != len(header):
            message = (
                f"{shown}:{line}: the row has {len(cells)} cells, and the header has "
                f"{len(header)} columns ({', '.join(header)}): put cells that hold "
                f"{'a tab' if delimiter != ',' else 'a comma'} in double quotes"
            )
            raise DatasetError(message)
        row = {name: cell or None for name, cell in zip(header, cells, strict=True)}
        if not any(cells):
            raise DatasetError(f"{shown}:{line}: every cell is empty: delete the row")
        yield line, row


def _split(text: str, shown: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """Return the rows that aren't blank, each with the line it starts in."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = []
    line = 1
    # The limit is one for the whole process: widened for this text, then put back.
    limit = csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    try:
        for cells in reader:
            if cells:
                rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as exc:
        message = (
            f"{shown}:{line}: the row that starts here is broken: {exc}; a cell with "
            f'quotes, commas or line ends is written "…", a quote in it ""'
        )
        raise DatasetError(message) from exc
    finally:
        csv.field_size_limit(limit)
    return rows


def _check_header(header: list[str], place: str, delimiter: str) -> None:
    if not header:
        raise DatasetError(f"{place}: the file is empty: its first row names columns")
    listed = ", ".join(map(repr, header))
    if "" in header:
        position = header.index("") + 1
        message = f"{place}: column {position} has no name; the header is {listed}"
        raise DatasetError(message)
    doubled = [name for name, count in Counter(header).items() if count > 1]
    if doubled:
        message = f"{place}: {doubled[0]!r} names two columns; the header is {listed}"
        raise DatasetError(message)
    others = [sign for sign in ",;\t" if sign != delimiter and sign in header[0]]
    if len(header) == 1 and others:
        message = (
            f"{place}: the header is one column, {header[0]!r}: the file is separated "
            f"by {others[0]!r}, and {delimiter!r} is expected here (.csv has commas, "
            f".tsv tabs)"
        )
        raise DatasetError(message)

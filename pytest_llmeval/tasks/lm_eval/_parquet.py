"""Rows of Parquet files (extra ``parquet``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_llmeval.errors import DatasetError
from pytest_llmeval.metrics._extras import needed

__all__ = ["read_parquet"]


def read_parquet(path: Path, shown: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a file, each after its number.

    Args:
        path: The file.
        shown: Its name in error texts.

    Raises:
        DatasetError: It isn't there, or isn't Parquet.
        MissingExtraError: The extra isn't installed.
    """
    parquet = needed("pyarrow.parquet", extra="parquet", metric=f"reading {shown}")
    if not path.is_file():
        raise DatasetError(f"{shown}: there is no such file")
    try:
        # Not read_table: it takes the names of folders for columns.
        rows = parquet.ParquetFile(path).read().to_pylist()
    except (OSError, ValueError) as exc:  # pyarrow's own errors are among these
        message = f"{shown} can't be read as Parquet: {exc}"
        raise DatasetError(message) from exc
    return enumerate(rows, start=1)

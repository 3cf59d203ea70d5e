"""The splits of a task's local data."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.config import plain
from pytest_llmeval.config.files import inside, read_text, shown_path
from pytest_llmeval.datasets import read_rows
from pytest_llmeval.errors import DatasetError, MissingExtraError, did_you_mean
from pytest_llmeval.tasks.lm_eval._dataset import Dataset
from pytest_llmeval.tasks.lm_eval._include import Keys
from pytest_llmeval.tasks.lm_eval._parquet import read_parquet

__all__ = ["Splits"]

_BUILDERS: Final = {
    "json": (".json", ".jsonl", ".ndjson"),
    "csv": (".csv", ".tsv"),
    "text": (".txt", ".md"),
    "parquet": (".parquet",),
}
_INT = re.compile(r"-?(0|[1-9]\d{0,17})\Z")
_FLOAT = re.compile(r"-?(0|[1-9]\d*)\.\d+([eE][-+]?\d+)?\Z")


class Splits:
    """Reads the splits that a task names, each once.

    Args:
        keys: What the task says.
        folder: Of the task file: files are looked for there, then in the root directory.
        root: Root directory, in which they must lie.

    Raises:
        ConfigError: The data is not local, or named in a way that is not read.
    """

    def __init__(self, keys: Keys, folder: Path, root: Path) -> None:
        self._keys = keys
        self._folder = folder
        self._root = root
        builder = keys.data.get("dataset_path")
        if not isinstance(builder, str) or builder not in _BUILDERS:
            message = (
                f"dataset_path {builder!r} is not local, and nothing is fetched from a "
                f"hub: save its rows beside this file, and say dataset_path: json and "
                f"dataset_kwargs: {{data_files: {{test: rows.jsonl}}}} (or csv, text, parquet)"
            )
            raise keys.fail(message, "dataset_path")
        self._builder = builder
        self._files = self._data_files()
        self._read: dict[str, Dataset] = {}
        self.shown: dict[str, str] = {}
        """The file of each split, for people."""

    def get(self, keys: Keys, key: str) -> Dataset:
        """Return the split that a key of the task names.

        Raises:
            ConfigError: There is no such split, or its file can't be read.
        """
        name = keys.data[key]
        if not isinstance(name, str) or name not in self._files:
            message = (
                f"{key}: there is no split {name!r}"
                f"{did_you_mean(str(name), self._files)}; splits: "
                f"{', '.join(self._files)}"
            )
            raise self._keys.fail(message, key)
        if name not in self._read:
            try:
                self._read[name] = self._dataset(name)
            except (DatasetError, MissingExtraError) as exc:
                message = f"data_files: {exc}"
                raise self._keys.fail(message, "dataset_kwargs") from exc
        return self._read[name]

    def _data_files(self) -> dict[str, list[str]]:
        given = self._keys.data.get("dataset_kwargs") or {}
        if not isinstance(given, Mapping) or "data_files" not in given:
            message = "dataset_kwargs names the local files: {data_files: {test: FILE}}"
            raise self._keys.fail(message, "dataset_kwargs")
        for name in given:
            if name not in {"data_files", "trust_remote_code"}:
                message = f"dataset_kwargs: {name!r} is not supported for local files"
                raise self._keys.fail(message, "dataset_kwargs", name)
        files = given["data_files"]
        if not isinstance(files, Mapping):
            files = {"train": files}
        return {str(split): self._listed(split, one) for split, one in files.items()}

    def _listed(self, split: Any, given: Any) -> list[str]:
        """Return the files of a split."""
        files = [given] if isinstance(given, str) else given
        is_list = isinstance(files, list) and files
        if not is_list or not all(isinstance(one, str) for one in files):
            message = f"data_files: {split!r} is a file or a list, not {given!r:.60}"
            raise self._keys.fail(message, "dataset_kwargs")
        return list(files)

    def _dataset(self, name: str) -> Dataset:
        found: list[tuple[int, dict[str, Any]]] = []
        for file in self._files[name]:
            path, shown = self._located(file)
            self.shown.setdefault(name, shown)
            found += self._rows(path, shown)
        columns = list(dict.fromkeys(column for _, row in found for column in row))
        rows = [{c: plain(row.get(c)) for c in columns} for _, row in found]
        if self._builder == "csv":
            rows = _typed(rows, columns)
        return Dataset(rows, [line for line, _ in found])

    def _located(self, file: str) -> tuple[Path, str]:
        if "://" in file:
            message = f"{file!r} is no local path, and nothing is fetched"
            raise DatasetError(message)
        path = self._folder / file
        # Not Path.exists, which raises for a name that no file can have.
        if not os.path.exists(path) and os.path.exists(self._root / file):
            path = self._root / file
        shown = shown_path(path, self._root)
        inside(path, self._root, shown=shown, error=DatasetError)
        if path.suffix.lower() not in _BUILDERS[self._builder]:
            message = (
                f"{file!r}: dataset_path {self._builder} reads files that end in "
                f"{', '.join(_BUILDERS[self._builder])}"
            )
            raise DatasetError(message)
        return path, shown

    def _rows(self, path: Path, shown: str) -> Iterator[tuple[int, dict[str, Any]]]:
        if self._builder == "parquet":
            return read_parquet(path, shown)
        if self._builder != "text":
            return iter(read_rows(path, shown))
        lines = read_text(path, shown=shown, error=DatasetError).split("\n")
        if lines and not lines[-1]:
            lines.pop()
        return ((n, {"text": line}) for n, line in enumerate(lines, 1))


def _typed(rows: list[dict[str, Any]], columns: list[str]) -> list[dict[str, Any]]:
    """Return rows of a CSV file with numbers where a whole column holds them."""
    for column in columns:
        cells = [row[column] for row in rows if row[column] not in {None, ""}]
        kind: Any = None
        if cells and all(_INT.match(str(cell)) for cell in cells):
            kind = int
        elif cells and all(_INT.match(str(c)) or _FLOAT.match(str(c)) for c in cells):
            kind = float
        for row in rows:
            if row[column] in {None, ""}:
                row[column] = None
            elif kind is not None:
                row[column] = kind(row[column])
    return rows

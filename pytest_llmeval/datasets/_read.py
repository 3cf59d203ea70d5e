"""Rows of a file with their lines: one reader a format, picked by suffix."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.config.files import read_text
from pytest_llmeval.datasets._csv import read_csv, read_tsv
from pytest_llmeval.datasets._json import decoder, json_problem
from pytest_llmeval.datasets._yaml import read_yaml
from pytest_llmeval.errors import DatasetError, did_you_mean

__all__ = ["SUFFIXES", "Row", "read_rows", "suffix_of"]

#: A row and the line it starts in.
Row = tuple[int, dict[str, Any]]

_SPACE = re.compile(r"[ \t\r\n]*")


def read_rows(path: Path, shown: str) -> Iterator[Row]:
    """Yield the rows of a file.

    Args:
        path: The file.
        shown: Its name in error texts.

    Raises:
        DatasetError: It isn't there, isn't UTF-8, isn't its format, or a row is broken.
    """
    read = _READERS[suffix_of(path.name)]
    return read(read_text(path, shown=shown, error=DatasetError), shown)


def suffix_of(name: str) -> str:
    """Return a file name's suffix, one of `SUFFIXES`.

    Raises:
        DatasetError: It is another one.
    """
    suffix = Path(name).suffix.lower()
    if suffix not in _READERS:
        message = (
            f"{name!r} has the suffix {suffix!r}{did_you_mean(suffix, _READERS)}, and "
            f"datasets are read from {', '.join(_READERS)}"
        )
        raise DatasetError(message)
    return suffix


def _read_jsonl(text: str, shown: str) -> Iterator[Row]:
    json = decoder()
    # Only \n ends a line: U+2028 and U+0085 may stand in a JSON text.
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip(" \t\r")
        if not line:
            continue
        try:
            row = json.decode(line)
        except (ValueError, RecursionError) as exc:
            message = f"{shown}:{number}: {json_problem(exc)}{_line_hint(line)}"
            raise DatasetError(message) from exc
        if type(row) is not dict:
            message = (
                f"{shown}:{number}: a row is a JSON object, not {_short(row)}"
                f"{_line_hint(line)}"
            )
            raise DatasetError(message)
        yield number, row


def _line_hint(line: str) -> str:
    start = line.strip()
    if start[:1] == "[" or start in {"{", "}"}:
        return "; one object stands in one line here, a list of them is a .json file"
    return ""


def _read_json(text: str, shown: str) -> Iterator[Row]:
    decode = decoder().raw_decode
    index = _after_space(text, 0)
    if text[index : index + 1] != "[":
        raise _no_list(text, shown, index)
    index = _after_space(text, index + 1)
    sign = "]" if text[index : index + 1] == "]" else ","
    line, counted, number = 1, 0, 0
    while sign == ",":
        number += 1
        line += text.count("\n", counted, index)
        counted = index
        item, index = _decoded(decode, text, index, shown)
        if type(item) is not dict:
            message = (
                f"{shown}:{line}: item {number} of the list, counted from 1, is "
                f"{_short(item)}, and a case is an object"
            )
            raise DatasetError(message)
        yield line, item
        index = _after_space(text, index)
        sign = text[index : index + 1]
        if sign not in {",", "]"}:
            raise _broken(text, index, shown, "a comma or ] is expected")
        index = _after_space(text, index + 1)
    rest = index if number else _after_space(text, index + 1)
    if rest < len(text):
        raise _broken(text, rest, shown, "the file goes on after its list")


def _after_space(text: str, index: int) -> int:
    found = _SPACE.match(text, index)
    return found.end() if found else index


def _decoded(
    decode: Callable[[str, int], tuple[Any, int]], text: str, index: int, shown: str
) -> tuple[Any, int]:
    try:
        return decode(text, index)
    except (ValueError, RecursionError) as exc:
        place = getattr(exc, "pos", index)
        line = text.count("\n", 0, place) + 1
        raise DatasetError(f"{shown}:{line}: {json_problem(exc)}") from exc


def _no_list(text: str, shown: str, index: int) -> DatasetError:
    if index == len(text):
        return DatasetError(f"{shown}: the file is empty, and a list is expected")
    item, end = _decoded(decoder().raw_decode, text, index, shown)
    rest = _after_space(text, end)
    line = text.count("\n", 0, index) + 1
    if rest < len(text) and type(item) is dict:
        message = (
            f"{shown}:{line}: several objects follow each other, and a list of cases "
            f"is expected: one object a line is a .jsonl file"
        )
    else:
        what = "one object" if type(item) is dict else _short(item)
        message = (
            f"{shown}:{line}: the file holds {what}, and a list of cases is expected: "
            f"[{{...}}, {{...}}]"
        )
    return DatasetError(message)


def _broken(text: str, index: int, shown: str, problem: str) -> DatasetError:
    line = text.count("\n", 0, index) + 1
    near = f", not {text[index : index + 20]!r}" if index < len(text) else ""
    return DatasetError(f"{shown}:{line}: not valid JSON: {problem}{near}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_READERS: Final[Mapping[str, Callable[[str, str], Iterator[Row]]]] = {
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".json": _read_json,
    ".csv": read_csv,
    ".tsv": read_tsv,
    ".yaml": read_yaml,
    ".yml": read_yaml,
}
SUFFIXES: Final = tuple(_READERS)

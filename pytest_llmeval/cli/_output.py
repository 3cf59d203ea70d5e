"""The file that answers go into: looked at before anything is asked, written after."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

from pytest_llmeval.datasets import cases_from, write_cases
from pytest_llmeval.errors import ConfigError, DatasetError
from pytest_llmeval.types import Case

__all__ = ["check_output", "meaning_of", "with_column", "write_answers"]


def check_output(
    cases: Sequence[Case], *, data: str, output: Path, column: str, force: bool
) -> None:
    """Refuse an output that could not be written, or would lose what is there.

    Args:
        cases: The rows to be answered.
        data: Where they come from.
        output: The file to be written.
        column: The column that the answers go into.
        force: Whether what is there may be replaced.

    Raises:
        ConfigError: The file or its folder can't be used, or something is lost.
        DatasetError: Its format is unknown, or can't hold the rows.
    """
    try:
        _check_place(output)
        if not force:
            _keep_what_is_there(cases, data, output, column)
        _try_to_write(with_column(cases, column, {}), output)
    except OSError as exc:
        message = f"{str(output)!r} can't be written: {exc}"
        raise ConfigError(message) from exc


def _check_place(output: Path) -> None:
    if output.is_dir() or not output.parent.is_dir():
        what = "is a folder" if output.is_dir() else "is to be in a folder that isn't"
        message = f"{str(output)!r} {what}: name a file in a folder that is there"
        raise ConfigError(message)


def _keep_what_is_there(
    cases: Sequence[Case], data: str, output: Path, column: str
) -> None:
    if any(column in case.fields for case in cases):
        message = (
            f"{data} has a column {column!r} already: give another --column, or "
            f"--force to replace it"
        )
        raise ConfigError(message)
    if output.exists() and not (Path(data).exists() and output.samefile(data)):
        message = (
            f"{str(output)!r} is there already: give another --output, or --force to "
            f"replace it"
        )
        raise ConfigError(message)


def meaning_of(column: str) -> str | None:
    """Return the field of a case that a column of this name is read as, if any."""
    try:
        (case,) = cases_from([{column: "x"}])
    except DatasetError:
        return column  # a field that takes values of a kind only
    plain = Case(id="1", is_numbered=True)
    named = [field.name for field in fields(Case) if field.name != "fields"]
    return next((n for n in named if getattr(case, n) != getattr(plain, n)), None)


def _try_to_write(cases: Sequence[Case], output: Path) -> None:
    """Write the rows beside the output, to find now what would go wrong later."""
    with tempfile.TemporaryDirectory(dir=output.parent) as folder:
        write_cases(cases, Path(folder) / output.name)


def with_column(
    cases: Sequence[Case], column: str, texts: Mapping[str, str]
) -> list[Case]:
    """Return the cases with their replies in a column; a row without one has null."""
    return [
        replace(case, fields={**case.fields, column: texts.get(case.id)})
        for case in cases
    ]


def write_answers(cases: Sequence[Case], output: Path) -> Path:
    """Write the answered cases; return the file that holds them.

    What can't be written in the format of `output` is written as JSON Lines beside it:
    nothing that was answered is lost.
    """
    try:
        write_cases(cases, output)
    except DatasetError:
        output = output.with_name(f"{output.name}.jsonl")
        write_cases(cases, output)
    return output

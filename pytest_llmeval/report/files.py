"""Reports as files: a format a suffix, and files that are never half written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Final

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.report.model import Report

__all__ = ["FORMATS", "check_suffix", "pieces_of", "text_of", "write"]

#: By suffix, the function that makes a report's text, or pieces of it where it may be
#: long; loaded when it is asked for.
FORMATS: Final = {
    ".json": "pytest_llmeval.report.json_file:json_pieces",
    ".jsonl": "pytest_llmeval.report.json_file:case_lines",
    ".csv": "pytest_llmeval.report.rows:csv_pieces",
    ".md": "pytest_llmeval.report.markdown:markdown_text",
    ".html": "pytest_llmeval.report.html:html_pieces",
}


def check_suffix(path: Path, where: str) -> None:
    """Refuse a file whose name does not say what it is.

    Args:
        path: The file.
        where: How the user wrote it, for the error's text.

    Raises:
        ConfigError: No format has its suffix.
    """
    if path.suffix.lower() not in FORMATS:
        message = (
            f"{where}: no report format is called {path.suffix or 'nothing'!r}; "
            f"there are: {', '.join(FORMATS)}"
        )
        raise ConfigError(message)


def text_of(report: Report, suffix: str) -> str:
    """Return a report in the format of a suffix."""
    return "".join(pieces_of(report, suffix))


def pieces_of(report: Report, suffix: str) -> Iterable[str]:
    """Return the text of a report in pieces: of a long one a case is made at a time."""
    module, _, name = FORMATS[suffix.lower()].partition(":")
    render: Callable[[Report], str | Iterable[str]]
    render = getattr(import_module(module), name)
    found = render(report)
    return (found,) if isinstance(found, str) else found


def write(report: Report, path: Path) -> None:
    """Write the report, making folders; a reader sees the old file or the whole new one.

    Raises:
        OSError: It can't be written; an older file at `path` is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.resolve()  # a link stays a link
    if target.exists() and not target.is_file():
        message = f"{str(path)!r} is there already, and is no file"
        raise OSError(message)
    draft = target.with_name(f".llmeval-{os.urandom(4).hex()}.tmp")
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces_of(report, path.suffix))
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)

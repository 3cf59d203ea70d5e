"""The journal of a run: a header, a line a case as it ends, a footer.

JSON Lines in ``.llmeval/runs``. Each line reaches the file by one write, so a run that
is killed leaves whole lines and at most one cut last one. A file without a footer is an
interrupted run.

Format 1. Every line has a ``kind``: ``run`` (the header, with ``format``), ``case``
(a `Record`), ``end`` (the footer). A case that was rerun has several lines, and the
last one counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.errors import UserError
from pytest_llmeval.store.lines import parse
from pytest_llmeval.store.shapes import CASE, FOOTER, HEADER, misfit
from pytest_llmeval.types import Record, Sample, clean_json

__all__ = [
    "FORMAT",
    "StoredRun",
    "find_run",
    "read_run",
    "run_files",
]

FORMAT: Final = 1
#: Names of ours: other files in the folder are never deleted.
_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d{6}\.\d{3,6}Z-[0-9a-f]{8}\.jsonl")
_SAMPLE_KEYS = frozenset(field.name for field in fields(Sample))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run as its journal has it."""

    path: Path
    header: Mapping[str, Any]
    records: tuple[Record, ...]
    """In the order in which the cases first ended."""
    footer: Mapping[str, Any] | None
    """None: the run was interrupted."""


def run_files(directory: Path) -> list[Path]:
    """Return the journals in a ``runs`` folder, newest first; none when it is missing.

    Raises:
        OSError: It can't be read.
    """
    if not directory.is_dir():
        return []
    found = [path for path in directory.iterdir() if _NAME.fullmatch(path.name)]
    return sorted(found, key=lambda path: path.name, reverse=True)


def find_run(name: str, home: Path, base: Path) -> Path:
    """Return the journal that somebody means.

    Args:
        name: A path, the name of a file among the kept runs (its suffix may be left
            out), or ``last`` for the newest.
        home: The ``.llmeval`` of the root directory.
        base: Where a relative path begins.

    Raises:
        UserError: There is no such run; the text names those there are.
    """
    kept = run_files(home / "runs")
    if name == "last":
        if kept:
            return kept[0]
        message = f"there is no run in {str(home / 'runs')!r}: run pytest -m llmeval here first"
        raise UserError(message)
    places = (base / name, home / "runs" / name, home / "runs" / f"{name}.jsonl")
    for path in places:
        if path.is_file():
            return path
    near = ", ".join(path.name for path in kept[:5]) or "none"
    message = f"there is no run {name!r}; the newest runs here: {near}"
    raise UserError(message)


def read_run(path: Path) -> StoredRun:
    """Return the run of a journal; a last line that was cut off is left out.

    Raises:
        UserError: There is no such file, or it is not a journal of this format; the
            text names file and line.
    """
    try:
        with path.open("rb") as lines:
            return _Reader(path).read(lines)
    except FileNotFoundError as exc:
        near = ", ".join(repr(p.name) for p in run_files(path.parent)[:5]) or "none"
        message = f"there is no run {str(path)!r}; the newest runs there: {near}"
        raise UserError(message) from exc
    except OSError as exc:
        message = f"can't read the run {str(path)!r}: {exc.strerror or exc}"
        raise UserError(message) from exc


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: dict[str, Any] | None = None
        self.records: dict[str, Record] = {}
        self.footer: dict[str, Any] | None = None

    def read(self, lines: Iterable[bytes]) -> StoredRun:
        number = 0
        for number, line in enumerate(lines, 1):
            self._take(number, line)
        if self.header is None:
            cut = "the header is cut off" if number else "the file is empty"
            raise self._refusal(1, f"{cut}, so there is no run in it")
        return StoredRun(
            path=self.path,
            header=self.header,
            records=tuple(self.records.values()),
            footer=self.footer,
        )

    def _take(self, number: int, line: bytes) -> None:
        try:
            data = clean_json(parse(line))
        except ValueError as exc:
            if not line.endswith(b"\n"):  # the process was killed while it wrote
                return
            detail = f"not JSON ({exc}); the file was changed or damaged afterwards"
            raise self._refusal(number, detail) from exc
        kind = data.pop("kind", None) if isinstance(data, dict) else None
        if self.header is None:
            self.header = self._header(number, kind, data)
        elif self.footer is not None:
            raise self._refusal(number, "a line after the footer, which is the last")
        elif kind == "case":
            record = self._record(number, data)
            self.records[record.nodeid] = record
        elif kind == "end":
            self._check(number, data, FOOTER, "the footer is not whole")
            self.footer = data
        else:
            wanted = "'case' or 'end'"
            raise self._refusal(number, f"the kind is {kind!r}, and not {wanted}")

    def _header(self, number: int, kind: Any, data: Any) -> dict[str, Any]:
        if kind != "run" or "format" not in data:
            detail = "not the header of a run, which has a 'format' and the kind 'run'"
            raise self._refusal(number, detail)
        if data["format"] != FORMAT:
            detail = (
                f"the run has format {data['format']!r}, and this version reads "
                f"{FORMAT}: read it with the version that wrote it, or run again"
            )
            raise self._refusal(number, detail)
        self._check(number, data, HEADER, "the header is not whole")
        return dict(data)

    def _check(self, number: int, data: Any, shape: Any, text: str) -> None:
        if (wrong := misfit(data, shape)) is not None:
            raise self._refusal(number, f"{text} ({wrong})")

    def _record(self, number: int, data: dict[str, Any]) -> Record:
        try:
            record = Record.from_json(data)
        except (KeyError, TypeError) as exc:
            raise self._refusal(number, f"not a whole case ({exc})") from exc
        if not all(_is_sample(sample) for sample in record.samples):
            raise self._refusal(number, "not a whole case (a sample lacks something)")
        self._check(number, data, CASE, "not a whole case")
        return record

    def _refusal(self, number: int, detail: str) -> UserError:
        return UserError(f"{self.path}:{number}: {detail}")


def _is_sample(data: Any) -> bool:
    return isinstance(data, dict) and data.keys() >= _SAMPLE_KEYS

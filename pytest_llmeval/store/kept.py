"""Records of which most stays in the journal of their run until somebody asks for it.

A run of many cases comes to totals and a few failures; prompts, replies and rows of all
the others are on disk already.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from sys import intern
from typing import Any, Final, Self

from pytest_llmeval.errors import UserError
from pytest_llmeval.store.lines import parse
from pytest_llmeval.types import Record

__all__ = ["KeptRecord", "Lines"]

#: What is at hand, beside tests, parameters, tags and gates, which many cases share: all
#: that is asked of many cases, one after another, many times.
_AT_HAND: Final = (
    *("nodeid", "case_id", "status", "cause", "reason"),
    *("calibration", "repeat", "min_sample_rate"),
)
#: A dict for every record that has no parameters would add up.
_NONE: Final[Mapping[str, str]] = {}


class Lines:
    """A journal that is being written, to be read again.

    The line that was read last stays at hand: several things are asked of a case.

    Args:
        path: The journal.

    Raises:
        OSError: It can't be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._place = (-1, 0)
        self._record: Any = None

    def record(self, start: int, size: int) -> Record:
        """Return the record of a line.

        Args:
            start: Its first byte.
            size: Its bytes.

        Raises:
            UserError: It isn't there any more.
        """
        if self._place != (start, size):
            try:
                os.lseek(self._descriptor, start, os.SEEK_SET)
                data = parse(os.read(self._descriptor, size))
                data.pop("kind")
                self._record = Record.from_json(data)
            except (OSError, ValueError, TypeError, LookupError) as exc:
                message = (
                    f"can't read {str(self._path)!r} again ({exc}): it is this run's own "
                    f"journal, which has to stay as it is until the run has ended"
                )
                raise UserError(message) from exc
            self._place = (start, size)
        found: Record = self._record
        return found

    def close(self) -> None:
        """Read no more."""
        os.close(self._descriptor)


class KeptRecord(Record):
    """A record that reads again what it has not at hand: row, samples, fingerprints.

    Made by `of`; `dataclasses.replace` makes a whole one of it.
    """

    __slots__ = ("_lines", "_size", "_start")
    _lines: Lines
    _start: int
    _size: int

    @classmethod
    def of(cls, data: Mapping[str, Any], lines: Lines, start: int, size: int) -> Self:
        """Return what has at hand what is asked of many cases.

        Args:
            data: Of `Record.to_json`.
            lines: Have it whole.
            start: The first byte of its line.
            size: The bytes of its line.
        """
        kept = cls.__new__(cls)
        put = partial(object.__setattr__, kept)
        for name in _AT_HAND:
            put(name, data[name])
        put("test", intern(data["test"]))
        put("params", data["params"] or _NONE)
        put("tags", tuple(data["tags"]))
        put("gates", tuple(data["gates"]))
        put("checked_nothing", data.get("checked_nothing", False))
        put("_lines", lines)
        put("_start", start)
        put("_size", size)
        return kept

    def __getattr__(self, name: str) -> Any:
        """Return what a slot that was left empty stands for."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._lines.record(self._start, self._size), name)

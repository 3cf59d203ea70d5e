"""What bodies write while another test has its turn: kept, and shown in their own.

Streams are replaced by whoever captures, in every phase of every test, so it is the
`write` of the stream objects that is replaced here. A context variable says which body
writes; where there is none, everything goes where it always went.
"""

from __future__ import annotations

import copy
import logging
import sys
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

from pytest_llmeval.ahead._body import Piece

__all__ = ["Routes"]

_pieces: ContextVar[list[Piece] | None] = ContextVar("llmeval_pieces", default=None)


class Routes:
    """Leads what bodies print and log into their own lists of pieces."""

    def __init__(self) -> None:
        self._streams: list[Any] = []
        self._handlers: list[logging.Handler] = []
        self._collector = _Collector()
        self._level: int | None = None

    @property
    def are_open(self) -> bool:
        """Whether anything is led elsewhere."""
        return self._level is not None

    def open(self, level: int | None = None) -> None:
        """Begin to collect what is logged, outside of any test's phases.

        Args:
            level: Of the records a test's own phase would show, where it says so:
                between two tests the root logger would drop them.
        """
        root = logging.getLogger()
        if self._level is None:
            self._level = root.level
            root.addHandler(self._collector)
        if level is not None and level < root.level:
            root.setLevel(level)

    def cover(self) -> None:
        """Lead away what goes to the streams and handlers that are there now."""
        for name in ("stdout", "stderr"):
            self._cover_stream(getattr(sys, name), name)
        for handler in logging.getLogger().handlers:
            if handler is not self._collector and handler not in self._handlers:
                handler.addFilter(_is_of_no_body)
                self._handlers.append(handler)

    def close(self) -> None:
        """Put streams and loggers back as they were."""
        for stream in self._streams:
            vars(stream).pop("write", None)
            vars(stream).pop("writelines", None)
        self._streams.clear()
        for handler in self._handlers:
            handler.removeFilter(_is_of_no_body)
        self._handlers.clear()
        if self._level is not None:
            root = logging.getLogger()
            root.removeHandler(self._collector)
            root.setLevel(self._level)
            self._level = None

    def replay(self, pieces: Iterable[Piece]) -> None:
        """Write what a body wrote, now that its own test has its turn."""
        for piece in pieces:
            if isinstance(piece, tuple):
                name, text = piece
                getattr(sys, name).write(text)
                continue
            for handler in logging.getLogger().handlers:
                # Others saw it when it was made.
                if handler in self._handlers and piece.levelno >= handler.level:
                    handler.handle(piece)

    @staticmethod
    def lead_to(pieces: list[Piece]) -> None:
        """Lead what is written in this context to a list."""
        _pieces.set(pieces)

    def _cover_stream(self, stream: Any, name: str) -> None:
        if any(stream is known for known in self._streams):
            return
        try:
            original = stream.write

            def write(text: str) -> int:
                pieces = _pieces.get()
                if pieces is None or not isinstance(text, str):
                    return int(original(text))
                pieces.append((name, text))
                return len(text)

            def writelines(lines: Iterable[str]) -> None:
                for line in lines:
                    write(line)

            stream.write, stream.writelines = write, writelines
        except AttributeError:  # no stream, or one of slots: its texts go where it will
            return
        self._streams.append(stream)


def _is_of_no_body(record: logging.LogRecord) -> bool:
    return _pieces.get() is None


class _Collector(logging.Handler):
    """Keeps the records of bodies; leaves all others alone."""

    def handle(self, record: logging.LogRecord) -> bool:
        pieces = _pieces.get()
        if pieces is not None:
            pieces.append(_frozen(record))
            return True
        last = logging.lastResort
        # Without this handler there would be none: Python's last resort would show it.
        is_alone = logging.getLogger().handlers == [self]
        if is_alone and last is not None and record.levelno >= last.level:
            last.handle(record)
        return True


def _frozen(record: logging.LogRecord) -> logging.LogRecord:
    """Return a record whose text no later change of its arguments changes."""
    frozen = copy.copy(record)
    try:
        frozen.msg, frozen.args = record.getMessage(), None
    except Exception:  # noqa: BLE001 - a format that does not fit: logging says so later
        return record
    return frozen

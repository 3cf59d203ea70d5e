"""The HTTP library's own log: it writes a reply's headers, and servers echo keys."""

from __future__ import annotations

import logging
from collections.abc import Callable

__all__ = ["CleanLog"]

#: A filter holds for one logger, not for those below it.
_LOGGERS = ("httpcore.http11", "httpcore.connection", "httpcore.proxy")


class CleanLog(logging.Filter):
    """Takes secrets out of what the library logs, as long as connections are open.

    Args:
        clean: Returns a text without secrets.
    """

    def __init__(self, clean: Callable[[str], str]) -> None:
        super().__init__()
        self._clean = clean

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean a record; it is logged all the same."""
        record.msg, record.args = self._clean(record.getMessage()), ()
        return True

    def install(self) -> None:
        """Begin; again and again does no harm."""
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(self)

    def remove(self) -> None:
        """End."""
        for name in _LOGGERS:
            logging.getLogger(name).removeFilter(self)

"""One line on a terminal while cases wait: what is done, what runs, what it costs.

Written by the main thread while it waits, at the cursor, and wiped before anything else
is written; so dots, words and percentages come out as without it.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_llmeval.plugin._internals import writer_of

__all__ = ["Progress", "Standing", "line_of"]

#: Below this a line says nothing, and would jump.
_LEAST_COLUMNS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a run stands while it waits."""

    done: int
    """Cases whose bodies have ended."""
    total: int
    running: int
    retrying: int
    """Calls that wait for another attempt."""
    cost: float | None
    """US dollars so far; None where nobody said."""
    seconds: float
    """Since the first body began."""


class Progress:
    """Writes the line, where there is a terminal that can take it.

    Args:
        config: The pytest config.
    """

    def __init__(self, config: pytest.Config) -> None:
        plugins = config.pluginmanager
        self._reporter: Any = plugins.getplugin("terminalreporter")
        self._capture: Any = plugins.getplugin("capturemanager")
        self._is_shown = False
        self.is_wanted = (
            self._reporter is not None
            and self._reporter.isatty()
            and self._reporter.verbosity >= 0
            and config.option.capture != "no"
            and os.environ.get("TERM") != "dumb"
        )

    def show(self, standing: Standing) -> None:
        """Write the line, over the one before."""
        width = shutil.get_terminal_size().columns - self._used() - 1
        if width >= _LEAST_COLUMNS:
            text = line_of(standing)[:width]
            self._write(f"\x1b7 {text}\x1b[K\x1b8")
            self._is_shown = True

    def wipe(self) -> None:
        """Take the line away, before anything else is written."""
        if self._is_shown:
            self._write("\x1b[K")
            self._is_shown = False

    def _used(self) -> int:
        """Return the columns that pytest has written to on this line."""
        return int(getattr(writer_of(self._reporter), "width_of_current_line", 0))

    def _write(self, text: str) -> None:
        paused = getattr(self._capture, "global_and_fixture_disabled", nullcontext)
        with paused():
            sys.stdout.write(text)
            sys.stdout.flush()


def line_of(standing: Standing) -> str:
    """Return what a line says, the most telling first: a terminal may be narrow."""
    left = standing.total - standing.done
    parts = [f"{standing.done:,} of {standing.total:,} done"]
    parts.append(f"{standing.running:,} running")
    if waiting := left - standing.running:
        parts.append(f"{waiting:,} waiting")
    if standing.retrying:
        parts.append(f"{standing.retrying:,} retrying")
    if standing.cost is not None:
        parts.append(f"${standing.cost:.2f}")
    # Before a tenth is done, what is left can't be told from what has been.
    if standing.done >= max(standing.total / 10, 3):
        parts.append(_left(standing.seconds / standing.done * left))
    return " · ".join(parts)


def _left(seconds: float) -> str:
    """Return the time that is left, no finer than it can be known."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min left"
    return f"{minutes} min {rest:02} s left" if minutes else f"{rest} s left"

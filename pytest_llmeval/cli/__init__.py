"""The command line: ``python -m pytest_llmeval COMMAND``.

Each command is a module with ``add(subparsers)`` and ``run(options) -> int``.
"""

from __future__ import annotations

import io
import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from pytest_llmeval.cli import (
    cache,
    calibrate,
    check,
    compare,
    generate,
    init,
    merge,
    model,
    report,
    schema,
)
from pytest_llmeval.diffs import printable
from pytest_llmeval.errors import LLMEvalError, UserError

__all__ = ["main", "parser"]

_COMMANDS = (
    *(cache, calibrate, check, compare, generate, init),
    *(merge, model, report, schema),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit status: 0 well, 1 not, 2 a mistake in the call.

    Args:
        arguments: Without the program's name; by default those of the process.
    """
    options = parser().parse_args(arguments)
    _write_anything()
    try:
        status: int = options.run(options)
    except LLMEvalError as exc:
        sys.stderr.write(f"{printable(str(exc))}\n")
        return 2 if isinstance(exc, UserError) else 1
    return status


def parser() -> ArgumentParser:
    """Return the parser of the command line, all commands in it."""
    whole = ArgumentParser(
        prog="python -m pytest_llmeval",
        description="Everything around the tests; the tests themselves are pytest's.",
    )
    subparsers = whole.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add(subparsers).set_defaults(run=command.run)
    return whole


def _write_anything() -> None:
    """Let what a model says be written to terminals that can't show all of it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

"""``schema``: the JSON schemas of the JSON report and of task files."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from importlib.resources import files
from typing import Any, Final

__all__ = ["add", "run"]

#: Room and file of each.
_SCHEMAS: Final = {
    "report": ("report", "report.schema.json"),
    "task": ("tasks", "task.schema.json"),
}


def add(subparsers: Any) -> ArgumentParser:
    """Add the command and return its parser."""
    parser: ArgumentParser = subparsers.add_parser(
        "schema", help="print the JSON schema of the JSON report, or of YAML task files"
    )
    parser.add_argument(
        "of", choices=tuple(_SCHEMAS), nargs="?", default="report", help="of what"
    )
    return parser


def run(options: Namespace) -> int:
    """Print it."""
    room, name = _SCHEMAS[options.of]
    schema = files(f"pytest_llmeval.{room}") / name
    sys.stdout.write(schema.read_text("utf-8"))
    return 0

"""``schema``: the JSON schema of the JSON report."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from importlib.resources import files
from typing import Any

__all__ = ["add", "run"]


def add(subparsers: Any) -> ArgumentParser:
    """Add the command and return its parser."""
    parser: ArgumentParser = subparsers.add_parser(
        "schema", help="print the JSON schema of the JSON report"
    )
    return parser


def run(options: Namespace) -> int:
    """Print it."""
    schema = files("pytest_llmeval.report") / "report.schema.json"
    sys.stdout.write(schema.read_text("utf-8"))
    return 0

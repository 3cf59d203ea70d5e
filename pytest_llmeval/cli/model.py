"""``model NAME``: get the weights of an embedded model."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from pytest_llmeval.clients.models import MODELS, fetch

__all__ = ["add", "run"]


def add(subparsers: Any) -> ArgumentParser:
    """Add the command and return its parser."""
    parser: ArgumentParser = subparsers.add_parser(
        "model", help="get the weights of an embedded model (for local:NAME)"
    )
    parser.add_argument("name", help=f"one of: {', '.join(MODELS)}")
    return parser


def run(options: Namespace) -> int:
    """Download what is not there and print where it stands."""
    path = fetch(options.name)
    licence = MODELS[options.name].licence
    sys.stdout.write(f"{path} ({path.stat().st_size:,} bytes, {licence})\n")
    return 0

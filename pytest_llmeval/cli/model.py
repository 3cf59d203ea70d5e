"""``model NAME``: get the weights of an embedded model."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from pytest_llmeval.clients.models import MODELS, fetch, weights_path
from pytest_llmeval.errors import ConfigError

__all__ = ["add", "run"]


def add(subparsers: Any) -> ArgumentParser:
    """Add the command and return its parser."""
    parser: ArgumentParser = subparsers.add_parser(
        "model", help="get the weights of an embedded model (for local:NAME)"
    )
    parser.add_argument("name", metavar="NAME", help=f"one of: {', '.join(MODELS)}")
    return parser


def run(options: Namespace) -> int:
    """Download what is not there and print where it stands; return 1 if it can't.

    Raises:
        ConfigError: There is no such model.
    """
    weights_path(options.name)
    try:
        path = fetch(options.name)
    except ConfigError as exc:
        sys.stderr.write(f"{exc}\n")
        return 1
    licence = MODELS[options.name].licence
    sys.stdout.write(f"{path} ({path.stat().st_size:,} bytes, {licence})\n")
    return 0

"""What a command shares with the suite: the root directory, llmeval.yaml, clients."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from pytest_llmeval.clients import Clients
from pytest_llmeval.config import Config, load_config

__all__ = ["add_config_option", "config_of", "live_clients"]


def add_config_option(parser: ArgumentParser) -> None:
    """Add --config, which names another file than llmeval.yaml here."""
    parser.add_argument(
        "--config", metavar="PATH", help="read PATH instead of llmeval.yaml here"
    )


def config_of(path: str | None) -> Config:
    """Return what llmeval.yaml says, empty when there is none and none was named."""
    if path is not None:
        return load_config(Path(path))
    found = Path("llmeval.yaml")
    return load_config(found if found.exists() else None)


def live_clients(config: Config) -> Clients:
    """Return clients that ask for real."""
    return Clients(config, Path.cwd(), "live")

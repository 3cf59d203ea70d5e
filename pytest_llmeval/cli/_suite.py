"""What a command shares with the suite: the root directory, llmeval.yaml, clients."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_llmeval.clients import Clients
from pytest_llmeval.config import Config, load_config
from pytest_llmeval.loop import LoopThread

__all__ = ["add_config_option", "asking", "config_of"]


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


@contextmanager
def asking(config: Config) -> Iterator[tuple[Clients, LoopThread]]:
    """Give clients that ask for real, and the loop they run on, for a while."""
    clients, loop = Clients(config, Path.cwd(), "live"), LoopThread()
    try:
        yield clients, loop
    finally:
        loop.run(clients.close(), instead="")
        loop.close()

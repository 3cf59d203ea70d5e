"""Where things stand, as seen from where pytest began and from the root directory."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pytest

from pytest_llmeval.plugin.options import as_option_arguments

__all__ = ["Rerun", "looked_at", "nodeid_from_here"]


class Rerun:
    """Says how an item is run again by itself.

    Args:
        config: The pytest config.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._files_from_here: dict[str, str] = {}

    def command(self, item: pytest.Item) -> str:
        """Return the command that runs one item, to be pasted where pytest began."""
        file, separator, rest = item.nodeid.partition("::")
        if file not in self._files_from_here:
            self._files_from_here[file] = nodeid_from_here(self._config, file)
        nodeid = f"{self._files_from_here[file]}{separator}{rest}"
        return " ".join(["pytest", shlex.quote(nodeid), *self._options])

    @cached_property
    def _options(self) -> list[str]:
        return [shlex.quote(a) for a in as_option_arguments(self._config)]


def nodeid_from_here(config: pytest.Config, nodeid: str) -> str:
    """Return a node id with its file as seen from where pytest began."""
    path, separator, rest = nodeid.partition("::")
    where = config.rootpath / path
    begun = config.invocation_params.dir
    if where.is_relative_to(begun):
        where = where.relative_to(begun)
    return f"{where.as_posix()}{separator}{rest}"


def looked_at(config: pytest.Config) -> Iterator[str]:
    """Yield where pytest looks for tests, as seen from the root directory."""
    for argument in config.args:
        path, separator, rest = str(argument).partition("::")
        target = Path(os.path.abspath(config.invocation_params.dir / path))
        if target.is_relative_to(config.rootpath):
            name = target.relative_to(config.rootpath).as_posix()
            yield f"{name}{separator}{rest}"
        elif config.rootpath.is_relative_to(target):
            yield "."

"""Keys of a task file and of the files it includes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_llmeval.config import Section
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.tasks._read import read_mapping

__all__ = ["Keys", "merged", "read_keys"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What a file and its includes say together, and where each key stands."""

    data: dict[str, Any]
    origins: dict[str, Section]
    """The mapping that a key comes from."""
    top: Section
    """Of the file itself."""

    def fail(self, message: str, key: str, *below: str | int) -> ConfigError:
        """Return the error for a key, with its file and line."""
        return self.origins.get(key, self.top).fail(message, key, *below)

    def over(self, other: Section) -> Keys:
        """Return these keys with those of another mapping laid over them."""
        origins = {**self.origins, **dict.fromkeys(other.data, other)}
        return replace(self, data={**self.data, **other.data}, origins=origins)

    def section(self, key: str) -> Section:
        """Return the mapping that has a key, for its readers of values."""
        return self.origins.get(key, self.top)


def read_keys(path: Path, root: Path) -> Keys:
    """Return what a file and its includes say together.

    Raises:
        UserError: One of them can't be read, or `merged` refuses it.
    """
    return merged(read_mapping(path, root), path, root)


def merged(top: Section, path: Path, root: Path) -> Keys:
    """Return a file's keys over those of what it includes.

    Later includes outweigh earlier ones, the file itself all of them; values are not
    merged. Two includes may share a base.

    Raises:
        ConfigError: An include can't be read, lies outside the root directory, or
            includes itself.
    """
    found = _merged(top, path.resolve(), root, ())
    # A key without a value takes away what an include says.
    return replace(found, data={k: v for k, v in found.data.items() if v is not None})


def _merged(top: Section, path: Path, root: Path, above: tuple[Path, ...]) -> Keys:
    data: dict[str, Any] = {}
    origins: dict[str, Section] = {}
    for name in _names(top):
        try:
            target = (path.parent / name).resolve()
        except (OSError, ValueError) as exc:
            raise top.fail(f"include: {name!r:.80}: {exc}", "include") from exc
        if target in (*above, path):
            raise top.fail(f"include: {name!r} includes this file again", "include")
        try:
            section = read_mapping(target, root)
        except ConfigError as exc:
            raise top.fail(f"include: {exc}", "include") from exc
        base = _merged(section, target, root, (*above, path))
        data |= base.data
        origins |= base.origins
    for key, value in top.data.items():
        if key != "include":
            data[key], origins[key] = value, top
    return Keys(data=data, origins=origins, top=top)


def _names(top: Section) -> tuple[str, ...]:
    if isinstance(top.data.get("include"), str):
        return (top.data["include"],)
    return top.texts("include")

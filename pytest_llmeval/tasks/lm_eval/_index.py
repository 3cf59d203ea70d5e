"""The tasks and groups of a folder by name: groups name others, and not their files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from pytest_llmeval.config.files import shown_path
from pytest_llmeval.errors import ConfigError, UserError, did_you_mean
from pytest_llmeval.tasks.lm_eval._include import Keys, read_keys

__all__ = ["TaskIndex"]

#: A file's own name stands at its top, quoted or not.
_NAME: Final = re.compile(
    r"""^["']?(?P<kind>task|group)["']?\s*:\s*["']?(?P<name>[^\s"'#\[]+)""",
    re.MULTILINE,
)
_TAG: Final = re.compile(r"""^["']?(tag|include)["']?\s*:""", re.MULTILINE)


class TaskIndex:
    """Finds the files of tasks and groups, by reading each YAML file once.

    Args:
        root: Root directory.
        places: Where to look after the folder of the group that names them.
    """

    def __init__(self, root: Path, places: Sequence[Path] = ()) -> None:
        self._root = root
        self._places = tuple(places)
        self._names: dict[Path, dict[str, Path]] = {}

    def found(self, name: str, folder: Path) -> tuple[Path, ...]:
        """Return the file of a task or group, or those of the tasks with a tag.

        Args:
            name: Of the task, group or tag.
            folder: Where it is named: looked in first, with what is below.

        Raises:
            ConfigError: There is none.
        """
        places = (folder, *self._places)
        for place in places:
            if (path := self._in(place).get(name)) is not None:
                return (path,)
        for place in places:
            if tagged := self._tagged(name, place):
                return tagged
        known = [other for place in places for other in self._in(place)]
        where = ", ".join(shown_path(p, self._root) or "." for p in places)
        message = (
            f"there is no task, group or tag {name!r}{did_you_mean(name, known)} in "
            f"{where} or below"
        )
        raise ConfigError(message)

    def _in(self, place: Path) -> dict[str, Path]:
        if place not in self._names:
            found: dict[str, Path] = {}
            for path in _files(place):
                names = {m["kind"]: m["name"] for m in _NAME.finditer(_text(path))}
                name = names.get("group") or names.get("task")
                if name is not None:
                    found.setdefault(name, path)
            self._names[place] = found
        return self._names[place]

    def _tagged(self, tag: str, place: Path) -> tuple[Path, ...]:
        found = []
        for name, path in sorted(self._in(place).items()):
            if _TAG.search(_text(path)) and tag in _tags(self._keys(path)):
                found.append((name, path))
        return tuple(path for _, path in found)

    def _keys(self, path: Path) -> Keys | None:
        try:
            return read_keys(path, self._root)
        except UserError:
            return None  # told where that file is collected


def _tags(keys: Keys | None) -> Iterable[str]:
    tag = keys.data.get("tag") if keys and "group" not in keys.data else None
    # What is neither is refused where that file is collected.
    return [tag] if isinstance(tag, str) else tag if isinstance(tag, list) else ()


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
        return
    for pattern in ("**/*.yaml", "**/*.yml"):
        yield from sorted(place.glob(pattern))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""

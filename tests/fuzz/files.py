"""What is held of every file from anywhere: it is read and usable, or refused by us.

One place for what hypothesis (``tests/unit/test_fuzz_files.py``) and atheris
(``python -m tests.fuzz``) look for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from pytest_llmeval.errors import LLMEvalError

__all__ = ["DATA", "FileKind", "as_json", "seeds"]

DATA = Path(__file__).parents[1] / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """A kind of file, and what becomes of one."""

    name: str
    """Its suffix says the format, as it does for users."""
    use: Callable[[Path], None]
    """Reads it and does with it what users do."""
    seeds: tuple[bytes, ...]
    """Good files, to be damaged."""
    beside: Mapping[str, bytes] = field(default_factory=dict)
    """What stands in its folder."""

    def lay(self, folder: Path) -> None:
        """Write what stands beside it."""
        for name, data in self.beside.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)

    def hold(self, folder: Path, data: bytes) -> None:
        """Let the file be used: no exception comes out of it but ours."""
        folder.mkdir(exist_ok=True)  # recordings without an entry take it along
        (folder / self.name).write_bytes(data)
        with suppress(LLMEvalError):
            self.use(folder / self.name)

    def values(self) -> list[Any]:
        """Return the seeds as JSON values, empty where the format has none."""
        suffix = Path(self.name).suffix
        if suffix == ".jsonl":
            return [
                [json.loads(line) for line in seed.splitlines()] for seed in self.seeds
            ]
        if suffix == ".json":
            return [json.loads(seed) for seed in self.seeds]
        if suffix == ".yaml":
            return [_plain(yaml.load(seed, _Loader)) for seed in self.seeds]
        return []

    def as_file(self, value: Any) -> bytes:
        """Return a file with such a value; YAML's readers read JSON."""
        is_lines = self.name.endswith(".jsonl") and isinstance(value, list)
        lines = map(as_json, value) if is_lines else [as_json(value)]
        return b"\n".join(lines) + b"\n"


class _Loader(yaml.SafeLoader):
    """Takes tags for what they stand at."""


_Loader.add_multi_constructor("!", lambda loader, tag, node: f"{tag} {node.value}")


def _plain(value: Any) -> Any:
    """Return a value of YAML without dates and keys that JSON has not."""
    return json.loads(json.dumps(value, default=str))


def as_json(value: Any) -> bytes:
    """Return a JSON text as other writers write it: lone surrogates escaped."""
    return json.dumps(value).encode()


def seeds(*paths: Path) -> tuple[bytes, ...]:
    """Return what stands in files."""
    return tuple(path.read_bytes() for path in paths)

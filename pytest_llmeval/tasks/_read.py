"""The mapping of a task file, with the line of each key."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from pytest_llmeval.config import Section
from pytest_llmeval.config.files import inside, read_text, shown_path
from pytest_llmeval.config.yamlfile import YamlFile
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.tasks._task import FunctionName

__all__ = ["read_mapping"]

#: As task files write them; ``no`` and ``yes`` stay texts, for they are choices too.
_WORDS: Final = {"True": True, "False": False, "TRUE": True, "FALSE": False}


def read_mapping(path: Path, root: Path) -> Section:
    """Return the mapping at the top of a task file.

    Args:
        path: The file.
        root: Where it must lie.

    Raises:
        ConfigError: It can't be read, isn't YAML, or isn't a mapping.
    """
    shown = shown_path(path, root)
    inside(path, root, shown=shown, error=ConfigError)
    file = YamlFile(
        read_text(path, shown=shown, error=ConfigError),
        shown=shown,
        error=ConfigError,
        words=_WORDS,
        tags={"!function": lambda text: FunctionName(name=text.strip(), file=path)},
    )
    data: Any = None if file.root is None else file.value(file.root)
    if not isinstance(data, dict):
        message = f"a mapping is expected (task:, dataset:, ...), not {data!r:.60}"
        raise file.fail(1, message)
    return Section(data=data, what="the task", shown=shown, lines=file.key_lines())

"""YAML: a list of mappings, each with the line of its item."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_llmeval.config.yamlfile import YamlFile
from pytest_llmeval.errors import DatasetError

__all__ = ["read_yaml"]


def read_yaml(text: str, shown: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a YAML text.

    Args:
        text: The file's text.
        shown: Its name in error texts.

    Raises:
        DatasetError: It isn't YAML, or not a list of mappings.
    """
    file = YamlFile(text, shown=shown, error=DatasetError)
    if file.root is None:
        message = f"{shown}: the file is empty, and a list of cases is expected"
        raise DatasetError(message)
    if file.root.id != "sequence":
        what = {"mapping": "one mapping", "scalar": "one text"}[file.root.id]
        message = f"the file holds {what}, and a list of cases is expected: - id: ..."
        raise file.fail(file.line(file.root), message)
    for number, (node, row) in enumerate(file.items(file.root), start=1):
        if not isinstance(row, dict):
            message = (
                f"item {number} of the list, counted from 1, is {str(row)[:60]!r}, and "
                f"a case is a mapping"
            )
            raise file.fail(file.line(node), message)
        yield file.line(node), row

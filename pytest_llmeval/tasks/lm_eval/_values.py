"""Values of a task file's keys, each told with its line where it can't be used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_llmeval.errors import ConfigError, UserError
from pytest_llmeval.tasks._task import FunctionName
from pytest_llmeval.tasks.lm_eval._dataset import Dataset
from pytest_llmeval.tasks.lm_eval._docs import Docs, reader
from pytest_llmeval.tasks.lm_eval._functions import Functions
from pytest_llmeval.tasks.lm_eval._include import Keys

__all__ = ["docs_of", "function_of", "processed", "reader_of", "tags_of", "text_of"]


def tags_of(keys: Keys) -> tuple[str, ...]:
    """Return the marks of a task's cases."""
    if isinstance(keys.data.get("tag"), str):
        return (keys.data["tag"],)
    return keys.section("tag").texts("tag")


def text_of(keys: Keys, key: str, default: str) -> str:
    """Return the text of a key.

    Raises:
        ConfigError: Its value can't be used; the text has file and line.
    """
    value = keys.data.get(key, default)
    if not isinstance(value, str):
        raise keys.fail(f"{key} is a text, not {value!r:.60}", key)
    return value


def reader_of(keys: Keys, key: str, functions: Functions) -> Any:
    """Return what reads a field of a row as a key says, None without one.

    Raises:
        ConfigError: Its value can't be used; the text has file and line.
    """
    try:
        return reader(keys.data.get(key) or None, functions)
    except UserError as exc:
        raise keys.fail(f"{key}: {exc}", key) from exc


def function_of(keys: Keys, key: str, functions: Functions) -> Any:
    """Return the function that a key names, None without one.

    Raises:
        ConfigError: Its value can't be used; the text has file and line.
    """
    value = keys.data.get(key)
    if value is None:
        return None
    if not isinstance(value, FunctionName):
        raise keys.fail(f"{key} is !function module.name, not {value!r:.60}", key)
    try:
        return functions.resolved(value)
    except ConfigError as exc:
        raise keys.fail(f"{key}: {exc}", key) from exc


def docs_of(keys: Keys, functions: Functions, reads_lists: bool) -> Docs:
    """Return what reads rows: their texts, targets and choices.

    Raises:
        ConfigError: Its value can't be used; the text has file and line.
    """
    for key in ("doc_to_text", "doc_to_target", "doc_to_choice", "gen_prefix"):
        if not isinstance(keys.data.get(key), Mapping):
            reader_of(keys, key, functions)  # a mistake is told with its line
    return Docs(keys.data, functions, reads_lists=reads_lists)


def processed(keys: Keys, rows: Dataset, process: Any, key: str) -> Dataset:
    """Return what process_docs makes of a split.

    Raises:
        ConfigError: It raised something; the text has file and line.
    """
    if process is None:
        return rows
    try:
        found = process(rows)
    except Exception as exc:
        message = f"{key} raised {type(exc).__name__}: {exc}"
        raise keys.fail(message, key) from exc
    if not isinstance(found, Dataset):
        made = list(found)
        found = Dataset(made, [None] * len(made))
    return found

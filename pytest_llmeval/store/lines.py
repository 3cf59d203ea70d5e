"""JSON texts of one line, and the folder that is nobody's business but ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.types import clean_json

__all__ = ["parse", "prepare_home", "strict_json"]

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def strict_json(value: Any) -> str:
    """Return `value` as JSON of one line that any reader and UTF-8 can take.

    Numbers that JSON has no word for and lone surrogates are written as their text.
    """
    try:
        text = _dump(value)
        # Only now would a lone surrogate show.
        text.encode()
    except (TypeError, ValueError):
        return _dump(clean_json(value))
    return text


def _dump(value: Any) -> str:
    return _ENCODER.encode(value)


def parse(text: bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: It is none: broken, cut, no UTF-8, not a number, nested too deep.
    """
    try:
        return json.loads(text.decode("utf-8"), parse_constant=_refuse)
    except RecursionError as exc:
        message = "it is nested too deep"
        raise ValueError(message) from exc


def _refuse(name: str) -> None:
    message = f"{name} is no JSON number"
    raise ValueError(message)


def prepare_home(directory: Path) -> None:
    """Make `.llmeval` with a .gitignore of its own, so that nobody commits it.

    Raises:
        OSError: It can't be made or written to.
    """
    directory.mkdir(parents=True, exist_ok=True)
    ignore = directory / ".gitignore"
    if not ignore.exists():
        ignore.write_text(
            "# Of pytest-llmeval: journals, failures and a cache.\n*\n", "utf-8"
        )

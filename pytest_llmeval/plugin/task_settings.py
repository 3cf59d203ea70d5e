"""Values of the options about YAML tasks."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from pytest_llmeval.errors import ConfigError

__all__ = ["gen_kwargs", "truth"]


def truth(name: str, value: str | None) -> bool | None:
    """Return what true or false stands for, None for nothing.

    Raises:
        ConfigError: It is neither.
    """
    if value not in {None, "true", "false"}:
        message = f"--llmeval-{name} is true or false, not {value!r}"
        raise ConfigError(message)
    return None if value is None else value == "true"


def gen_kwargs(value: str | None) -> dict[str, Any]:
    """Return the mapping of ``temperature=0.2,until=END``, or of a JSON object.

    Raises:
        ConfigError: It is neither.
    """
    if value is None:
        return {}
    if value.lstrip().startswith("{"):
        with suppress(ValueError):
            return dict(json.loads(value))
    pairs = [part.partition("=") for part in value.split(",")]
    if any(not name.strip() or not equals for name, equals, _ in pairs):
        message = f"--llmeval-gen-kwargs is KEY=VALUE,KEY=VALUE or a JSON object, not {value!r}"
        raise ConfigError(message)
    return {name.strip(): _literal(text.strip()) for name, _, text in pairs}


def _literal(text: str) -> Any:
    """Return a number, true or false for what is written so, else the text."""
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text

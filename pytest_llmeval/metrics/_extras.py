"""Optional dependencies: imported when a metric needs them, or one line that says so."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pytest_llmeval.errors import MissingExtraError

__all__ = ["needed"]


def needed(module: str, *, extra: str, metric: str) -> Any:
    """Return a module of an extra.

    Args:
        module: Its import name.
        extra: The extra of ours that installs it.
        metric: What needs it, for the error.

    Raises:
        MissingExtraError: It isn't installed; the text has the command.
    """
    try:
        return import_module(module)
    except ImportError as exc:
        missing = (exc.name or module).partition(".")[0]
        message = (
            f"{metric} needs the extra {extra!r} (no module {missing!r}): "
            f"pip install 'pytest-llm-regression[{extra}]'"
        )
        raise MissingExtraError(message) from exc

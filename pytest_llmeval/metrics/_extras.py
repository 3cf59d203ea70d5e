"""Optional dependencies: imported when a metric needs them, or one line that says so."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pytest_llmeval.errors import MissingExtraError

__all__ = ["check_extra", "needed"]


def check_extra(metric: str, extra: str, module: str) -> None:
    """Refuse a metric whose extra isn't installed, without importing it.

    Raises:
        MissingExtraError: It isn't installed; the text has the command.
    """
    if sys.modules.get(module, find_spec) is None or find_spec(module) is None:
        raise _missing(metric, extra, module)


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
        raise _missing(metric, extra, missing) from exc


def _missing(metric: str, extra: str, module: str) -> MissingExtraError:
    return MissingExtraError(
        f"{metric} needs the extra {extra!r} (no module {module!r}): "
        f"pip install 'pytest-llm-regression[{extra}]'"
    )

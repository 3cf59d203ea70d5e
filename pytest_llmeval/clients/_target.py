"""The object of a user's that ``python:package.module:name`` names."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from pytest_llmeval.errors import ConfigError, did_you_mean

__all__ = ["import_target", "is_client"]

#: Methods of which one makes an object a client.
_METHODS = ("generate", "loglikelihood", "loglikelihood_rolling", "embed")


def is_client(value: Any) -> bool:
    """Return whether a value can be asked: a callable, or an object with a method."""
    return callable(value) or any(hasattr(value, name) for name in _METHODS)


def import_target(path: str, *, root: Path) -> Any:
    """Return the object ``package.module:name`` names.

    Args:
        path: What follows ``python:`` in a spec.
        root: Root directory of the suite; modules there are found without set-up.

    Raises:
        ConfigError: It can't be imported, or it is not a callable or a `Client`.
    """
    module_name, _, name = path.partition(":")
    if not module_name or not name:
        message = f"python:{path} is not of the form python:package.module:name"
        before, dot, last = path.rpartition(".")
        if dot and ":" not in path:
            message += f" (did you mean 'python:{before}:{last}'?)"
        raise ConfigError(message)
    if str(root) not in sys.path:
        sys.path.append(str(root))
    try:
        found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as exc:
        message = f"python:{path}: importing {module_name!r} raised {exc!r}"
        raise ConfigError(message + _where(exc, module_name)) from exc
    for part in name.split("."):
        if not hasattr(found, part):
            there = [n for n in vars(found) if not n.startswith("_")]
            message = (
                f"python:{path}: {module_name!r} has no {part!r}"
                f"{did_you_mean(part, there)}; it has: {', '.join(there) or 'nothing'}"
            )
            raise ConfigError(message)
        found = getattr(found, part)
    if not is_client(found):
        message = f"python:{path} is {found!r:.80}, neither callable nor a Client"
        raise ConfigError(message)
    return found


def _where(exc: BaseException, module_name: str) -> str:
    """Return where the module itself was looked for, if it is what was not found."""
    names = {module_name, module_name.partition(".")[0]}
    if not isinstance(exc, ModuleNotFoundError) or exc.name not in names:
        return ""
    return (
        "; it is looked for in the root directory and where Python looks: pip install "
        "-e . adds your package, and pytest's ini key pythonpath a folder like src"
    )

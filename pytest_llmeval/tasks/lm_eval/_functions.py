"""Python functions that a task file names: ``!function module.name``."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_llmeval.config.files import inside, shown_path
from pytest_llmeval.errors import ConfigError, did_you_mean
from pytest_llmeval.tasks._task import FunctionName, TaskOptions
from pytest_llmeval.tasks.lm_eval._dataset import stand_in

__all__ = ["Functions"]


class Functions:
    """Imports what ``!function`` names, each file once.

    Args:
        options: Whether that is allowed, and in which folder.
    """

    def __init__(self, options: TaskOptions) -> None:
        self._options = options
        self._modules: dict[Path, Any] = {}

    def resolved(self, name: FunctionName) -> Callable[..., Any]:
        """Return the function.

        Raises:
            ConfigError: Functions are not allowed, the file is not there or lies
                outside the root directory, it can't be imported, or has no such name.
        """
        if not self._options.allow_functions:
            message = (
                f"{name!r} runs code: allow it by the ini key llmeval_allow_functions = "
                f"true"
            )
            raise ConfigError(message)
        module_name, _, attribute = name.name.rpartition(".")
        if not module_name or not all(p.isidentifier() for p in name.name.split(".")):
            message = f"{name!r}: module.name of a file beside the task is expected"
            raise ConfigError(message)
        path = name.file.parent.joinpath(*module_name.split(".")).with_suffix(".py")
        module = self._module(path, name)
        found = getattr(module, attribute, None)
        if not callable(found):
            names = [n for n in vars(module) if not n.startswith("_")]
            message = (
                f"{name!r}: {shown_path(path, self._options.root)} has no function "
                f"{attribute!r}{did_you_mean(attribute, names)}"
            )
            raise ConfigError(message)
        function: Callable[..., Any] = found
        return function

    def _module(self, path: Path, name: FunctionName) -> Any:
        shown = shown_path(path, self._options.root)
        inside(path, self._options.root, shown=shown, error=ConfigError)
        if path in self._modules:
            return self._modules[path]
        if not path.is_file():
            message = f"{name!r}: there is no file {shown}"
            raise ConfigError(message)
        spec = importlib.util.spec_from_file_location(f"llmeval_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        try:
            with _datasets():
                spec.loader.exec_module(module)
        except ImportError as exc:
            message = f"{name!r}: {shown} needs what is not installed: {exc}"
            raise ConfigError(message) from exc
        except Exception as exc:
            message = f"{name!r}: importing {shown} raised {type(exc).__name__}: {exc}"
            raise ConfigError(message) from exc
        self._modules[path] = module
        return module


@contextmanager
def _datasets() -> Iterator[None]:
    """Let code import ``datasets`` although it is not installed."""
    if "datasets" in sys.modules or importlib.util.find_spec("datasets") is not None:
        yield
        return
    sys.modules["datasets"] = stand_in()
    try:
        yield
    finally:
        del sys.modules["datasets"]

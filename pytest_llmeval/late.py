"""Names of a package that are loaded on first use.

A run pays for what it uses: one that judges nothing never loads the judges.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["late"]


def late(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package (PEP 562) that loads its names late.

    Args:
        package: Its ``__name__``.
        modules: Each name, and the module of the package that has it.
    """

    def load(name: str) -> Any:
        if name not in modules:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        value = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load

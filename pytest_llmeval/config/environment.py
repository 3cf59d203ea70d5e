"""The environment, read while another thread changes it.

pytest sets and deletes PYTEST_CURRENT_TEST around every phase of a test, and bodies run
on threads: who goes through the variables then trips over one that is gone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

__all__ = ["environment", "steadily"]

_T = TypeVar("_T")
_TIMES = 100


def environment(**changes: str) -> dict[str, str]:
    """Return a copy of the environment with some variables set anew."""
    found = {name: os.environ.get(name) for name in list(os.environ)}
    kept = {name: value for name, value in found.items() if value is not None}
    return {**kept, **changes}


def steadily(look: Callable[[], _T]) -> _T:
    """Return what a function of others finds in the environment.

    Args:
        look: Goes through all variables; done again when one was gone meanwhile.
    """
    for _ in range(_TIMES):
        try:
            return look()
        except KeyError:
            continue
    return look()

"""Why a body must not run beside others: it touches what a process has only once.

A heuristic over the names in its own code: what a helper does stays unseen. It errs
towards running one at a time, and says by which name.
"""

from __future__ import annotations

import dis
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any, Final

__all__ = ["obstacle"]

#: Names whose use changes something for the whole process, or needs the main thread.
_SHARED: Final = frozenset(
    {
        *("warns", "deprecated_call", "catch_warnings", "simplefilter"),
        *("filterwarnings", "patch", "MonkeyPatch", "environ", "putenv", "unsetenv"),
        *("chdir", "fchdir", "umask", "tzset", "setlocale"),
        *("redirect_stdout", "redirect_stderr"),
        *("seed", "manual_seed", "set_seed"),
        *("freeze_time", "travel", "responses", "aioresponses", "respx"),
        *("signal", "alarm", "setitimer", "settrace", "setprofile"),
        *("setrecursionlimit", "setdefaulttimeout", "basicConfig", "dictConfig"),
        *("breakpoint", "set_trace"),
    }
)
_STREAMS: Final = frozenset({"stdout", "stderr", "stdin", "argv"})


def obstacle(function: Any) -> str | None:
    """Return why a function can't run beside others, None when nothing is in its way.

    Args:
        function: A test's function or bound method.
    """
    for layer in _layers(function):
        if getattr(layer, "is_hypothesis_test", False):
            return "hypothesis runs it many times"
        if hasattr(layer, "patchings"):
            return "it is decorated with mock.patch"
        code = getattr(layer, "__code__", None)
        if code is None:
            return f"it is a {type(layer).__name__} and no plain function"
        if hasattr(layer, "__wrapped__") and _is_installed(code):
            return (
                f"it is decorated by {layer.__globals__.get('__name__', 'a library')}"
            )
        if (found := _shared_state(code)) is not None:
            return found
    return None


def _layers(function: Any) -> Iterator[Any]:
    """Yield a function and those it wraps."""
    layer = function
    seen: set[int] = set()
    while layer is not None and id(layer) not in seen:
        seen.add(id(layer))
        layer = getattr(layer, "__func__", layer)
        yield layer
        layer = getattr(layer, "__wrapped__", None)


def _is_installed(code: CodeType) -> bool:
    """Return whether code stands in a library: what it does around a body is unknown."""
    path = Path(code.co_filename)
    paths = sysconfig.get_paths()
    return any(path.is_relative_to(paths[n]) for n in ("stdlib", "purelib", "platlib"))


def _shared_state(code: CodeType) -> str | None:
    for part in _codes(code):
        used = sorted(_SHARED.intersection(part.co_names))
        if used:
            return f"its body uses {used[0]!r}"
        for step in dis.get_instructions(part):
            if step.opname in {"STORE_GLOBAL", "DELETE_GLOBAL"}:
                if not str(step.argval).startswith("@py"):
                    return f"its body assigns the global {step.argval!r}"
            elif step.opname == "STORE_ATTR" and step.argval in _STREAMS:
                return f"its body assigns {step.argval!r}"
    return None


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)

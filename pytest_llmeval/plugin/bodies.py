"""Running the body of an evaluation."""

from __future__ import annotations

import dis
import inspect
import warnings
from typing import Any

import pytest

from pytest_llmeval.errors import EvaluationWarning
from pytest_llmeval.plugin.runtime import runtime_of
from pytest_llmeval.recorder import current_sample

__all__ = ["call_body", "warn_if_unchecked"]


def call_body(item: pytest.Function) -> bool | None:
    """Run an async body on the loop thread; leave everything else to pytest.

    Tests that pytest-asyncio or anyio claim by their marks run as those run them.
    """
    __tracebackhide__ = True
    function = item.obj
    claimed = any(item.get_closest_marker(name) for name in ("asyncio", "anyio"))
    if claimed or not inspect.iscoroutinefunction(function):
        return None
    arguments = {name: item.funcargs[name] for name in _argument_names(function)}
    runtime_of(item.config).loop.run(function(**arguments), instead="")
    return True


def _argument_names(function: Any) -> list[str]:
    return [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is inspect.Parameter.empty
    ]


def warn_if_unchecked(item: pytest.Function) -> None:
    """Warn about a body that ended without a check: it can only ever pass."""
    sample = current_sample()
    if sample is None or sample.checks or _has_assert(item.obj):
        return
    message = (
        f"{sample.run.test} checked nothing, so it passes whatever the reply: use an "
        f"assertion helper (assert_f1, assert_judge, ...) or a plain assert"
    )
    warnings.warn(message, EvaluationWarning, stacklevel=2)


def _has_assert(function: Any) -> bool:
    """Return whether the body holds an assert statement, rewritten by pytest or not."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return True
    # "@py_assert1" and the like are names that only pytest's rewriting makes.
    if any(n.startswith("@py") for n in (*code.co_names, *code.co_varnames)):
        return True
    return any(
        step.opname == "LOAD_ASSERTION_ERROR" or step.argval is AssertionError
        for step in dis.get_instructions(code)
    )

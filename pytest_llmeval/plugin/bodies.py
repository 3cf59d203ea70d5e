"""Running the body of an evaluation."""

from __future__ import annotations

import dis
import inspect
import warnings
from functools import cache
from types import CodeType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.errors import ConfigError, EvaluationWarning
from pytest_llmeval.plugin._internals import fixture_names
from pytest_llmeval.plugin.runtime import runtime_of
from pytest_llmeval.plugin.samples import ends_run
from pytest_llmeval.recorder import begin, current_sample

if TYPE_CHECKING:
    from pytest_llmeval.plugin.run import Run
    from pytest_llmeval.plugin.siblings import Evaluation

__all__ = [
    "argument_names",
    "call_body",
    "call_samples",
    "check_returned",
    "claimed_by",
    "warn_if_unchecked",
]


def claimed_by(item: pytest.Item) -> str | None:
    """Return the plugin that runs an item's body by its own marks, None: we do."""
    for name in ("asyncio", "anyio"):
        if item.get_closest_marker(name):
            return {"asyncio": "pytest-asyncio"}.get(name, name)
    return None


def call_body(item: pytest.Function) -> bool | None:
    """Run an async body on the loop thread; leave everything else to pytest.

    Tests that pytest-asyncio or anyio claim by their marks run as those run them.
    """
    __tracebackhide__ = True
    function = item.obj
    if not inspect.iscoroutinefunction(function) or claimed_by(item):
        return None
    arguments = {name: item.funcargs[name] for name in argument_names(function)}
    loop = runtime_of(item.config).loop
    result = loop.run(function(**arguments), instead="", is_body=True)
    check_returned(item, result)
    return True


def call_samples(item: Evaluation, run: Run) -> bool | None:
    """Run the body of a repeated case once for each sample, one after another.

    Raises:
        UserError: Another plugin runs it, and it would run once.
    """
    __tracebackhide__ = True
    samples = run.samples_of(item)
    if not samples.are_several:
        return None
    if (plugin := claimed_by(item)) is not None:
        message = (
            f"{plugin} runs this test, and runs it once: without its mark the body can "
            f"run {len(samples.runs)} times (repeat)"
        )
        raise ConfigError(message)
    if "subtests" in fixture_names(item):
        message = (
            "the fixture 'subtests' reports parts of a case by itself, and the body of "
            f"this one runs {len(samples.runs)} times (repeat): use one of the two"
        )
        raise ConfigError(message)
    for sample in samples.runs:
        begin(sample)
        try:
            samples.body(sample.index, lambda: _call_once(item))()
        except BaseException as exc:
            if ends_run(exc):
                raise
    error = run.conclude(item, samples)
    if error is not None:
        raise error
    return True


def _call_once(item: Evaluation) -> None:
    __tracebackhide__ = True
    if not isinstance(item, pytest.Function) or call_body(item) is None:
        names = argument_names(item.obj)
        check_returned(item, item.obj(**{n: item.funcargs[n] for n in names}))


def argument_names(function: Any) -> tuple[str, ...]:
    """Return the names of what a test's function takes from fixtures."""
    return tuple(
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is inspect.Parameter.empty
    )


def check_returned(item: pytest.Item, value: Any) -> None:
    """Warn, as pytest does, about a body that returned something.

    Raises:
        pytest.fail.Exception: It returned what was to be awaited.
    """
    if value is None:
        return
    if inspect.isawaitable(value) or hasattr(value, "__aiter__"):
        if inspect.iscoroutine(value):
            value.close()
        text = "the test returned a {} that nobody awaits: make it async def"
        pytest.fail(text.format(type(value).__name__), pytrace=False)
    message = (
        f"Test functions should return None, but {item.nodeid} returned "
        f"{type(value)!r}.\nDid you mean to use `assert` instead of `return`?"
    )
    warnings.warn(pytest.PytestReturnNotNoneWarning(message), stacklevel=2)


def warn_if_unchecked(item: pytest.Function) -> None:
    """Warn about a body that ended without a check: it can only ever pass."""
    sample = current_sample()
    if sample is None or sample.checks or _has_assert(item.obj):
        return
    sample.checked_nothing = True
    message = (
        f"{sample.run.test} checked nothing, so it passes whatever the reply: use an "
        f"assertion helper (assert_f1, assert_judge, ...) or a plain assert"
    )
    warnings.warn(message, EvaluationWarning, stacklevel=2)


def _has_assert(function: Any) -> bool:
    """Return whether the body holds an assert statement, rewritten by pytest or not."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code is None or _asserts(code)


@cache
def _asserts(code: CodeType) -> bool:
    # "@py_assert1" and the like are names that only pytest's rewriting makes.
    if any(n.startswith("@py") for n in (*code.co_names, *code.co_varnames)):
        return True
    return any(
        step.opname == "LOAD_ASSERTION_ERROR" or step.argval is AssertionError
        for step in dis.get_instructions(code)
    )

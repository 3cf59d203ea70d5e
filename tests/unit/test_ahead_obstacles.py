"""Which bodies must not run beside others, as far as their own code says."""

from __future__ import annotations

import functools
import os
import random
import sys
import warnings
from contextlib import contextmanager, redirect_stdout
from typing import Any
from unittest import mock

import pytest

from pytest_llmeval.ahead import obstacle

COUNT = 0


def plain(case: Any, generator: Any) -> None:
    response = generator(case)
    assert response.text == case.input


async def plain_async(case: Any, generator: Any) -> None:
    assert (await generator.acall(case)).text


def warns() -> None:
    with pytest.warns(UserWarning, match="x"):
        pass


def catches() -> None:
    with warnings.catch_warnings():
        pass


def changes_environment() -> None:
    os.environ["A"] = "b"


def seeds() -> None:
    random.seed(1)


def redirects() -> None:
    with redirect_stdout(sys.stderr):
        pass


def assigns_stdout() -> None:
    sys.stdout = sys.stderr


def counts() -> None:
    global COUNT
    COUNT += 1


def hides_it_in_a_function() -> None:
    def inner() -> None:
        os.chdir("/")

    inner()


def breaks() -> None:
    breakpoint()


@mock.patch("os.getcwd")
def patched(getcwd: Any) -> None: ...


@contextmanager
def library_context() -> Any:
    yield


@library_context()
def decorated_by_a_library() -> None: ...


def own_decorator(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


@own_decorator
def decorated(case: Any) -> None:
    assert case


@own_decorator
def decorated_and_seeding(case: Any) -> None:
    random.seed(case)


class Suite:
    def method(self) -> None: ...


@pytest.mark.parametrize(
    "function", [plain, plain_async, decorated, Suite().method, lambda: None]
)
def test_nothing_is_in_the_way(function: Any) -> None:
    assert obstacle(function) is None


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (warns, "its body uses 'warns'"),
        (catches, "its body uses 'catch_warnings'"),
        (changes_environment, "its body uses 'environ'"),
        (seeds, "its body uses 'seed'"),
        (redirects, "its body uses 'redirect_stdout'"),
        (assigns_stdout, "its body assigns 'stdout'"),
        (counts, "its body assigns the global 'COUNT'"),
        (hides_it_in_a_function, "its body uses 'chdir'"),
        (breaks, "its body uses 'breakpoint'"),
        (patched, "it is decorated with mock.patch"),
        (decorated_by_a_library, "it is decorated by contextlib"),
        (decorated_and_seeding, "its body uses 'seed'"),
        (functools.partial(plain), "it is a partial and no plain function"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_in_the_way_is_named(function: Any, reason: str) -> None:
    assert obstacle(function) == reason


def test_a_test_of_hypothesis_is_left_to_it() -> None:
    from hypothesis import given
    from hypothesis import strategies as st

    @given(st.integers())
    def drawn(number: int) -> None: ...

    assert obstacle(drawn) == "hypothesis runs it many times"

"""Metrics of a user: by decorator, by a hook, by the place of a function."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval import assert_metric, metrics
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics import _custom, get_metric, metric, register_all, score

MODULE = """
from pytest_llmeval.metrics import metric

def polite(text, expected, *, word="please"):
    return word in text, f"no {word}"

@metric("shouting", higher_is_better=False, version=3)
def shouting(text, expected):
    return sum(c.isupper() for c in text) / max(len(text), 1)

class Grammar:
    @staticmethod
    def ok(text, expected):
        return 0.5

LIMIT = 3
"""


@pytest.fixture(autouse=True)
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "own_app.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("own_app", None)
    _custom.REGISTERED.clear()


def test_a_function_is_found_by_its_place() -> None:
    found = score("own_app:polite", "yes please", "x")

    assert (found.metric, found.value) == ("own_app:polite", 1)
    assert_metric("yes thanks", "x", "own_app:polite", threshold=1, word="thanks")
    assert float(score("own_app:Grammar.ok", "a", "b")) == 0.5


def test_a_decorated_one_keeps_what_it_declares() -> None:
    declaration = get_metric("own_app:shouting").declaration

    assert (declaration.name, declaration.version) == ("shouting", 3)
    assert not declaration.higher_is_better


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no_such_module:f", "can't import 'no_such_module': No module named"),
        ("own_app:polit", "own_app has no function 'polit' (did you mean 'polite'?)"),
        ("own_app:LIMIT", "own_app has no function 'LIMIT'"),
        ("own_app:", "own_app has no function ''"),
    ],
)
def test_a_place_without_a_function_is_told(path: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        score(path, "a", "b")

    assert str(caught.value).startswith(f"metric {path!r}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("name", [["f1"], None, 3])
def test_a_metric_is_named_by_a_text(name: Any) -> None:
    with pytest.raises(ConfigError, match="a metric is named by a text"):
        metrics.score(name, "a", "b")


def test_a_hook_may_give_plain_functions_by_name() -> None:
    def length(text: str, expected: Any) -> float:
        return len(text) / 10

    register_all({"length": length}, "the hook")
    register_all({"length": length}, "the hook")  # by a second conftest, or run

    assert float(score("length", "abcde", "x")) == 0.5


def test_a_hook_may_list_decorated_functions() -> None:
    @metric("blank")
    def blank(text: str, expected: Any) -> bool:
        return not text.strip()

    register_all([blank], "the hook")
    register_all(None, "the hook")

    assert float(score("blank", " ", "x")) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("f1", "the hook returns a list or a mapping of metrics, not 'f1'"),
        (3, "the hook returns a list or a mapping of metrics, not 3"),
        ([len], "the hook lists <built-in function len>, which is not decorated"),
        ({"a": 3}, "the hook: metric 'a' is 3, no function"),
        ({"f1": len}, "'f1' is a built-in metric: give yours another name"),
        ({"a b": len}, "'a b' can't be the name of a metric"),
    ],
)
def test_what_a_hook_cant_give_is_refused(given: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        register_all(given, "the hook")

    assert str(caught.value).startswith(message)

"""The key of a reply: everything that changes the answer, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.clients import Clients, Request
from pytest_llmeval.config import Config, Limits
from pytest_llmeval.store.key import canonical, normal, request_key
from pytest_llmeval.types import Message, Prompt

XY, Z = Message(role="user", content="xy"), Message(role="user", content="z")
PARAMS = {"temperature": 0, "max_tokens": 16}


def key(
    *messages: Message,
    limits: Limits | None = None,
    sample: int = 0,
    params: dict[str, Any] | None = None,
    **entry: Any,
) -> str:
    """Return the key of the base request with some of it changed."""
    clients = Clients(Config(limits=limits or Limits()), Path(), "live")
    backend = clients.backend(
        {
            "provider": "openai",
            "base_url": "http://a/v1",
            "model": "m1",
            "params": PARAMS if params is None else params,
            **entry,
        }
    )
    prompt = Prompt(messages=messages or (XY, Z))
    return request_key(backend.identity(Request(prompt=prompt)), sample)


def user(text: str) -> Message:
    return Message(role="user", content=text)


@pytest.mark.parametrize(
    "changed",
    [
        {"model": "m2"},
        {"base_url": "http://b/v1"},
        {"base_url": "http://a/v1?api-version=2"},
        {"api": "completions"},
        {"params": {**PARAMS, "temperature": 0.7}},
        {"params": {"max_tokens": 16}},
        {"params": {**PARAMS, "max_tokens": 4000}},
        {"params": {**PARAMS, "seed": 1}},
        {"params": {**PARAMS, "stop": ["."]}},
        {"params": {**PARAMS, "response_format": {"type": "json_object"}}},
        {"sample": 1},
    ],
    ids=json.dumps,
)
def test_what_changes_the_answer_changes_the_key(changed: dict[str, Any]) -> None:
    assert key(**changed) != key()


@pytest.mark.parametrize(
    "messages",
    [
        (Message(role="system", content="be short"), XY, Z),
        (user("x"), user("yz")),
        (user("xyz"),),
        (Message(role="assistant", content="xy"), Z),
        (user("xy"), user("z ")),
        (Message(role="user", content="xy", extra={"name": "a"}), Z),
    ],
)
def test_other_messages_have_another_key(messages: tuple[Message, ...]) -> None:
    assert key(*messages) != key()


@pytest.mark.parametrize(
    "changed",
    [
        {"params": {"max_tokens": 16, "temperature": 0}},
        {"params": {"max_tokens": 16.0, "temperature": 0.0}},
        {"api_key_env": "ANOTHER_KEY"},
        {"headers": {"X-Team": "${TEAM}"}},
        {"limits": Limits(timeout_seconds=1, retries=0, deadline_seconds=2)},
        {"limits": Limits(concurrency=1)},
        {"base_url": "http://a/v1/"},
        {"ca_bundle": "corp.pem"},
        {"prices": {"input": 1.0}},
    ],
    ids=str,
)
def test_whose_key_and_how_long_it_may_take_is_no_part_of_it(
    changed: dict[str, Any],
) -> None:
    assert key(**changed) == key()


def test_another_key_in_the_address_is_the_same_address() -> None:
    first, second = (
        key(base_url=f"http://a/v1?key=sk-{letter * 12}") for letter in "ab"
    )

    assert first == second != key()


def test_a_variable_in_the_address_counts_as_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unset = key(base_url="http://a/v1?key=${LAB_KEY}")
    monkeypatch.setenv("LAB_KEY", "sk-test-0123456789")

    assert key(base_url="http://a/v1?key=${LAB_KEY}") == unset


def test_a_key_is_the_same_on_every_machine() -> None:
    assert request_key({"model": "m", "messages": ["é", 1.0]}, 0) == (
        "65ea9fa7fc6fb5694948bde7c7d311ab"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": "1"}),
        ({"a": 1}, {"a": True}),
        ({"a": None}, {}),
        ({"a": []}, {"a": {}}),
        ({"a": ["b", "c"]}, {"a": ["c", "b"]}),
        ({"a": "\u00e9"}, {"a": "e\u0301"}),
        ({"a": 10**20}, {"a": 10**20 + 1}),
    ],
)
def test_canonical_forms_differ(one: Any, other: Any) -> None:
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", 1e300, -0.0])
def test_any_value_has_a_canonical_form(value: Any) -> None:
    assert json.loads(canonical({"a": value})) is not None


class Text(str):
    """A text of an application's own kind."""


def test_texts_and_mappings_of_other_kinds_are_what_they_hold() -> None:
    from types import MappingProxyType

    own: dict[Any, Any] = {
        "a": (Text("x"), MappingProxyType({"b": 1.0})),
        7: None,
        "t": True,
    }

    assert canonical(own) == '{"7":null,"a":["x",{"b":1}],"t":true}'
    assert normal(own) == {"7": None, "a": ["x", {"b": 1}], "t": True}

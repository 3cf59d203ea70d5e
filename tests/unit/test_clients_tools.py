"""Tool calls, definitions and choices in one form."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval.clients._structured import is_strict
from pytest_llmeval.clients._tools import (
    arguments_text,
    calls_of_chat,
    chosen,
    definition,
    neutral_call,
)
from pytest_llmeval.clients._values import at_path, count_of, known_sum


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ('{"city": "Paris"}', {"city": "Paris"}),
        ({"city": "Paris"}, {"city": "Paris"}),
        ("[1, 2]", [1, 2]),
        ("7", 7),
        ("", {}),
        (" ", {}),
        (None, {}),
        ('{"city": "Par', '{"city": "Par'),
        ('{"n": NaN}', '{"n": NaN}'),
        ("[" * 100_000, "[" * 100_000),
        ("Paris", "Paris"),
    ],
)
def test_arguments_are_parsed_or_stay_the_text_they_were(
    arguments: Any, read: Any
) -> None:
    call = neutral_call("c1", "weather", arguments)

    assert call == {"id": "c1", "name": "weather", "arguments": read}


@pytest.mark.parametrize("call_id", [None, "", 7])
def test_a_call_without_an_id_has_none(call_id: Any) -> None:
    assert neutral_call(call_id, "f", "{}")["id"] is None


def test_calls_are_read_in_openais_form_and_in_ours() -> None:
    read = [{"id": "c1", "name": "f", "arguments": {"a": 1}}]

    assert calls_of_chat(read) == read
    theirs = {"id": "c1", "function": {"name": "f", "arguments": '{"a": 1}'}}
    assert calls_of_chat([theirs, None, "x"]) == read
    assert calls_of_chat(None) == []


def test_a_custom_tool_has_its_text_as_arguments() -> None:
    call = {"id": "c1", "type": "custom", "custom": {"name": "f", "input": "ls -l"}}

    assert calls_of_chat([call]) == [{"id": "c1", "name": "f", "arguments": "ls -l"}]


def test_arguments_as_text() -> None:
    assert arguments_text({"arguments": {"a": "é"}}) == '{"a": "é"}'
    assert arguments_text({"arguments": '{"a": '}) == '{"a": '


PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
FOUND = {"name": "weather", "parameters": PARAMETERS}


@pytest.mark.parametrize(
    ("tool", "found"),
    [
        (FOUND, FOUND),
        ({"type": "function", **FOUND}, FOUND),
        ({"type": "function", "function": FOUND}, FOUND),
        ({**FOUND, "description": None}, FOUND),
        ({**FOUND, "strict": True}, {**FOUND, "strict": True}),
        ({"type": "function", "function": {"name": "f"}}, {"name": "f"}),
        ({"type": "web_search"}, None),
        ({"type": "web_search_20250305", "name": "web_search"}, None),
        ({"googleSearch": {}}, None),
        ({"name": "f", "input_schema": PARAMETERS}, None),
        ("web_search", None),
    ],
)
def test_definitions_are_ours_or_the_providers_own(tool: Any, found: Any) -> None:
    assert definition(tool) == found


@pytest.mark.parametrize(
    ("choice", "name", "other"),
    [
        ("auto", None, "auto"),
        ("required", None, "ANY"),
        ({"name": "f"}, "f", None),
        ({"type": "function", "name": "f"}, "f", None),
        ({"type": "function", "function": {"name": "f"}}, "f", None),
        ({"type": "tool", "name": "f"}, None, {"type": "tool", "name": "f"}),
        ({"type": "any"}, None, {"type": "any"}),
    ],
)
def test_a_choice_names_a_tool_or_says_a_word(
    choice: Any, name: str | None, other: Any
) -> None:
    assert chosen(choice, {"required": "ANY"}) == (name, other)


CLOSED = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
OPEN = {**CLOSED, "additionalProperties": True}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (CLOSED, True),
        (OPEN, False),
        ({**CLOSED, "required": []}, False),
        ({k: v for k, v in CLOSED.items() if k != "required"}, False),
        ({"type": "array", "items": CLOSED}, True),
        ({"type": "array", "items": OPEN}, False),
        ({"anyOf": [CLOSED, {"type": "null"}]}, True),
        ({"anyOf": [CLOSED, OPEN]}, False),
        ({**CLOSED, "properties": {"a": OPEN}}, False),
        ({**CLOSED, "$defs": {"x": OPEN}}, False),
        ({"type": "string"}, True),
    ],
)
def test_only_closed_schemas_are_strict(schema: Any, strict: bool) -> None:
    assert is_strict(schema) is strict


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.0.b", 1),
        ("a.-1.b", 2),
        ("a.2.b", None),
        ("a.-3", None),
        ("a.b", None),
        ("c", None),
        ("c.d", None),
        ("a", [{"b": 1}, {"b": 2}]),
        ("a.²", None),
        ("a.--1", None),
    ],
)
def test_a_dotted_path(path: str, value: Any) -> None:
    assert at_path({"a": [{"b": 1}, {"b": 2}], "c": None}, path) == value


def test_counts() -> None:
    assert [count_of(v) for v in (3, 3.0, 0, -1, True, "3", None, 2.5)] == (
        [3, 3, 0, None, None, None, None, None]
    )
    assert known_sum(1, None, 2) == 3
    assert known_sum(None, None) is None

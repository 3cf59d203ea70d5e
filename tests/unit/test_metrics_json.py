"""JSON replies: read strictly, compared by value, differences told by path."""

from __future__ import annotations

import json as stdlib_json
import sys
from decimal import Decimal
from typing import Any

import pytest

from pytest_llmeval import assert_json
from pytest_llmeval.errors import (
    ConfigError,
    EvalAssertionError,
    MissingExtraError,
    UnscoredError,
)
from pytest_llmeval.metrics import explain, json
from pytest_llmeval.types import Case, Response, Source

PRICES = {"items": [{"price": 1}, {"price": 2}, {"price": 10}]}


@pytest.mark.parametrize(
    "reply",
    ["{}", "[]", ' {"a": [1, 2.5e3, null, true]}\n', '"text"', "7", "null", "\ufeff1"],
)
def test_json_is_valid(reply: str) -> None:
    assert json(reply)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "the reply is empty, which is no JSON"),
        ("Paris", "not valid JSON: Expecting value (line 1, column 1)"),
        ('{\n"a": 1,}', "not valid JSON: Illegal trailing comma"),
        ("{'a': 1}", "not valid JSON: Expecting property name"),
        ('{"a": 1} Done.', "not valid JSON: Extra data (line 1, column 10)"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' stands twice in one object"),
        ("[NaN]", "NaN is not JSON"),
        ("-Infinity", "-Infinity is not JSON"),
        ("[" * 100_000, "values are nested too deeply"),
    ],
)
def test_what_is_no_json_fails_and_says_where(reply: str, reason: str) -> None:
    score = json(reply)

    assert score.value == 0
    if "trailing comma" not in reason or sys.version_info >= (3, 13):
        assert score.reason.startswith(reason)


@pytest.mark.parametrize(
    ("reply", "equals"),
    [
        ('{"a": 1, "b": 2}', {"b": 2.0, "a": 1}),
        ("1.50", 1.5),
        ("1.50", Decimal("1.5")),
        ("100000000000000000000", 10**20),
        ("[]", []),
        ("false", False),
        ('{"a": {"b": [{"c": "é"}]}}', {"a": {"b": [{"c": "é"}]}}),
    ],
)
def test_values_are_equal(reply: str, equals: Any) -> None:
    assert json(reply, equals)


@pytest.mark.parametrize(
    ("reply", "equals", "problem"),
    [
        (
            '{"items": [{"price": 1}, {"price": 2}, {"price": "10"}]}',
            PRICES,
            '$.items[2].price: expected 10, got "10" (text)',
        ),
        ("true", 1, "$: expected 1, got true"),
        ("null", 0, "$: expected 0, got null"),
        ('{"a": 1, "b": 2}', {"a": 1}, "$.b: not expected, got 2"),
        ('{"a": 1}', {"a": 1, "b": 2}, "$.b: missing, expected 2"),
        ("[1, 2]", [2, 1], "$[0]: expected 2, got 1"),
        ("[1]", [1, 2], "$: expected 2 items, got 1"),
        ("12345678901234567890", 12345678901234567891, "$: expected 123456789012"),
        ('{"a b": 1}', {"a b": 2}, '$["a b"]: expected 2, got 1'),
    ],
)
def test_values_differ_by_path(reply: str, equals: Any, problem: str) -> None:
    score = json(reply, equals)

    assert score.value == 0
    assert score.details["problems"][0].startswith(problem)


@pytest.mark.parametrize(
    ("reply", "subset", "holds"),
    [
        ('{"a": 1, "b": 2}', {"a": 1}, True),
        ('{"a": {"x": 1, "y": 2}}', {"a": {"y": 2}}, True),
        ('[{"a": 1, "b": 2}, 3]', [{"b": 2}, 3], True),
        ('[{"a": 1}, 3]', [{"a": 1}], False),
        ('{"a": 1}', {"a": 1, "b": 2}, False),
        ('{"a": 1}', {}, True),
        ("[]", {}, False),
    ],
)
def test_a_subset_allows_further_keys(reply: str, subset: Any, holds: bool) -> None:
    assert bool(json(reply, subset=subset)) is holds


def test_fenced_json_counts_only_when_asked() -> None:
    reply = 'Here it is:\n```json\n{"a": 1}\n```\nAnything else?'

    assert json(reply, {"a": 1}, fenced=True)
    assert not json(reply)
    assert json(reply).reason.endswith("which fenced=True looks into")


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("~~~\n[1]\n~~~", [1]),
        ("````json\n[1]\n````", [1]),
        ("```python\nx = 1\n```\n```json\n[1]\n```", [1]),
        ("[1]", [1]),
        ('{"code": "```\\n```"}', {"code": "```\n```"}),
    ],
)
def test_the_one_fence_is_looked_into(reply: str, value: Any) -> None:
    assert json(reply, value, fenced=True)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("```json\n1\n```\n```json\n2\n```", "the reply has 2 fenced blocks, not one"),
        ("```json\nno\n```", "not valid JSON: Expecting value (line 1, column 1)"),
        ("```json\n[1]", "not valid JSON: Expecting value (line 1, column 1)"),
    ],
)
def test_fences_that_hold_no_one_value_fail(reply: str, reason: str) -> None:
    assert json(reply, fenced=True).reason == reason


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
}


def test_a_schema_holds() -> None:
    assert json('{"name": "Ann", "age": 41.0}', schema=SCHEMA)


@pytest.mark.parametrize(
    ("reply", "problems"),
    [
        ('{"age": "41"}', ["$: 'name' is a required property", "$.age: '41' is not"]),
        ("[]", ["$: [] is not of type 'object'"]),
    ],
)
def test_a_schema_is_broken_by_path(reply: str, problems: list[str]) -> None:
    found = json(reply, schema=SCHEMA).details["problems"]

    assert len(found) == len(problems)
    assert all(map(str.startswith, found, problems))


def test_what_is_nested_too_deeply_breaks_a_schema() -> None:
    schema = {"items": {"$ref": "#"}}

    assert json("[" * 900 + "]" * 900, schema=schema).reason == (
        "$: nested too deeply to be held against the schema"
    )


def test_of_several_schemas_the_nearest_says_what_is_wrong() -> None:
    schema = {"anyOf": [{"type": "null"}, {"properties": {"a": {"const": 1}}}]}

    assert json('{"a": 2}', schema=schema).reason == "$.a: 1 was expected"


@pytest.mark.parametrize(
    ("reply", "holds"),
    [
        ('[1, true, "1", [1], {"a": 1}, {"a": true}, null]', True),
        ("[1, 1.0]", False),
        ('[{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}]', False),
        ("[]", True),
        ('"aa"', True),
    ],
)
def test_items_are_unique_by_value(reply: str, holds: bool) -> None:
    assert bool(json(reply, schema={"uniqueItems": True})) is holds
    assert json(reply, schema={"uniqueItems": False})


def test_an_older_dialect_is_kept() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "const": 1}

    assert json("1", schema=schema)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("name.json", "schema is a JSON Schema as a mapping, not 'name.json'"),
        ({"type": "objekt"}, "schema is no valid JSON Schema: $.type: 'objekt' is"),
        ({"$ref": "http://x.test/s.json"}, "schema refers to 'http://x.test/s.json'"),
        ({"$ref": "#/$defs/a"}, "schema refers to '/$defs/a', which is not in it"),
    ],
)
def test_a_schema_that_cant_be_used_is_refused(schema: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        assert_json("{}", schema=schema)

    assert str(caught.value).startswith(message)


def test_without_its_extra_a_schema_has_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)

    with pytest.raises(MissingExtraError) as caught:
        assert_json("{}", schema={})

    assert str(caught.value) == (
        "json with schema= needs the extra 'json' (no module 'jsonschema'): "
        "pip install 'pytest-llm-regression[json]'"
    )
    assert assert_json("{}") == 1  # which needs no extra


@pytest.mark.parametrize("expected", ['{"a": 1}', {"a": 1}])
def test_of_a_case_the_expected_value_is_read_as_json(expected: Any) -> None:
    case = Case(id="a", expected=expected)

    assert json('{"a": 1.0}', case)
    assert json('{"a": 1, "b": 2}', subset=case)


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        (None, "case 'a' (d.jsonl:2) has no expected value to compare the JSON with"),
        ("Paris", "expected of case 'a' (d.jsonl:2) is compared as JSON, and is not"),
    ],
)
def test_a_row_that_holds_no_json_is_unscored(expected: Any, reason: str) -> None:
    case = Case(id="a", expected=expected, source=Source(file="d.jsonl", line=2))

    with pytest.raises(UnscoredError) as caught:
        assert_json("{}", equals=case)

    assert reason in str(caught.value)
    assert caught.value.cause == "data"


def test_a_model_that_replied_with_nothing_is_unscored() -> None:
    with pytest.raises(UnscoredError) as caught:
        assert_json(Response(text="", provider="openai"))

    assert caught.value.cause == "empty"


def test_a_failure_shows_paths_and_reply_in_80_columns() -> None:
    with pytest.raises(EvalAssertionError) as caught:
        assert_json('{"items": [{"price": "10"}]}', equals={"items": [{"price": 10}]})

    assert str(caught.value).splitlines() == [
        'json failed: $.items[0].price: expected 10, got "10" (text)',
        '  diff      $.items[0].price: expected 10, got "10" (text)',
        '  reply     {"items": [{"price": "10"}]}',
    ]


def test_many_differences_are_cut_with_a_note() -> None:
    reply = stdlib_json.dumps({f"key{n}": n for n in range(100)})
    lines = explain(json(reply, {}))
    broken = explain(json("[1, 2]" * 1, schema={"items": {"type": "string"}}))

    assert lines[11].strip() == "… 89 more lines"
    assert all(len(line) <= 70 for line in [*lines, *broken])
    assert broken[0] == "schema    $[0]: 1 is not of type 'string'"


def test_text_of_a_model_comes_out_inert() -> None:
    reply = '{"a\\u001b[31m": "\\u202e", "b": "x"}'

    text = "\n".join(explain(json(reply, {"b": "y"})))

    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "reply", ["`" * 10**6, "```\n" * 250_000, "```json\na\n" * 100_000, "[{" * 500_000]
)
def test_a_megabyte_of_fences_or_brackets_fails(reply: str) -> None:
    assert json(reply, fenced=True).value == 0


def test_a_megabyte_is_read() -> None:
    rows = [{"id": n, "name": f"item {n}", "price": n / 4} for n in range(24_000)]
    reply = stdlib_json.dumps(rows)

    score = json(reply, [*rows[:-1], {}], schema={"uniqueItems": True}, fenced=True)

    assert score.value == 0
    assert len(reply) > 1_000_000

"""Tool calls: four modes, arguments by value, an aligned difference."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval import assert_tool_calls
from pytest_llmeval.errors import ConfigError, EvalAssertionError, UnscoredError
from pytest_llmeval.metrics import explain, tool_calls
from pytest_llmeval.types import Case, Response, Source

SEARCH = {"id": "1", "name": "search", "arguments": {"q": "Paris", "n": 3}}
WEATHER = {"id": "2", "name": "weather", "arguments": {"city": "Paris"}}
MAIL: dict[str, Any] = {"id": "3", "name": "mail", "arguments": {}}


def reply(*calls: dict[str, Any]) -> Response:
    return Response(text="", provider="openai", tool_calls=calls)


@pytest.mark.parametrize(
    ("mode", "holds"),
    [
        # made: search, weather; expected the same, swapped, fewer, more, nothing
        ("strict", [True, False, False, False, False]),
        ("unordered", [True, True, False, False, False]),
        ("subset", [True, True, False, True, False]),
        ("superset", [True, True, True, False, True]),
    ],
)
def test_modes(mode: Any, holds: list[bool]) -> None:
    response = reply(SEARCH, WEATHER)
    expectations = [
        [SEARCH, WEATHER],
        [WEATHER, SEARCH],
        [SEARCH],
        [SEARCH, WEATHER, MAIL],
        [],
    ]

    found = [bool(tool_calls(response, e, mode=mode)) for e in expectations]

    assert found == holds


@pytest.mark.parametrize(
    "expected",
    [
        {"name": "search", "arguments": {"n": 3.0, "q": "Paris"}},
        {"name": "search", "arguments": '{"q": "Paris", "n": 3}'},
        {"type": "function", "function": {"name": "search", "arguments": SEARCH["arguments"]}},
        {"function": {"name": "search", "arguments": '{"n": 3, "q": "Paris"}'}},
        {"name": "search"},
        "search",
    ],
)  # fmt: skip
def test_a_call_may_be_written_in_several_forms(expected: Any) -> None:
    assert tool_calls(reply(SEARCH), [expected])
    assert tool_calls([SEARCH], [expected])


@pytest.mark.parametrize(
    "arguments", [{"q": "Paris"}, {"q": "Paris", "n": "3"}, {"q": "paris", "n": 3}, {}]
)
def test_other_arguments_are_another_call(arguments: dict[str, Any]) -> None:
    assert not tool_calls(reply(SEARCH), [{"name": "search", "arguments": arguments}])


@pytest.mark.parametrize("arguments", ["", None, "{}"])
def test_no_arguments_are_an_empty_object(arguments: Any) -> None:
    call = {"name": "mail", "arguments": arguments}

    assert tool_calls([call], [MAIL])


def test_arguments_that_are_no_json_differ_from_any_object() -> None:
    score = tool_calls([{"name": "mail", "arguments": '{"to": '}], [MAIL])

    assert not score
    assert '$: expected {}, got "{\\"to\\": " (text)' in "\n".join(explain(score))


def test_each_expected_call_takes_one_made() -> None:
    other = {"name": "search", "arguments": {"q": "Rome", "n": 3}}

    assert tool_calls([SEARCH, other], ["search", SEARCH], mode="unordered")
    assert tool_calls([SEARCH, other], [SEARCH, "search"], mode="unordered")
    assert not tool_calls([SEARCH], ["search", SEARCH], mode="unordered")
    assert not tool_calls([SEARCH, SEARCH], [SEARCH], mode="subset")
    assert not tool_calls([SEARCH], [SEARCH, SEARCH], mode="superset")


def test_an_empty_text_with_calls_is_a_reply() -> None:
    assert assert_tool_calls(reply(SEARCH), ["search"]) == 1
    assert assert_tool_calls(reply(), []) == 1


def test_a_failure_aligns_the_calls() -> None:
    expected = [SEARCH, {"name": "weather", "arguments": {"city": "Rome"}}, "book"]

    with pytest.raises(EvalAssertionError) as caught:
        assert_tool_calls(reply(SEARCH, WEATHER, MAIL), expected)

    assert str(caught.value).splitlines() == [
        "tool_calls failed: 3 calls expected, 3 made: 1 missing, 1 not expected, "
        "1 with other arguments",
        '  calls     = search(q="Paris", n=3)',
        '            ~ weather(city="Paris")',
        '                $.city: expected "Rome", got "Paris"',
        "            - book(…)  missing",
        "            + mail()  not expected",
    ]


def test_another_order_is_called_that() -> None:
    score = tool_calls(reply(SEARCH, WEATHER), [WEATHER, SEARCH])

    assert score.reason == "the expected calls, in another order"


def test_thousands_of_calls_are_cut_with_a_note() -> None:
    lines = explain(tool_calls([MAIL] * 5000, [SEARCH]))

    assert len(lines) == 20
    assert "more lines" in lines[-1]


def test_wide_arguments_are_cut_and_inert() -> None:
    call = {"name": "mail", "arguments": {"text": "\x1b[31m" + "x" * 500}}
    lines = explain(tool_calls([call], ["search"]))

    assert all(len(line) <= 70 and line.isprintable() for line in lines)


def test_a_case_has_them_in_its_column() -> None:
    case = Case(id="a", fields={"tool_calls": [SEARCH]})

    assert tool_calls(reply(SEARCH), case)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"q": 1}, "case 'a' (d.jsonl:2) has no column tool_calls; its columns: q"),
        ({"tool_calls": 3}, "tool_calls of case 'a' (d.jsonl:2): 3 is no list of tool"),
        (
            {"tool_calls": [{}]},
            "tool_calls of case 'a' (d.jsonl:2): {} is no tool call",
        ),
    ],
)
def test_a_row_without_usable_calls_is_unscored(
    fields: dict[str, Any], reason: str
) -> None:
    case = Case(id="a", fields=fields, source=Source(file="d.jsonl", line=2))

    with pytest.raises(UnscoredError) as caught:
        assert_tool_calls(reply(SEARCH), case)

    assert reason in str(caught.value)
    assert caught.value.cause == "data"


@pytest.mark.parametrize(
    ("response", "expected", "message"),
    [
        ("search", [], "tool calls are read from a Response or a list of calls"),
        (reply(), "search", "expected tool calls: 'search' is no list of tool calls"),
        (reply(), [3], "expected tool calls: 3 is no tool call: it has no name"),
    ],
)
def test_what_are_no_calls_is_refused(
    response: Any, expected: Any, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        assert_tool_calls(response, expected)

    assert str(caught.value).startswith(message)


def test_an_unknown_mode_names_those_there_are() -> None:
    with pytest.raises(ConfigError, match="tool_calls has no mode 'exact'"):
        assert_tool_calls(reply(), [], mode="exact")  # type: ignore[arg-type]


@pytest.mark.parametrize("response", [None, [{"arguments": {}}]])
def test_a_reply_without_readable_calls_is_unscored(response: Any) -> None:
    score = tool_calls(response, ["search"])

    assert (score.value, score.cause) == (None, "application")

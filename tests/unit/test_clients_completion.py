"""Chat completions as servers really send them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval.clients._completion import first_choice, read_choice, usage_of
from pytest_llmeval.types import Response, Usage


def read(message: Any, **choice: Any) -> Response:
    data = {"model": "m", "choices": [{"message": message, **choice}]}
    return read_choice(data["choices"][0], data)  # type: ignore[arg-type]


# --- text ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Paris", "Paris"),
        ("", ""),
        (None, ""),
        (" two  words\n", " two  words\n"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        (["a", "b"], "ab"),
        ([{"type": "image_url", "image_url": {"url": "x"}}, {"text": "b"}], "b"),
        ([{"type": "text", "text": None}, None, 7], ""),
        ([], ""),
        (12, "12"),
    ],
)
def test_the_text_of_a_message(content: Any, text: str) -> None:
    assert read({"content": content}).text == text


@pytest.mark.parametrize("message", [{}, {"content": None}, None, "text", [1]])
def test_a_message_without_content_is_an_empty_text(message: Any) -> None:
    assert read(message).text == ""


def test_a_plain_completion_has_its_text_in_the_choice() -> None:
    assert read(None, text=" Paris").text == " Paris"
    assert read(None, text=None).text == ""


# --- reasoning -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "4", "reasoning_content": "2+2"}, "4", "2+2"),
        ({"content": "4", "reasoning": "2+2"}, "4", "2+2"),
        ({"content": "4", "reasoning_content": None, "reasoning": "r"}, "4", "r"),
        ({"content": "4", "reasoning_content": ""}, "4", None),
        ({"content": None, "reasoning_content": "2+2"}, "", "2+2"),
        ({"content": "<think>2+2</think>\n\n4"}, "4", "2+2"),
        ({"content": " <thinking>2+2\n</thinking>4"}, "4", "2+2"),
        ({"content": "<think></think>4"}, "4", None),
        ({"content": "<think>a</think><think>b</think>4"}, "4", "a\n\nb"),
        ({"content": "<think>cut off while it"}, "", "cut off while it"),
        ({"content": "4 <think>late</think>"}, "4 <think>late</think>", None),
        ({"content": "<thinker>x</thinker>"}, "<thinker>x</thinker>", None),
        (
            {"content": "<think>kept</think>", "reasoning_content": "r"},
            "<think>kept</think>",
            "r",
        ),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                    {"type": "text", "text": "4"},
                ]
            },
            "4",
            "hm",
        ),
    ],
)
def test_reasoning_is_kept_apart(
    message: dict[str, Any], text: str, reasoning: str | None
) -> None:
    response = read(message)

    assert (response.text, response.reasoning) == (text, reasoning)


def test_a_megabyte_of_open_tags_is_read_at_once() -> None:
    response = read({"content": "<think>" * 150_000})

    assert response.text == ""


# --- finish reasons, refusals, tools -------------------------------------------------


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("eos", "stop"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("content_filter", "content_filter"),
        ("guardrail", "guardrail"),
        (None, None),
        (7, None),
        (["stop"], None),
    ],
)
def test_finish_reasons(finish: Any, reason: str | None) -> None:
    assert read({"content": "x"}, finish_reason=finish).finish_reason == reason


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "refusal": "I can't help with that."},
        {"content": [{"type": "refusal", "refusal": "I can't help with that."}]},
    ],
)
def test_a_refusal_is_no_text(message: dict[str, Any]) -> None:
    response = read(message)

    assert (response.text, response.refusal) == ("", "I can't help with that.")


@pytest.mark.parametrize("refusal", [None, "", False, {}])
def test_what_is_no_refusal(refusal: Any) -> None:
    assert read({"content": "x", "refusal": refusal}).refusal is None


def test_tool_calls_without_a_text() -> None:
    call = {"id": "t1", "function": {"name": "look_up", "arguments": "{}"}}

    response = read({"content": None, "tool_calls": [call, None]})

    neutral = {"id": "t1", "name": "look_up", "arguments": {}}
    assert (response.text, response.tool_calls) == ("", (neutral,))


def test_the_old_form_of_a_tool_call() -> None:
    function = {"name": "look_up", "arguments": "{}"}

    response = read({"content": None, "function_call": function})

    assert response.tool_calls == ({"id": None, "name": "look_up", "arguments": {}},)


@pytest.mark.parametrize("calls", [None, {}, "x", 7])
def test_tool_calls_that_are_none(calls: Any) -> None:
    assert read({"content": "x", "tool_calls": calls}).tool_calls == ()


# --- usage ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "usage"),
    [
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            Usage(input_tokens=9, output_tokens=5, cached_tokens=4, reasoning_tokens=3),
        ),
        (
            {"prompt_tokens": 9, "prompt_tokens_details": None},
            Usage(input_tokens=9),
        ),
        ({"prompt_tokens": 9, "prompt_tokens_details": [1]}, Usage(input_tokens=9)),
        ({"prompt_tokens": 9.0, "completion_tokens": 1.5}, Usage(input_tokens=9)),
        ({"prompt_tokens": 0}, Usage(input_tokens=0)),
        ({"prompt_tokens": True, "completion_tokens": "n/a"}, None),
        ({"prompt_tokens": -1}, None),
        ({}, None),
        (None, None),
        ("n/a", None),
        ([], None),
    ],
)
def test_usage(data: Any, usage: Usage | None) -> None:
    assert usage_of(data) == usage


# --- the rest ------------------------------------------------------------------------


@pytest.mark.parametrize("model", [None, "", 7, {}])
def test_a_model_without_a_name(model: Any) -> None:
    data = {"model": model, "choices": [{"message": {"content": "x"}}]}

    assert read_choice(data["choices"][0], data).model is None


@pytest.mark.parametrize("data", [{}, {"choices": None}, {"choices": [7]}])
def test_no_first_choice(data: dict[str, Any]) -> None:
    assert first_choice(data) is None


def test_only_the_first_choice_counts() -> None:
    assert first_choice({"choices": [{"index": 0}, {"index": 1}]}) == {"index": 0}


# --- log-probabilities ---------------------------------------------------------------


def logprobs(found: Any) -> Any:
    choice = {"text": "x", "logprobs": found}
    return read_choice(choice, {"choices": [choice]}).logprobs


def test_log_probabilities_of_chat_are_as_they_came() -> None:
    found = {"content": [{"token": "a", "logprob": -0.5, "top_logprobs": []}]}

    assert logprobs(found) == found
    assert logprobs(None) is None


def test_those_of_a_plain_completion_get_the_form_of_chat() -> None:
    found = {
        "tokens": ["a", " b"],
        "token_logprobs": [-0.5, None],
        "top_logprobs": [{"a": -0.5, "c": -2.0}],
        "text_offset": [0, 1],
    }

    assert logprobs(found) == {
        "content": [
            {
                "token": "a",
                "logprob": -0.5,
                "top_logprobs": [
                    {"token": "a", "logprob": -0.5},
                    {"token": "c", "logprob": -2.0},
                ],
            },
            {"token": " b", "logprob": None, "top_logprobs": []},
        ]
    }

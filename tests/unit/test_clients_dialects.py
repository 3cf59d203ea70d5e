"""What servers send in place of what they should: read, or told, and never a crash."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_llmeval.clients import Request
from pytest_llmeval.clients._dialect import Dialect, NoAnswerError
from pytest_llmeval.clients._finish import finish_reason
from pytest_llmeval.clients.anthropic import AnthropicDialect
from pytest_llmeval.clients.gemini import GeminiDialect
from pytest_llmeval.clients.openai import OpenAIDialect
from pytest_llmeval.clients.responses import ResponsesDialect
from pytest_llmeval.types import Prompt

TOKEN = {"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}
OPENAI = {
    "model": "m",
    "choices": [
        {
            "message": {
                "content": [{"type": "text", "text": "a"}],
                "reasoning": "r",
                "refusal": None,
                "tool_calls": [
                    {"id": "c", "function": {"name": "f", "arguments": "{}"}}
                ],
            },
            "finish_reason": "tool_calls",
            "logprobs": {"content": [TOKEN]},
        }
    ],
    "usage": {
        "prompt_tokens": 1,
        "completion_tokens": 1,
        "prompt_tokens_details": {"cached_tokens": 1},
    },
}
RESPONSES = {
    "model": "m",
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "r"}]},
        {
            "type": "message",
            "content": [
                {"type": "output_text", "text": "a", "logprobs": [TOKEN]},
                {"type": "refusal", "refusal": "no"},
            ],
        },
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    ],
    "usage": {"input_tokens": 1, "output_tokens": 1, "input_tokens_details": {}},
}
ANTHROPIC = {
    "model": "m",
    "content": [
        {"type": "thinking", "thinking": "r"},
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}},
    ],
    "stop_reason": "refusal",
    "stop_details": {"explanation": "no"},
    "usage": {"input_tokens": 1, "cache_read_input_tokens": 1, "output_tokens": 1},
}
GEMINI = {
    "modelVersion": "m",
    "promptFeedback": {"blockReason": "SAFETY"},
    "candidates": [
        {
            "content": {
                "parts": [
                    {"text": "r", "thought": True},
                    {"text": "a"},
                    {"functionCall": {"name": "f", "args": {"a": 1}}},
                ]
            },
            "finishReason": "STOP",
            "logprobsResult": {
                "chosenCandidates": [{"token": "a", "logProbability": -0.5}],
                "topCandidates": [{"candidates": [{"token": "a"}]}],
            },
        }
    ],
    "usageMetadata": {"promptTokenCount": 1, "thoughtsTokenCount": 1},
}
DIALECTS: list[tuple[Dialect, Any]] = [
    (OpenAIDialect(), OPENAI),
    (ResponsesDialect(), RESPONSES),
    (AnthropicDialect(), ANTHROPIC),
    (GeminiDialect(), GEMINI),
]
JUNK: list[Any] = [
    None,
    True,
    -1,
    2.5,
    "",
    "x",
    [],
    [None],
    ["x"],
    {},
    {"x": None},
    [[{}]],
]
REQUEST = Request(prompt=Prompt.of("hi"), params={"max_tokens": 1})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything within a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


def spoilt(data: Any) -> Iterator[Any]:
    """Yield copies of a value, each with one thing in it left out or replaced."""
    for path in places(data):
        for junk in [..., *JUNK]:
            made = copy.deepcopy(data)
            owner = made
            for key in path[:-1]:
                owner = owner[key]
            if junk is ...:
                del owner[path[-1]]
            else:
                owner[path[-1]] = junk
            yield made


@pytest.mark.parametrize(
    ("dialect", "data"), DIALECTS, ids=[dialect.provider for dialect, _ in DIALECTS]
)
def test_a_spoilt_reply_is_read_or_told(dialect: Dialect, data: Any) -> None:
    whole = dialect.read(data, REQUEST)
    assert whole.text == "a"
    assert [call["name"] for call in whole.tool_calls] == ["f"]
    for reply in spoilt(data):
        try:
            response = dialect.read(reply, REQUEST)
        except NoAnswerError:
            continue
        assert "None" not in response.text
        assert response.refusal is None or response.refusal
        assert response.finish_reason is None or finish_reason(response.finish_reason)
        assert all(
            call.keys() == {"id", "name", "arguments"} for call in response.tool_calls
        )
        json.dumps(response.to_json())


@pytest.mark.parametrize(
    "content",
    [None, "", 7, True, {"a": 1}, [], [None], ["x"], [{"text": None}], "\ud800"],
)
@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool", "odd"])
@pytest.mark.parametrize(
    "dialect", [d for d, _ in DIALECTS], ids=[d.provider for d, _ in DIALECTS]
)
def test_odd_messages_become_a_body(dialect: Dialect, role: str, content: Any) -> None:
    message = {"role": role, "content": content, "tool_calls": [None, {}, {"name": 7}]}
    request = Request(prompt=Prompt.from_json([message, message]), params={})

    json.dumps(dialect.body("m", request), allow_nan=False)


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize(
    "name",
    ["tools", "tool_choice", "stop", "json_schema", "logprobs", "parallel_tool_calls"],
)
@pytest.mark.parametrize(
    "dialect", [d for d, _ in DIALECTS], ids=[d.provider for d, _ in DIALECTS]
)
def test_odd_parameters_are_sent_for_the_server_to_refuse(
    dialect: Dialect, name: str, junk: Any
) -> None:
    request = Request(prompt=Prompt.of("hi"), params={name: junk})

    json.dumps(dialect.body("m", request), allow_nan=False)

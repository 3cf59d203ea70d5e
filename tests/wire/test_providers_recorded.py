"""Replies of every provider, recorded once and replayed without a server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.conftest import FaultServer

ARGUMENTS = {"city": "Rome", "days": [1, 2]}
OPENAI = {
    "model": "m-1",
    "choices": [
        {
            "message": {
                "content": "I look.",
                "reasoning": "hm",
                "tool_calls": [
                    {
                        "id": "c1",
                        "function": {
                            "name": "look_up",
                            "arguments": json.dumps(ARGUMENTS),
                        },
                    }
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 5},
}
RESPONSES = {
    "model": "m-1",
    "status": "completed",
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "look_up",
            "arguments": json.dumps(ARGUMENTS),
        },
    ],
    "usage": {"input_tokens": 9, "output_tokens": 5},
}
ANTHROPIC = {
    "model": "m-1",
    "content": [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "look_up", "input": ARGUMENTS},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 9, "output_tokens": 5},
}
CALL = {"id": "c1", "name": "look_up", "args": ARGUMENTS}
GEMINI = {
    "modelVersion": "m-1",
    "candidates": [
        {
            "content": {
                "parts": [
                    {"text": "hm", "thought": True},
                    {"text": "I look."},
                    {"functionCall": CALL},
                ]
            },
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 5},
}
TEST = """
import pytest
from pytest_llmeval import assert_tool_calls

def test_a(generator):
    response = generator("Weather?", params={"temperature": 0})
    assert (response.text, response.reasoning) == ("I look.", "hm")
    assert (response.model, response.finish_reason) == ("m-1", "tool_calls")
    assert response.usage.total == 14
    assert response.tool_calls[0]["id"] == "c1"
    assert_tool_calls(
        response, [{"name": "look_up", "arguments": {"city": "Rome", "days": [1, 2]}}]
    )
"""


@pytest.mark.parametrize(
    ("provider", "reply"),
    [
        ("openai", OPENAI),
        ("openai-responses", RESPONSES),
        ("anthropic", ANTHROPIC),
        ("gemini", GEMINI),
    ],
)
def test_a_reply_is_the_same_from_its_recording(
    suite: Suite, server: FaultServer, provider: str, reply: Any
) -> None:
    server.always(reply)
    entry = {"provider": provider, "model": "m", "base_url": f"{server.url}/v1"}
    suite.write(
        llmeval_yaml=json.dumps({"generator": "app", "models": {"app": entry}}),
        test_a=TEST,
    )

    suite.run("--llmeval-mode=record").assert_outcomes(passed=1)
    recorded = (suite.path / "llmeval_recordings" / "test_a.jsonl").read_bytes()
    suite.run("--llmeval-mode=record").assert_outcomes(passed=1)
    suite.run("--llmeval-mode=replay").assert_outcomes(passed=1)

    assert len(server.seen) == 1
    assert (suite.path / "llmeval_recordings" / "test_a.jsonl").read_bytes() == recorded
    suite.write(test_a=TEST.replace('"temperature": 0', '"temperature": 0.5'))
    suite.run("--llmeval-mode=replay").assert_outcomes(failed=0, passed=0)
    assert len(server.seen) == 1

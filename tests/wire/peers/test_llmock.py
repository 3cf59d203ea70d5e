"""llmock, which watches our client and says what it thinks of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.wire.peers.conftest import Peer

TOOL = {
    "name": "look_up",
    "description": "Looks a city up.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
Grader = tuple[Any, "Peer"]


def test_a_reply_is_read(grader: Grader) -> None:
    llmock, peer = grader
    llmock.reply("The capital is Lima.")

    response = peer.ask("Capital of Peru?", params={"max_tokens": 50})

    assert (response.text, response.finish_reason) == ("The capital is Lima.", "stop")
    assert response.usage is not None
    assert response.usage.input_tokens
    assert response.usage.output_tokens
    llmock.assert_resilient(strict=True)


def test_turns_instructions_calls_and_parameters_are_taken(grader: Grader) -> None:
    llmock, peer = grader
    call = {"id": "toolu_1", "name": "look_up", "arguments": {"city": "Rome"}}
    prompt = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "toolu_1", "content": '{"t": 20}'},
        {"role": "user", "content": [{"type": "text", "text": "And now?"}]},
    ]
    params = {
        "temperature": 0,
        "max_tokens": 50,
        "stop": ["END"],
        "top_p": 0.5,
        "tools": [TOOL],
        "tool_choice": "none",
    }
    llmock.reply("Warm.")

    response = peer.ask(prompt, params=params)

    assert (response.text, response.finish_reason) == ("Warm.", "stop")


def test_a_tool_call_is_read_in_our_form(grader: Grader) -> None:
    llmock, peer = grader
    llmock.call_tool("look_up", {"city": "Rome", "days": [1, 2]})

    response = peer.ask("Weather in Rome?", params={"tools": [TOOL]})

    assert (response.text, response.finish_reason) == ("", "tool_calls")
    assert [(call["name"], call["arguments"]) for call in response.tool_calls] == [
        ("look_up", {"city": "Rome", "days": [1, 2]})
    ]


@pytest.mark.parametrize("provider", ["openai", "openai-responses"], indirect=True)
def test_arguments_that_are_not_json_stay_their_text(grader: Grader) -> None:
    llmock, peer = grader
    llmock.break_tool_call("malformed_arguments")

    response = peer.ask("Weather in Rome?", params={"tools": [TOOL]})

    assert [type(call["arguments"]) for call in response.tool_calls] == [str]


def test_a_cut_reply_says_so(grader: Grader) -> None:
    from llmock.scenarios import Reply

    llmock, peer = grader
    llmock.add(Reply(text="The three causes are", finish_reason="length"))

    assert peer.ask().finish_reason == "length"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_no_retry_can_mend_is_asked_once(grader: Grader, status: int) -> None:
    llmock, peer = grader
    llmock.fail(status, times=None, message="no such luck")

    error = peer.error(retries=3)

    assert f"({status}): no such luck" in error.reason
    assert len([r for r in llmock.requests if r.method == "POST"]) == 1
    llmock.assert_resilient(strict=True)


def test_a_rate_limit_is_waited_for(grader: Grader) -> None:
    llmock, peer = grader
    llmock.rate_limit(times=2, retry_after=0.1).reply("Lima")

    assert peer.ask(retries=3).text == "Lima"
    assert len(llmock.requests) == 3
    llmock.assert_resilient(strict=True)


def test_an_outage_ends_in_an_error_after_finite_tries(grader: Grader) -> None:
    llmock, peer = grader
    llmock.fail(503, times=None, retry_after=0.05)

    error = peer.error(retries=2)

    assert "(503)" in error.reason
    assert len(llmock.requests) == 3
    assert [f.code for f in llmock.verdict().errors] == []


def test_a_prompt_that_is_too_long_is_told(grader: Grader) -> None:
    llmock, peer = grader
    llmock.context_overflow(times=None)

    error = peer.error(retries=3)

    assert "the prompt is too long for the model's context (400)" in error.reason
    assert len(llmock.requests) == 1


def test_many_at_once_are_no_storm(grader: Grader) -> None:
    llmock, peer = grader
    llmock.reply("same", times=None)

    replies = peer.lab.ask_all(["hi"] * 12, **peer.entry(retries=3))

    assert [reply.text for reply in replies] == ["same"] * 12
    assert len(llmock.requests) == 12
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
def test_a_schema_is_taken_and_obeyed(grader: Grader) -> None:
    llmock, peer = grader
    schema = {
        "type": "object",
        "properties": {"verdict": {"type": "string", "enum": ["PASS", "FAIL"]}},
        "required": ["verdict"],
        "additionalProperties": False,
    }

    response = peer.ask("Judge.", params={"json_schema": schema})

    assert response.text in ('{"verdict": "PASS"}', '{"verdict": "FAIL"}')
    llmock.assert_resilient(strict=True)

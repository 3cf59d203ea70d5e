"""OpenAI's Responses: what is sent, and what a response becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.types import Usage

if TYPE_CHECKING:
    from tests.wire.conftest import FaultServer, Lab

CLOSED = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


def part(text: str, **more: Any) -> Any:
    return {"type": "output_text", "text": text, "annotations": [], **more}


def said(*parts: Any) -> Any:
    return {"type": "message", "role": "assistant", "content": list(parts)}


def response(*items: Any, status: str = "completed", **more: Any) -> Any:
    return {
        "id": "resp_1",
        "object": "response",
        "status": status,
        "model": "gpt-test",
        "output": list(items),
        "error": None,
        "incomplete_details": None,
        "usage": {"input_tokens": 9, "output_tokens": 5, "total_tokens": 14},
        **more,
    }


@pytest.fixture
def entry(lab: Lab, server: FaultServer) -> dict[str, Any]:
    server.always(response(said(part("fine"))))
    return {"provider": "openai-responses", "model": "gpt-test"}


def sent(lab: Lab, server: FaultServer, entry: Any, asked: Any, **params: Any) -> Any:
    lab.ask_prompt(asked, params=params, **entry)
    return server.seen[-1].data


def item(role: str, content: Any) -> Any:
    return {"type": "message", "role": role, "content": content}


def test_a_request_asks_not_to_be_stored(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    found = lab.ask("hi", **entry)

    seen = server.seen[0]
    assert (seen.method, seen.target) == ("POST", "/v1/responses")
    assert seen.data == {
        "model": "gpt-test",
        "input": [item("user", "hi")],
        "store": False,
    }
    assert (found.text, found.model, found.provider) == (
        "fine",
        "gpt-test",
        "openai-responses",
    )
    assert (found.finish_reason, found.usage) == (
        "stop",
        Usage(input_tokens=9, output_tokens=5),
    )


def test_store_can_be_said(lab: Lab, server: FaultServer, entry: Any) -> None:
    assert sent(lab, server, entry, "hi", store=True)["store"] is True


def test_messages_calls_and_results_become_items(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    call = {"id": "c1", "name": "weather", "arguments": {"city": "Rome"}}
    image = {"url": "https://x.test/a.png", "detail": "low"}
    content = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": image},
        {"type": "input_file", "file_id": "f1"},
    ]
    prompt = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": content},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "20"},
    ]

    assert sent(lab, server, entry, prompt)["input"] == [
        item("system", "Be short."),
        item(
            "user",
            [
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": image["url"], "detail": "low"},
                {"type": "input_file", "file_id": "f1"},
            ],
        ),
        item("assistant", [{"type": "output_text", "text": "I look."}]),
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "weather",
            "arguments": '{"city": "Rome"}',
        },
        {"type": "function_call_output", "call_id": "c1", "output": "20"},
    ]


def test_parameters_are_said_in_its_words(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    function = {"name": "weather", "parameters": CLOSED, "strict": True}

    body = sent(
        lab,
        server,
        entry,
        "hi",
        temperature=0,
        max_tokens=7,
        tools=[{"type": "function", "function": function}, {"type": "web_search"}],
        tool_choice={"type": "function", "function": {"name": "weather"}},
        json_schema=CLOSED,
        text={"verbosity": "low"},
        logprobs=True,
        top_logprobs=2,
        reasoning={"effort": "low"},
    )

    del body["input"], body["model"], body["store"]
    wanted = {"type": "json_schema", "name": "reply", "schema": CLOSED, "strict": True}
    assert body == {
        "temperature": 0,
        "max_output_tokens": 7,
        "tools": [{"type": "function", **function}, {"type": "web_search"}],
        "tool_choice": {"type": "function", "name": "weather"},
        "text": {"verbosity": "low", "format": wanted},
        "include": ["message.output_text.logprobs"],
        "top_logprobs": 2,
        "reasoning": {"effort": "low"},
    }


def test_calls_reasoning_and_log_probabilities_are_read_apart(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    tokens = [{"token": "I", "logprob": -0.5, "top_logprobs": []}]
    call = {"type": "function_call", "id": "fc1", "call_id": "c1", "name": "weather"}
    summary = [{"type": "summary_text", "text": "hm"}]
    server.always(
        response(
            {"type": "reasoning", "summary": summary},
            said(part("I look.", logprobs=tokens)),
            {**call, "arguments": '{"city": "Rome"}'},
            {**call, "call_id": "c2", "arguments": '{"city": "Ro'},
            usage={
                "input_tokens": 9,
                "input_tokens_details": {"cached_tokens": 4},
                "output_tokens": 5,
                "output_tokens_details": {"reasoning_tokens": 3},
            },
        )
    )

    found = lab.ask("hi", **entry)

    assert (found.text, found.reasoning) == ("I look.", "hm")
    assert found.finish_reason == "tool_calls"
    assert [(c["id"], c["arguments"]) for c in found.tool_calls] == [
        ("c1", {"city": "Rome"}),
        ("c2", '{"city": "Ro'),
    ]
    assert found.logprobs == {"content": tokens}
    assert found.usage == Usage(
        input_tokens=9, output_tokens=5, cached_tokens=4, reasoning_tokens=3
    )


def test_reasoning_that_is_shown_whole_comes_before_its_summary(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    whole = [{"type": "reasoning_text", "text": "2+2"}]
    summary = [{"type": "summary_text", "text": "sum"}]
    server.always(
        response({"type": "reasoning", "content": whole, "summary": summary}, said())
    )

    assert lab.ask("hi", **entry).reasoning == "2+2"


def test_a_refusal_is_no_text(lab: Lab, server: FaultServer, entry: Any) -> None:
    server.always(response(said({"type": "refusal", "refusal": "I won't."})))

    found = lab.ask("hi", **entry)

    assert (found.text, found.refusal) == ("", "I won't.")
    assert found.finish_reason == "refusal"


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ({"reason": "max_output_tokens"}, "length"),
        ({"reason": "content_filter"}, "content_filter"),
        (None, "length"),
    ],
)
def test_an_incomplete_response_says_why(
    lab: Lab, server: FaultServer, entry: Any, details: Any, reason: str
) -> None:
    server.always(
        response(said(part("x")), status="incomplete", incomplete_details=details)
    )

    assert lab.ask("hi", **entry).finish_reason == reason


@pytest.mark.parametrize(
    ("limit", "more", "reason"),
    [
        (5, {}, "length"),
        (6, {}, "stop"),
        (5, {"max_output_tokens": 5}, "stop"),
        (5, {"usage": None}, "stop"),
    ],
)
def test_a_cut_response_that_is_called_completed_is_found_out(
    lab: Lab, server: FaultServer, entry: Any, limit: int, more: Any, reason: str
) -> None:
    server.always(response(said(part("x")), **more))

    found = lab.ask("hi", params={"max_tokens": limit}, **entry)

    assert found.finish_reason == reason


def test_a_failed_response_is_an_error(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    error = {"code": "server_error", "message": "The model broke"}
    server.always(response(status="failed", error=error))

    assert "the server failed (500): The model broke" in lab.error(**entry).reason


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"output": None}, "has no output"),
        ({"status": "queued"}, "is not finished (status queued): leave background"),
    ],
)
def test_a_response_without_an_answer_is_told(
    lab: Lab, server: FaultServer, entry: Any, more: Any, words: str
) -> None:
    server.always({**response(), **more})

    assert f"the reply of 'gpt-test' {words}" in lab.error(**entry).reason

"""Anthropic's Messages: what is sent, and what a message becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.types import Usage

if TYPE_CHECKING:
    from tests.wire.conftest import FaultServer, Lab

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
PIXEL = "data:image/png;base64,aGk="


def message(*blocks: Any, stop: Any = "end_turn", **more: Any) -> Any:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": list(blocks),
        "stop_reason": stop,
        "usage": {"input_tokens": 9, "output_tokens": 5},
        **more,
    }


def text(value: str) -> Any:
    return {"type": "text", "text": value}


@pytest.fixture
def claude(lab: Lab, server: FaultServer) -> dict[str, Any]:
    server.always(message(text("fine")))
    return {"provider": "anthropic", "base_url": server.url, "model": "claude-test"}


def sent(lab: Lab, server: FaultServer, entry: Any, asked: Any, **params: Any) -> Any:
    """Return the body of a request."""
    lab.ask_prompt(asked, params=params, **entry)
    return server.seen[-1].data


def test_a_request_has_the_version_the_key_and_a_limit(
    lab: Lab,
    server: FaultServer,
    claude: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")

    response = lab.ask("hi", **claude)

    seen = server.seen[0]
    assert (seen.method, seen.target) == ("POST", "/v1/messages")
    assert seen.headers["anthropic-version"] == "2023-06-01"
    assert seen.headers["x-api-key"] == "sk-ant-test"
    assert "authorization" not in seen.headers
    assert seen.data == {
        "model": "claude-test",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 4096,
    }
    assert (response.text, response.model) == ("fine", "claude-test")
    assert (response.provider, response.finish_reason) == ("anthropic", "stop")
    assert response.usage == Usage(input_tokens=9, output_tokens=5)


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
def test_the_version_may_stand_in_base_url(
    lab: Lab, server: FaultServer, claude: dict[str, Any], path: str
) -> None:
    lab.ask("hi", **{**claude, "base_url": f"{server.url}/gate{path}"})

    assert server.seen[0].target == "/gate/v1/messages"


def test_a_header_of_the_entry_comes_before_the_providers(
    lab: Lab, server: FaultServer, claude: dict[str, Any]
) -> None:
    lab.ask("hi", headers={"Anthropic-Version": "2026-01-01"}, **claude)

    assert server.seen[0].headers["anthropic-version"] == "2026-01-01"


def test_the_system_stands_apart_and_turns_keep_their_order(
    lab: Lab, server: FaultServer, claude: dict[str, Any]
) -> None:
    prompt = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "two"},
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": "three"},
        {"role": "user", "content": "four"},
    ]

    body = sent(lab, server, claude, prompt)

    assert body["system"] == "Be short.\n\nBe kind."
    assert body["messages"] == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "two"},
        {"role": "user", "content": [text("three"), text("four")]},
    ]


def test_parts_become_blocks_and_its_own_blocks_stay(
    lab: Lab, server: FaultServer, claude: dict[str, Any]
) -> None:
    own = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
    content = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": PIXEL}},
        {"type": "image_url", "image_url": "https://x.test/a.png"},
        own,
    ]
    prompt = [
        {"role": "system", "content": [own]},
        {"role": "user", "content": content},
    ]

    body = sent(lab, server, claude, prompt)

    assert body["system"] == [own]
    png = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    assert body["messages"][0]["content"] == [
        text("see"),
        {"type": "image", "source": png},
        {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}},
        own,
    ]


def test_calls_and_their_results_are_sent_back(
    lab: Lab, server: FaultServer, claude: dict[str, Any]
) -> None:
    calls = [
        {"id": "c1", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}},
        {"id": "c2", "name": "weather", "arguments": {"city": "Oslo"}},
    ]
    prompt = [
        {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "20"},
        {"role": "tool", "tool_call_id": "c2", "content": {"t": 5}},
    ]

    body = sent(lab, server, claude, prompt)

    def use(call_id: str, city: str) -> Any:
        head = {"type": "tool_use", "id": call_id, "name": "weather"}
        return {**head, "input": {"city": city}}

    def result(call_id: str, content: str) -> Any:
        return {"type": "tool_result", "tool_use_id": call_id, "content": content}

    assert body["messages"][1:] == [
        {"role": "assistant", "content": [use("c1", "Rome"), use("c2", "Oslo")]},
        {"role": "user", "content": [result("c1", "20"), result("c2", '{"t": 5}')]},
    ]


def test_parameters_are_said_in_its_words(
    lab: Lab, server: FaultServer, claude: dict[str, Any]
) -> None:
    tool = {"name": "weather", "description": "d", "parameters": SCHEMA}
    own = {"type": "web_search_20250305", "name": "web_search"}

    body = sent(
        lab,
        server,
        claude,
        "hi",
        temperature=0,
        max_tokens=7,
        stop="END",
        tools=[tool, own],
        tool_choice={"name": "weather"},
        parallel_tool_calls=False,
        json_schema=SCHEMA,
        thinking={"type": "adaptive"},
        seed=1,
    )

    del body["messages"], body["model"]
    assert body == {
        "temperature": 0,
        "max_tokens": 7,
        "stop_sequences": ["END"],
        "tools": [{"name": "weather", "description": "d", "input_schema": SCHEMA}, own],
        "tool_choice": {
            "type": "tool",
            "name": "weather",
            "disable_parallel_tool_use": True,
        },
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        "thinking": {"type": "adaptive"},
        "seed": 1,
    }


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ({"type": "any"}, {"type": "any"}),
    ],
)
def test_choices_of_tools(
    lab: Lab, server: FaultServer, claude: dict[str, Any], choice: Any, said: Any
) -> None:
    assert sent(lab, server, claude, "hi", tool_choice=choice)["tool_choice"] == said


def test_stop_texts_may_be_several(
    lab: Lab, server: FaultServer, claude: dict[str, Any]
) -> None:
    assert sent(lab, server, claude, "hi", stop=["a", "b"])["stop_sequences"] == (
        ["a", "b"]
    )


def test_what_was_cached_counts_as_input(
    lab: Lab, server: FaultServer, claude: dict[str, Any]
) -> None:
    usage = {
        "input_tokens": 1,
        "cache_read_input_tokens": 36,
        "cache_creation_input_tokens": 100,
        "output_tokens": 5,
    }
    server.always(message(text("fine"), usage=usage))

    assert lab.ask("hi", **claude).usage == Usage(
        input_tokens=137, output_tokens=5, cached_tokens=36
    )


def test_tool_calls_and_thoughts_are_read_apart(
    lab: Lab, server: FaultServer, claude: dict[str, Any]
) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Rome"}}
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    hidden = {"type": "redacted_thinking", "data": "x"}
    server.always(
        message(thinking, hidden, text("I "), text("look."), use, stop="tool_use")
    )

    response = lab.ask("hi", **claude)

    assert (response.text, response.reasoning) == ("I look.", "hm")
    assert response.finish_reason == "tool_calls"
    assert response.tool_calls == (
        {"id": "t1", "name": "weather", "arguments": {"city": "Rome"}},
    )


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "pause_turn"),
        (None, None),
    ],
)
def test_stop_reasons(
    lab: Lab, server: FaultServer, claude: dict[str, Any], stop: Any, reason: Any
) -> None:
    server.always(message(text("x"), stop=stop))

    response = lab.ask("hi", **claude)

    assert (response.finish_reason, response.refusal) == (reason, None)


@pytest.mark.parametrize(
    ("blocks", "more", "refusal"),
    [
        ([], {}, "stop_reason refusal"),
        ([text("I won't.")], {}, "I won't."),
        ([], {"stop_details": {"explanation": "biology"}}, "biology"),
    ],
)
def test_a_refusal_says_why(
    lab: Lab,
    server: FaultServer,
    claude: dict[str, Any],
    blocks: Any,
    more: Any,
    refusal: str,
) -> None:
    server.always(message(*blocks, stop="refusal", **more))

    response = lab.ask("hi", **claude)

    assert (response.finish_reason, response.refusal) == ("refusal", refusal)


@pytest.mark.parametrize("content", [None, "text", {}])
def test_a_message_without_content_is_none(
    lab: Lab, server: FaultServer, claude: dict[str, Any], content: Any
) -> None:
    server.always({**message(), "content": content})

    assert "the reply of 'claude-test' has no content; it is" in (
        lab.error(**claude).reason
    )


def test_its_errors_are_told_in_its_words(
    lab: Lab, server: FaultServer, claude: dict[str, Any]
) -> None:
    error = {"type": "overloaded_error", "message": "Overloaded"}
    server.always({"type": "error", "error": error}, status=529)

    found = lab.error(**claude)

    assert "the server failed (529): Overloaded" in found.reason
    assert found.is_transient


def test_a_missing_key_is_told_before_anything_is_sent(
    lab: Lab, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    error = lab.error(provider="anthropic", model="m", base_url=None)

    assert "the environment variable ANTHROPIC_API_KEY is not set" in error.reason
    assert not server.seen


def test_a_key_may_stand_in_a_header(
    lab: Lab,
    server: FaultServer,
    claude: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("TOKEN", "t-12345678")
    server.always({"error": {"message": "no"}}, status=401)

    error = lab.error(headers={"Authorization": "Bearer ${TOKEN}"}, **claude)

    assert server.seen[0].headers["authorization"] == "Bearer t-12345678"
    assert "(401): no (key from the entry's header Authorization)" in error.reason


def test_an_unknown_model_is_told_with_those_there_are(
    lab: Lab, server: FaultServer, claude: dict[str, Any]
) -> None:
    server.rule(
        lambda seen: (
            {"data": [{"type": "model", "id": "claude-tests"}]}
            if seen.target == "/v1/models"
            else (404, {"error": {"type": "not_found_error", "message": "model: m"}})
        )
    )

    assert lab.error(**claude).reason.endswith(
        "(did you mean 'claude-tests'?); models there are: claude-tests"
    )

"""The client against a real model's server: llama.cpp's, on loopback."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.conftest import FaultServer, Lab, Real

SHORT = {"temperature": 0, "seed": 1, "max_tokens": 8}


@pytest.fixture
def real_lab(lab: Lab, real: Real, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the entry of the real model."""
    monkeypatch.setenv("REAL_KEY", real.key)
    return {"base_url": real.base_url, "model": "smollm2", "api_key_env": "REAL_KEY"}


def test_it_answers_and_counts_its_tokens(lab: Lab, real_lab: dict[str, Any]) -> None:
    response = lab.ask("Say hello.", params=SHORT, **real_lab)

    assert response.text
    assert response.model == "smollm2"
    assert response.finish_reason in {"stop", "length"}
    assert response.usage is not None
    assert response.usage.input_tokens is not None
    assert response.usage.input_tokens > 0
    assert response.usage.output_tokens is not None
    assert 0 < response.usage.output_tokens <= 8


def test_it_completes_a_text(lab: Lab, real_lab: dict[str, Any]) -> None:
    text = "Q: red\nA: red\nQ: blue\nA: blue\nQ: red\nA:"

    response = lab.ask(
        text, params={**SHORT, "stop": ["\n"]}, api="completions", **real_lab
    )

    assert response.text.strip() == "red"


def test_answers_at_once_stand_in_the_order_of_the_questions(
    lab: Lab, real_lab: dict[str, Any]
) -> None:
    texts = [f"Q: {n}\nA: {n}\n" * 3 + f"Q: {n}\nA:" for n in ("one", "two", "six")]
    params = {**SHORT, "max_tokens": 3, "stop": ["\n"]}

    replies = lab.ask_all(texts, params=params, api="completions", **real_lab)

    assert [reply.text.strip() for reply in replies] == ["one", "two", "six"]


def test_a_prompt_longer_than_its_context_is_told_in_its_words(
    lab: Lab, real_lab: dict[str, Any]
) -> None:
    error = lab.error("word " * 4000, **real_lab)

    assert "the prompt is too long for the model's context (400): request (" in str(
        error
    )
    assert "exceeds the available context size (2048 tokens)" in error.reason


def test_a_wrong_key_is_refused(
    lab: Lab, real_lab: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REAL_KEY", "not-the-key-of-it")

    error = lab.error(**real_lab)

    assert "the server refused the key (401): Invalid API Key (key from $REAL_KEY)" in (
        error.reason
    )


def test_a_wrong_path_is_told(lab: Lab, real_lab: dict[str, Any]) -> None:
    error = lab.error(**{**real_lab, "base_url": real_lab["base_url"] + "/v2"})

    assert "no such model or address (404): File Not Found; it lists no" in error.reason


def test_a_parameter_it_does_not_take_is_told_in_its_words(
    lab: Lab, real_lab: dict[str, Any]
) -> None:
    error = lab.error(params={"temperature": "hot"}, **real_lab)

    assert "the server refused the request (400): " in error.reason
    assert "temperature" in error.reason


# --- its other interfaces ------------------------------------------------------------

INTERFACES = ["openai", "openai-responses", "anthropic"]
TALK = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": "Say hi."},
    {"role": "assistant", "content": "hi"},
    {"role": "user", "content": [{"type": "text", "text": "Name a color."}]},
]


@pytest.mark.parametrize("provider", INTERFACES)
def test_each_interface_takes_turns_and_says_that_a_reply_is_cut(
    lab: Lab, real_lab: dict[str, Any], provider: str
) -> None:
    params = {**SHORT, "max_tokens": 2}

    response = lab.ask_prompt(TALK, provider=provider, params=params, **real_lab)

    assert response.text
    assert (response.finish_reason, response.provider) == ("length", provider)
    assert response.usage is not None
    assert response.usage.output_tokens == 2
    # With what it had in its cache, which the interfaces count differently.
    assert response.usage.input_tokens is not None
    assert response.usage.input_tokens > 20


def test_the_interfaces_agree_on_text_and_tokens(
    lab: Lab, real_lab: dict[str, Any]
) -> None:
    replies = [
        lab.ask_prompt(TALK, provider=provider, params=SHORT, **real_lab)
        for provider in INTERFACES
    ]

    assert len({reply.text for reply in replies}) == 1
    assert len({reply.usage and reply.usage.input_tokens for reply in replies}) == 1


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_each_interface_ends_at_a_stop_text(
    lab: Lab, real_lab: dict[str, Any], provider: str
) -> None:
    params = {"temperature": 0, "seed": 1, "max_tokens": 50, "stop": "e"}

    response = lab.ask_prompt(TALK, provider=provider, params=params, **real_lab)

    assert response.finish_reason == "stop"
    assert "e" not in response.text


@pytest.mark.parametrize("provider", INTERFACES)
def test_each_interface_takes_tools_calls_and_results(
    lab: Lab, real_lab: dict[str, Any], provider: str
) -> None:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    call = {"id": "c1", "name": "look_up", "arguments": {"city": "Rome"}}
    prompt = [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"t": 20}'},
    ]
    tools = [{"name": "look_up", "description": "d", "parameters": parameters}]

    response = lab.ask_prompt(
        prompt, provider=provider, params={**SHORT, "tools": tools}, **real_lab
    )

    assert response.finish_reason in {"stop", "length"}


def test_it_is_held_to_a_schema(lab: Lab, real_lab: dict[str, Any]) -> None:
    schema = {
        "type": "object",
        "properties": {"color": {"enum": ["red", "blue"]}},
        "required": ["color"],
        "additionalProperties": False,
    }

    response = lab.ask_prompt(
        TALK, params={**SHORT, "max_tokens": 40, "json_schema": schema}, **real_lab
    )

    assert json.loads(response.text)["color"] in {"red", "blue"}


@pytest.mark.parametrize("provider", INTERFACES)
def test_each_interface_tells_a_wrong_key_and_a_long_prompt(
    lab: Lab,
    real_lab: dict[str, Any],
    provider: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long = lab.error("word " * 4000, provider=provider, **real_lab)
    monkeypatch.setenv("REAL_KEY", "not-the-key-of-it")
    wrong = lab.error(provider=provider, **real_lab)

    assert "the prompt is too long for the model's context (400): " in long.reason
    assert "(401): Invalid API Key (key from $REAL_KEY)" in wrong.reason


def test_what_it_said_is_replayed_when_it_is_gone(
    suite: Suite, real: Real, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REAL_KEY", real.key)
    entry = {
        "provider": "openai",
        "base_url": real.base_url,
        "model": "smollm2",
        "api_key_env": "REAL_KEY",
        "params": SHORT,
        "on_length": "score",
    }
    rows = [{"id": n, "input": f"Say {n}.", "expected": "x"} for n in ("yes", "no")]
    suite.write(
        llmeval_yaml=json.dumps({"generator": "m", "models": {"m": entry}}),
        test_a="""
import pytest
from pytest_llmeval.metrics import contains

@pytest.mark.llmeval("rows.jsonl")
def test_a(case, generator):
    assert contains(generator(case), "e")
""",
    )
    suite.rows("rows.jsonl", rows)
    _, recorded = suite.report("--llmeval-mode=record")
    monkeypatch.delenv("REAL_KEY")

    def refuse(*args: Any) -> None:
        raise AssertionError(args)

    monkeypatch.setattr(socket.socket, "connect", refuse)
    _, replayed = suite.report("--llmeval-mode=replay")

    assert outcomes(replayed) == outcomes(recorded)
    assert real.key not in (
        suite.path / "llmeval_recordings" / "test_a.jsonl"
    ).read_text("utf-8")


def outcomes(data: Any) -> list[Any]:
    return [
        (case["status"], case["cause"], case["samples"][0]["response"])
        for case in data["cases"]
    ]


def test_the_check_command_says_that_it_answers(suite: Suite, cache: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest_llmeval", "check", "local:smollm2"],
        cwd=suite.path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ok      local:smollm2: smollm2 said ")


def test_a_proxy_of_the_environment_is_no_way_to_this_machine(
    suite: Suite, server: FaultServer, cache: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    suite.write(
        test_a="""
def test_a(llm_client):
    assert llm_client("local:smollm2")("hi", params={"max_tokens": 500}).text
"""
    )

    suite.run()

    assert not server.seen

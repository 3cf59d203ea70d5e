"""What is sent, and what a reply becomes."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import TYPE_CHECKING

import pytest

from pytest_llmeval.clients import Request
from pytest_llmeval.types import Prompt

if TYPE_CHECKING:
    from tests.wire.conftest import FaultServer, Lab


def test_model_messages_and_parameters_are_sent(lab: Lab, server: FaultServer) -> None:
    backend = lab.backend(params={"temperature": 0, "seed": 1}, headers={"X-Team": "a"})

    async def ask() -> None:
        prompt = Prompt.of("hi", system="be short")
        await backend.answer(Request(prompt=prompt, params={"seed": 2}))
        await backend.close()

    asyncio.run(ask())

    seen = server.seen[0]
    assert (seen.method, seen.target) == ("POST", "/v1/chat/completions")
    assert seen.data == {
        "model": "m-test",
        "messages": [
            {"role": "system", "content": "be short"},
            {"role": "user", "content": "hi"},
        ],
        "temperature": 0,
        "seed": 2,
    }
    assert seen.headers["x-team"] == "a"
    assert seen.headers["content-type"] == "application/json"
    assert "authorization" not in seen.headers


def test_the_response_says_where_it_is_from(lab: Lab) -> None:
    response = lab.ask()

    assert (response.text, response.model, response.provider) == (
        "fine",
        "m-test",
        "openai",
    )
    assert (response.origin, response.finish_reason) == ("live", "stop")
    assert response.usage is not None
    assert response.usage.total == 14
    assert response.latency_seconds is not None
    assert response.messages[0].content == "hi"
    assert response.is_from_model


def test_a_server_that_names_no_model_gave_what_was_asked_for(
    lab: Lab, server: FaultServer
) -> None:
    server.always({"choices": [{"message": {"content": "x"}}]})

    assert lab.ask().model == "m-test"


def test_completions_send_the_text(lab: Lab, server: FaultServer) -> None:
    server.always({"choices": [{"text": " Paris", "finish_reason": "stop"}]})

    assert lab.ask("The capital of France is", api="completions").text == " Paris"
    assert server.seen[0].target == "/v1/completions"
    assert server.seen[0].data["prompt"] == "The capital of France is"


def test_a_compressed_reply_is_read(lab: Lab, server: FaultServer) -> None:
    body = gzip.compress(json.dumps({"choices": [{"text": "fine"}]}).encode())
    server.always(body, headers=(("content-encoding", "gzip"),))

    assert lab.ask().text == "fine"


@pytest.mark.parametrize("text", ["Ünïcödé 日本 🎉", "\ud800 alone", "a\x00b\u2028c"])
def test_any_text_goes_out_and_comes_back(
    lab: Lab, server: FaultServer, text: str
) -> None:
    server.rule(
        lambda seen: {
            "choices": [{"message": {"content": seen.data["messages"][0]["content"]}}]
        }
    )

    assert lab.ask(text).text.replace("\\ud800", "\ud800") == text


def test_a_slash_at_the_end_of_base_url_changes_nothing(
    lab: Lab, server: FaultServer
) -> None:
    lab.ask(base_url=f"{server.base_url}/")

    assert server.seen[0].target == "/v1/chat/completions"


def test_the_query_of_base_url_stands_behind_the_path(
    lab: Lab, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "sk/test 0123456789")

    lab.ask(base_url=f"{server.base_url}?api-version=2&key=${{LAB_KEY}}")

    assert (
        server.seen[0].target
        == "/v1/chat/completions?api-version=2&key=sk%2Ftest%200123456789"
    )


def test_a_variable_of_the_query_that_is_not_set_is_named(lab: Lab) -> None:
    error = lab.error(base_url="http://127.0.0.1:1/v1?key=${LAB_KEY}")

    assert "'key' in the query of base_url needs the environment vari" in error.reason


def test_a_megabyte_each_way(lab: Lab, server: FaultServer) -> None:
    text = "word " * 200_000
    server.always({"choices": [{"message": {"content": text}}]})

    assert lab.ask(text).text == text

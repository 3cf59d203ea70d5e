"""Streams and vectors of llmock's, whole and cut in each of its ways."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.clients import Request
from pytest_llmeval.types import Prompt, unpacked_vector

if TYPE_CHECKING:
    from tests.wire.peers.conftest import Peer

Grader = tuple[Any, "Peer"]

pytestmark = pytest.mark.parametrize("provider", ["openai"], indirect=True)


def test_a_stream_is_read_whole(grader: Grader) -> None:
    llmock, peer = grader
    llmock.reply("The capital of Peru is Lima.")

    response = peer.ask("Capital of Peru?", stream=True)

    assert response.text == "The capital of Peru is Lima."
    assert response.finish_reason == "stop"
    assert response.usage is not None
    assert response.usage.output_tokens
    llmock.assert_resilient(strict=True)


def test_a_tool_call_comes_in_pieces(grader: Grader) -> None:
    llmock, peer = grader
    llmock.call_tool("look_up", {"city": "Rome", "days": [1, 2]})
    tool = {"name": "look_up", "parameters": {"type": "object", "properties": {}}}

    response = peer.ask("Weather?", stream=True, params={"tools": [tool]})

    assert response.finish_reason == "tool_calls"
    [call] = response.tool_calls
    assert (call["name"], call["arguments"]) == (
        "look_up",
        {"city": "Rome", "days": [1, 2]},
    )


FAULTS = {
    "truncate": "the stream broke off: none of its ",
    "disconnect": "the reply broke off (",
    "corrupt": "a piece of the stream is no JSON object: ",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_cut_stream_is_an_error_and_asked_for_again(
    grader: Grader, fault: str
) -> None:
    llmock, peer = grader
    getattr(llmock, fault)(after_chunks=3, times=1)

    error = peer.error("Count.", stream=True)

    assert FAULTS[fault] in str(error)
    assert error.is_transient

    getattr(llmock, fault)(after_chunks=3, times=1)
    again = peer.ask("Count.", stream=True, retries=2)
    assert again.text == "Hello! test-model received: Count."


def test_vectors_are_read(grader: Grader) -> None:
    _, peer = grader
    backend = peer.lab.backend(**peer.entry())
    request = Request(prompt=Prompt(messages=()), texts=("one", "two", "one"))

    async def answer() -> Any:
        try:
            return await backend.answer(request)
        finally:
            await backend.close()

    first, other, again = map(unpacked_vector, asyncio.run(answer()).embeddings)

    assert first == again != other
    assert len(first) == len(other)

"""What a server says of the model that answered: kept, replayed, compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.wire.conftest import completion

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.conftest import FaultServer, Lab

CHAT = completion()
REPLIES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "chat": ({}, CHAT),
    "completions": (
        {"api": "completions"},
        {"choices": [{"text": "fine", "finish_reason": "stop"}]},
    ),
    "responses": (
        {"provider": "openai-responses"},
        {"status": "completed", "output": [{"type": "message", "content": []}]},
    ),
    "azure": ({"deployment": "d", "api_version": "2024-10-21"}, CHAT),
}


@pytest.mark.parametrize("kind", REPLIES)
def test_name_and_fingerprint_are_those_of_the_reply(
    lab: Lab, server: FaultServer, kind: str
) -> None:
    entry, reply = REPLIES[kind]
    server.always({**reply, "model": "m-2024-08", "system_fingerprint": "fp_1"})

    found = lab.ask(**entry)

    assert (found.model, found.system_fingerprint) == ("m-2024-08", "fp_1")
    assert found.to_json()["system_fingerprint"] == "fp_1"


@pytest.mark.parametrize("said", [None, "", 7, {}])
def test_a_fingerprint_that_is_no_text_is_none(
    lab: Lab, server: FaultServer, said: Any
) -> None:
    server.always({**CHAT, "system_fingerprint": said})

    assert lab.ask().system_fingerprint is None


def test_a_stream_has_the_fingerprint_too(lab: Lab, server: FaultServer) -> None:
    piece = {
        "model": "m-2024-08",
        "system_fingerprint": "fp_1",
        "choices": [
            {"index": 0, "delta": {"content": "fine"}, "finish_reason": "stop"}
        ],
    }
    server.always(
        f"data: {json.dumps(piece)}\n\ndata: [DONE]\n\n".encode(),
        headers=(("content-type", "text/event-stream"),),
    )

    found = lab.ask(stream=True)

    assert (found.model, found.system_fingerprint) == ("m-2024-08", "fp_1")


def test_a_url_says_by_paths_what_answered_behind_it(
    lab: Lab, server: FaultServer
) -> None:
    server.always({"answer": "x", "meta": {"model": "m-2024-08", "build": 7}})

    found = lab.ask(
        provider=server.base_url,
        base_url=None,
        model=None,
        reply="answer",
        served_model="meta.model",
        system_fingerprint="meta.build",
    )

    assert (found.model, found.system_fingerprint) == ("m-2024-08", "7")


TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval([{"id": "a", "input": "hi", "expected": "fine"}])
def test_rows(case, generator):
    assert_exact(generator(case), case)
"""


@pytest.fixture
def drifting(suite: Suite, server: FaultServer) -> Suite:
    lab = {"provider": "openai", "base_url": server.base_url, "model": "m"}
    suite.write(llmeval_yaml=f"generator: lab\nmodels: {json.dumps({'lab': lab})}\n")
    suite.write(test_a=TEST)
    server.always({**CHAT, "model": "m-1", "system_fingerprint": "fp_1"})
    suite.run("--llmeval-save=main", "--llmeval-mode=record")
    return suite


def test_a_run_says_first_that_another_snapshot_answered(
    drifting: Suite, server: FaultServer
) -> None:
    server.always({**CHAT, "model": "m-2"})

    result, data = drifting.report("--llmeval-compare=main", "--llmeval-mode=live")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "another snapshot answers for generator openai:m: m-1 before, m-2 now",
            "compared with main (*): holds (nothing got worse)",
        ],
        consecutive=True,
    )
    (drift,) = data["comparison"]["drift"]
    assert (drift["before"], drift["now"]) == (["m-1"], ["m-2"])


def test_recordings_keep_the_snapshot(drifting: Suite, server: FaultServer) -> None:
    server.always({**CHAT, "model": "m-2"})

    _, data = drifting.report("--llmeval-compare=main", "--llmeval-mode=replay")

    (call,) = data["cases"][0]["samples"][0]["calls"]
    assert call["response"]["origin"] == "recording"
    assert call["response"]["model"] == "m-1"
    assert call["response"]["system_fingerprint"] == "fp_1"
    assert data["comparison"]["drift"] == []

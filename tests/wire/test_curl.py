"""The curl command of a request, run as it is, is the request over again."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval import Case
from pytest_llmeval.clients import Request, sent_by
from pytest_llmeval.report.curl import curl_command
from pytest_llmeval.types import Prompt

if TYPE_CHECKING:
    from tests.wire.conftest import FaultServer, Lab, Need, Seen

PROMPT = Prompt.from_json(
    [
        {"role": "system", "content": "Be short."},
        {
            "role": "user",
            "content": '@it\'s $HOME & `id` "é" 🌍 \\n\n%s ${LAB_KEY}\ud800',
        },
    ]
)
KEYS = {
    "LAB_KEY": "lab-key-$(id)-'x'",
    "TEAM": "team & co",
    "OPENAI_API_KEY": "openai-key-1",
    "AZURE_OPENAI_API_KEY": "azure-key-1",
    "ANTHROPIC_API_KEY": "anthropic-key-1",
    "GEMINI_API_KEY": "gemini-key-1",
}
CASE = Case(id="peru", input="Peru?", fields={"q": "Capital of Peru?"})


@pytest.fixture(autouse=True)
def keys(lab: Lab, monkeypatch: pytest.MonkeyPatch, need: Need) -> None:
    need("curl", is_there=shutil.which("curl") is not None, how="apt install curl")
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


def again(
    lab: Lab, server: FaultServer, request: Request | None = None, **entry: Any
) -> tuple[Seen, Seen, str]:
    """Ask, run the curl command; return both as they came, and the command."""
    request = request or Request(prompt=PROMPT, case=CASE)
    backend = lab.backend(**entry)

    async def ask() -> None:
        try:
            await backend.answer(request)
        finally:
            await backend.close()

    asyncio.run(ask())
    sent = sent_by(backend, request)
    assert sent is not None
    command = curl_command({"sent": sent.to_json()})
    assert command is not None
    subprocess.run(
        ["sh"],
        input=command.encode(),
        check=True,
        capture_output=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], **KEYS},
    )
    ours, theirs = server.seen
    return ours, theirs, command


def assert_same(ours: Seen, theirs: Seen, command: str) -> None:
    assert (ours.method, ours.target) == (theirs.method, theirs.target)
    assert ours.body == theirs.body
    # Of what it can unpack, curl has a list of its own.
    shown = ({**ours.headers}, {**theirs.headers})
    assert all(headers.pop("accept-encoding") for headers in shown)
    assert shown[0] == shown[1]
    for key in KEYS.values():
        assert key not in command


CHAT = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("entry", "reply"),
    [
        ({}, CHAT),
        (
            {
                "api_key_env": "LAB_KEY",
                "headers": {"X-Team": "${TEAM}-1", "X-Empty": ""},
                "params": {"temperature": 0.5, "max_tokens": 7, "seed": 1},
                "omit": ["seed"],
                "max_tokens_key": "max_completion_tokens",
                "system_role": "user",
            },
            CHAT,
        ),
        ({"api": "completions"}, {"choices": [{"text": "x", "finish_reason": "stop"}]}),
        ({"headers": {"Authorization": "Bearer ${LAB_KEY}"}}, CHAT),
        (
            {"provider": "openai-responses"},
            {"status": "completed", "output_text": "x", "output": []},
        ),
        (
            {"provider": "anthropic", "params": {"max_tokens": 9}},
            {"content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"},
        ),
        (
            {"provider": "gemini", "model": "gemini-x"},
            {
                "candidates": [
                    {"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}
                ]
            },
        ),
    ],
    ids=[
        "plain",
        "switches",
        "completions",
        "header",
        "responses",
        "anthropic",
        "gemini",
    ],
)
def test_each_provider(
    lab: Lab, server: FaultServer, entry: dict[str, Any], reply: Any
) -> None:
    server.always(reply)

    assert_same(*again(lab, server, **entry))


def test_a_deployment_at_azure(lab: Lab, server: FaultServer) -> None:
    entry: dict[str, Any] = {"deployment": "my gpt", "api_version": "2024-10-21"}

    ours, theirs, command = again(lab, server, base_url=server.url, **entry)

    assert_same(ours, theirs, command)
    assert "api-version=2024-10-21" in command
    assert theirs.headers["api-key"] == "azure-key-1"


@pytest.mark.parametrize("method", ["POST", "PUT", "GET"])
def test_a_url(lab: Lab, server: FaultServer, method: str) -> None:
    server.always({"answer": "fine"})
    ours, theirs, command = again(
        lab,
        server,
        provider="http",
        model=None,
        base_url=f"{server.url}/ask?team=a%20b&list[]=1&token=${{OPENAI_API_KEY}}",
        reply="answer",
        method=method,
        body={"q": "{{ case.q }} [{{ user }}]", "k": "{{ 1 }}"},
        headers={"X-Team": "${TEAM}"},
    )

    assert_same(ours, theirs, command)
    assert "token=" in theirs.target


def test_vectors(lab: Lab, server: FaultServer) -> None:
    server.always({"data": [{"index": 0, "embedding": [1]}]})
    request = Request(prompt=Prompt(messages=()), texts=("it's",))

    assert_same(*again(lab, server, request, api="embeddings"))


def test_a_body_longer_than_an_argument_may_be(lab: Lab, server: FaultServer) -> None:
    request = Request(prompt=Prompt.of("it's %d\n" * 90_000))

    ours, theirs, command = again(lab, server, request)

    assert len(ours.body) > 700_000
    assert_same(ours, theirs, command)


def test_a_key_written_into_a_header_is_left_for_the_reader_to_fill_in(
    lab: Lab,
) -> None:
    backend = lab.backend(headers={"api-key": "written-in-12345"})

    sent = sent_by(backend, Request(prompt=Prompt.of("hi")))

    assert sent is not None
    assert sent.headers["api-key"] == "[redacted]"
    assert "authorization" in sent.headers  # the variable is set


@pytest.mark.parametrize(
    "entry",
    [
        {"provider": "column", "model": "reply", "base_url": None},
        {"params": {"temperature": object()}},
    ],
)
def test_what_sends_nothing_has_no_command(lab: Lab, entry: dict[str, Any]) -> None:
    backend = lab.backend(**entry)

    assert sent_by(backend, Request(prompt=Prompt.of("hi"))) is None


def test_a_key_that_is_not_set_is_named_all_the_same(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAB_KEY")
    request = Request(prompt=Prompt.of("hi"))

    named = sent_by(lab.backend(api_key_env="LAB_KEY"), request)
    monkeypatch.delenv("OPENAI_API_KEY")
    none = sent_by(lab.backend(), request)

    assert named is not None
    assert named.headers["authorization"] == "Bearer ${LAB_KEY}"
    assert none is not None
    assert "authorization" not in none.headers

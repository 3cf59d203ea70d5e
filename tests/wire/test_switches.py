"""Models that take less than their provider's others: switches of an entry."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.clients import Request
from pytest_llmeval.types import Prompt

if TYPE_CHECKING:
    from tests.wire.conftest import FaultServer, Lab

SCHEMA = {"type": "object", "properties": {"verdict": {"enum": ["PASS", "FAIL"]}}}
SYSTEM = {"role": "system", "content": "Be short."}
USER = {"role": "user", "content": "hi"}


def sent(lab: Lab, server: FaultServer, asked: Any, **entry: Any) -> Any:
    lab.ask_prompt(asked, **entry)
    return server.seen[-1].data


# --- omit, max_tokens_key ------------------------------------------------------------


def test_parameters_that_are_omitted_are_never_sent(
    lab: Lab, server: FaultServer
) -> None:
    body = sent(
        lab,
        server,
        "hi",
        params={"temperature": 0, "seed": 1},
        omit=["temperature", "top_p"],
    )

    assert body == {"model": "m-test", "messages": [USER], "seed": 1}


def test_what_a_provider_adds_can_be_omitted(lab: Lab, server: FaultServer) -> None:
    server.always({"status": "completed", "output": []})

    body = sent(lab, server, "hi", provider="openai-responses", omit=["store"])

    assert "store" not in body


def test_the_limit_can_have_another_name(lab: Lab, server: FaultServer) -> None:
    body = sent(
        lab,
        server,
        "hi",
        params={"max_tokens": 7},
        max_tokens_key="max_completion_tokens",
    )

    assert (body["max_completion_tokens"], "max_tokens" in body) == (7, False)


def test_the_key_of_a_reply_is_of_what_is_sent(lab: Lab) -> None:
    request = Request(
        prompt=Prompt.from_json([SYSTEM, USER]),
        params={"temperature": 0, "max_tokens": 7},
    )
    backend = lab.backend(
        omit=["temperature"],
        max_tokens_key="max_completion_tokens",
        system_role="user",
    )

    identity = backend.identity(request)

    assert identity["params"] == {"max_completion_tokens": 7}
    assert identity["messages"] == [{"role": "user", "content": "Be short.\n\nhi"}]


# --- system_role ---------------------------------------------------------------------


def user(content: Any) -> Any:
    return {"role": "user", "content": content}


def assistant(content: Any) -> Any:
    return {"role": "assistant", "content": content}


PIXEL = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([SYSTEM, USER], [user("Be short.\n\nhi")]),
        ([USER], [USER]),
        ([SYSTEM], [user("Be short.")]),
        (
            [SYSTEM, assistant("yes?"), USER],
            [assistant("yes?"), user("Be short.\n\nhi")],
        ),
        ([SYSTEM, assistant("yes?")], [user("Be short."), assistant("yes?")]),
        (
            [USER, SYSTEM, user("again")],
            [user("Be short.\n\nhi\n\nagain")],
        ),
        (
            [SYSTEM, {"role": "developer", "content": "Be kind."}, USER],
            [user("Be short.\n\nBe kind.\n\nhi")],
        ),
        (
            [SYSTEM, user([{"type": "text", "text": "see"}, PIXEL])],
            [
                user(
                    [
                        {"type": "text", "text": "Be short."},
                        {"type": "text", "text": "see"},
                        PIXEL,
                    ]
                )
            ],
        ),
    ],
)
def test_instructions_can_go_into_the_first_user_message(
    lab: Lab, server: FaultServer, messages: Any, expected: Any
) -> None:
    assert sent(lab, server, messages, system_role="user")["messages"] == expected


def test_the_systems_role_can_be_developer(lab: Lab, server: FaultServer) -> None:
    body = sent(lab, server, [SYSTEM, USER], system_role="developer")

    assert [m["role"] for m in body["messages"]] == ["developer", "user"]


@pytest.mark.parametrize(
    ("provider", "reply", "apart"),
    [
        ("anthropic", {"content": []}, "system"),
        ("gemini", {"candidates": [{}]}, "systemInstruction"),
    ],
)
def test_other_providers_have_the_switch_too(
    lab: Lab, server: FaultServer, provider: str, reply: Any, apart: str
) -> None:
    server.always(reply)

    body = sent(lab, server, [SYSTEM, USER], provider=provider, system_role="user")

    assert apart not in body
    assert "Be short.\\n\\nhi" in server.seen[-1].body.decode()


# --- json_schema ---------------------------------------------------------------------


def wanting(lab: Lab, server: FaultServer, **entry: Any) -> Any:
    """Return the body sent when a judge wishes for a schema."""
    backend = lab.backend(**entry)

    async def ask() -> None:
        await backend.answer(Request(prompt=Prompt.of("hi"), schema=SCHEMA))
        await backend.close()

    asyncio.run(ask())
    return server.seen[-1].data


def test_a_judges_schema_is_sent_where_the_entry_says_so(
    lab: Lab, server: FaultServer
) -> None:
    assert "response_format" not in wanting(lab, server)
    assert wanting(lab, server, json_schema=True)["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": SCHEMA, "strict": False},
    }


def test_a_schema_of_the_params_comes_first(lab: Lab, server: FaultServer) -> None:
    mine = {"type": "json_object"}

    body = wanting(lab, server, json_schema=True, params={"response_format": mine})

    assert body["response_format"] == mine


def test_a_schema_belongs_to_the_key(lab: Lab) -> None:
    request = Request(prompt=Prompt.of("hi"), schema=SCHEMA)

    with_it = lab.backend(json_schema=True).identity(request)

    assert with_it["params"] == {"json_schema": SCHEMA}
    assert lab.backend().identity(request)["params"] == {}


# --- the server's sentence, and the fitting switch -----------------------------------

LIMIT = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead."
)
TEMPERATURE = (
    "Unsupported value: 'temperature' does not support 0 with this model. Only the "
    "default (1) value is supported."
)
TO_USER = "with system_role: user in its entry the instructions go into the first user"
OMITTED = "with omit: [temperature] in its entry it is not sent"


@pytest.mark.parametrize(
    ("sentence", "hint"),
    [
        (LIMIT, "say max_tokens_key: max_completion_tokens in its entry"),
        (TEMPERATURE, OMITTED),
        ("`temperature` is deprecated for this model.", OMITTED),
        ("temperature: Extra inputs are not permitted", OMITTED),
        ("Unrecognized request argument supplied: temperature", OMITTED),
        ("System role not supported by this chat template", TO_USER),
        (
            "Unsupported value: 'messages[0].role' does not support 'system' with "
            "this model.",
            TO_USER,
        ),
        ("Conversation roles must alternate user/assistant/user/assistant/…", TO_USER),
        ("Only user and assistant roles are supported!", TO_USER),
        ("Developer instruction is not enabled for models/gemma-3-27b-it", TO_USER),
        ("Unknown parameter: 'nucleus'", ""),
        ("The model 'm-test' is not supported", ""),
        ("temperature must be at most 2", ""),
    ],
)
def test_a_refusal_names_the_switch_that_fits(
    lab: Lab, server: FaultServer, sentence: str, hint: str
) -> None:
    server.always({"error": {"message": sentence}}, status=400)
    params = {"temperature": 0, "max_tokens": 7}

    with pytest.raises(Exception, match="refused") as caught:
        lab.ask_prompt([SYSTEM, USER], params=params)

    text = str(caught.value)
    assert f"the server refused the request (400): {sentence}" in text
    assert text.endswith(sentence) if not hint else f"{sentence}; {hint}" in text
    assert len(server.seen) == 1


def test_a_switch_that_would_not_help_is_not_named(
    lab: Lab, server: FaultServer
) -> None:
    words = "System role not supported by this chat template"
    server.always({"error": {"message": words}}, status=400)

    assert lab.error("hi").reason.endswith(words)
    assert lab.error("hi", system_role="user").reason.endswith(words)

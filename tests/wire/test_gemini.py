"""Google's generateContent: what is sent, and what a candidate becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.types import Usage

if TYPE_CHECKING:
    from tests.wire.conftest import FaultServer, Lab

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def content(*parts: Any, finish: Any = "STOP", **more: Any) -> Any:
    return {
        "candidates": [
            {
                "content": {"role": "model", "parts": list(parts)},
                "finishReason": finish,
                "index": 0,
                **more,
            }
        ],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 5},
        "modelVersion": "gemini-test-001",
    }


@pytest.fixture
def entry(lab: Lab, server: FaultServer) -> dict[str, Any]:
    server.always(content({"text": "fine"}))
    return {"provider": "gemini", "base_url": server.url, "model": "gemini-test"}


def sent(lab: Lab, server: FaultServer, entry: Any, asked: Any, **params: Any) -> Any:
    lab.ask_prompt(asked, params=params, **entry)
    return server.seen[-1].data


def test_a_request_has_the_model_in_its_path_and_the_key_in_a_header(
    lab: Lab,
    server: FaultServer,
    entry: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "gm-test-key")

    found = lab.ask("hi", **entry)

    seen = server.seen[0]
    assert seen.target == "/v1beta/models/gemini-test:generateContent"
    assert seen.headers["x-goog-api-key"] == "gm-test-key"
    assert "authorization" not in seen.headers
    assert seen.data == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    assert (found.text, found.model) == ("fine", "gemini-test-001")
    assert (found.provider, found.finish_reason) == ("gemini", "stop")
    assert found.usage == Usage(input_tokens=9, output_tokens=5)


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("tunedModels/mine", "tunedModels/mine"),
        ("models/gemini-test", "models/gemini-test"),
        ("odd name?", "models/odd%20name%3F"),
    ],
)
def test_a_models_name_may_hold_its_folder(
    lab: Lab, server: FaultServer, entry: dict[str, Any], model: str, path: str
) -> None:
    lab.ask("hi", **{**entry, "model": model, "base_url": f"{server.url}/v1"})

    assert server.seen[0].target == f"/v1/{path}:generateContent"


def test_the_system_stands_apart_and_the_assistant_is_the_model(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    prompt = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "two"},
        {"role": "user", "content": "three"},
        {"role": "user", "content": "four"},
    ]

    body = sent(lab, server, entry, prompt)

    assert body["systemInstruction"] == {"parts": [{"text": "Be short."}]}
    assert body["contents"] == [
        {"role": "user", "parts": [{"text": "one"}]},
        {"role": "model", "parts": [{"text": "two"}]},
        {"role": "user", "parts": [{"text": "three"}, {"text": "four"}]},
    ]


def test_parts_become_its_own(lab: Lab, server: FaultServer, entry: Any) -> None:
    parts = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}},
        {"inlineData": {"mimeType": "audio/wav", "data": "aGk="}},
    ]

    body = sent(lab, server, entry, [{"role": "user", "content": parts}])

    assert body["contents"][0]["parts"] == [
        {"text": "see"},
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        {"fileData": {"fileUri": "https://x.test/a.png"}},
        {"inlineData": {"mimeType": "audio/wav", "data": "aGk="}},
    ]


def test_calls_and_their_results_are_sent_back(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    calls = [
        {"id": "c1", "name": "weather", "arguments": {"city": "Rome"}},
        {"name": "clock", "arguments": {}},
    ]
    prompt = [
        {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": '{"t": 20}'},
        {"role": "tool", "name": "clock", "content": "noon"},
    ]

    assert sent(lab, server, entry, prompt)["contents"][1:] == [
        {
            "role": "model",
            "parts": [
                {
                    "functionCall": {
                        "name": "weather",
                        "args": {"city": "Rome"},
                        "id": "c1",
                    }
                },
                {"functionCall": {"name": "clock", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "name": "weather",
                        "response": {"t": 20},
                        "id": "c1",
                    }
                },
                {"functionResponse": {"name": "clock", "response": {"output": "noon"}}},
            ],
        },
    ]


def test_parameters_are_said_in_its_words(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    tool = {"name": "weather", "description": "d", "parameters": SCHEMA, "strict": True}

    body = sent(
        lab,
        server,
        entry,
        "hi",
        temperature=0,
        max_tokens=7,
        top_p=0.5,
        stop="END",
        seed=1,
        tools=[tool, {"googleSearch": {}}],
        tool_choice={"name": "weather"},
        json_schema=SCHEMA,
        safetySettings=[{"category": "C", "threshold": "OFF"}],
        thinkingConfig={"thinkingBudget": 0},
    )

    del body["contents"]
    assert body == {
        "generationConfig": {
            "temperature": 0,
            "maxOutputTokens": 7,
            "topP": 0.5,
            "stopSequences": ["END"],
            "seed": 1,
            "responseMimeType": "application/json",
            "responseJsonSchema": SCHEMA,
            "thinkingConfig": {"thinkingBudget": 0},
        },
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "weather",
                        "description": "d",
                        "parametersJsonSchema": SCHEMA,
                    }
                ]
            },
            {"googleSearch": {}},
        ],
        "toolConfig": {
            "functionCallingConfig": {
                "mode": "ANY",
                "allowedFunctionNames": ["weather"],
            }
        },
        "safetySettings": [{"category": "C", "threshold": "OFF"}],
    }


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("auto", {"functionCallingConfig": {"mode": "AUTO"}}),
        ("none", {"functionCallingConfig": {"mode": "NONE"}}),
        ("required", {"functionCallingConfig": {"mode": "ANY"}}),
        ({"functionCallingConfig": {}}, {"functionCallingConfig": {}}),
    ],
)
def test_choices_of_tools(
    lab: Lab, server: FaultServer, entry: dict[str, Any], choice: Any, said: Any
) -> None:
    assert sent(lab, server, entry, "hi", tool_choice=choice)["toolConfig"] == said


def test_its_own_generation_config_is_kept(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    body = sent(
        lab, server, entry, "hi", generationConfig={"topK": 3}, temperature=0, seed=2
    )

    assert body["generationConfig"] == {"topK": 3, "temperature": 0, "seed": 2}


def test_calls_thoughts_and_log_probabilities_are_read_apart(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    token = {"token": "I", "logProbability": -0.5}
    other = {"token": "We", "logProbability": -1.5}
    data = content(
        {"text": "hm", "thought": True},
        {"text": "I "},
        {"text": "look."},
        {"functionCall": {"name": "weather", "args": {"city": "Rome"}}},
        logprobsResult={
            "chosenCandidates": [token],
            "topCandidates": [{"candidates": [token, other]}],
        },
    )
    data["usageMetadata"] = {
        "promptTokenCount": 9,
        "toolUsePromptTokenCount": 2,
        "cachedContentTokenCount": 4,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 3,
    }
    server.always(data)

    found = lab.ask("hi", **entry)

    assert (found.text, found.reasoning) == ("I look.", "hm")
    assert found.finish_reason == "tool_calls"
    assert found.tool_calls == (
        {"id": None, "name": "weather", "arguments": {"city": "Rome"}},
    )
    read, also = ({"token": t, "logprob": p} for t, p in (("I", -0.5), ("We", -1.5)))
    assert found.logprobs == {"content": [{**read, "top_logprobs": [read, also]}]}
    assert found.usage == Usage(
        input_tokens=11, output_tokens=8, cached_tokens=4, reasoning_tokens=3
    )


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("BLOCKLIST", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("LANGUAGE", "LANGUAGE"),
        (None, None),
    ],
)
def test_finish_reasons(
    lab: Lab, server: FaultServer, entry: dict[str, Any], finish: Any, reason: Any
) -> None:
    server.always(content(finish=finish))

    found = lab.ask("hi", **entry)

    assert (found.text, found.finish_reason) == ("", reason)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            {"promptFeedback": {"blockReason": "SAFETY"}},
            "has no candidates: the prompt was blocked (SAFETY); it is",
        ),
        ({"candidates": []}, "has no candidates; it is"),
        ({}, "has no candidates; it is '{}'"),
    ],
)
def test_a_reply_without_candidates_is_told(
    lab: Lab, server: FaultServer, entry: dict[str, Any], data: Any, words: str
) -> None:
    server.always(data)

    assert f"the reply of 'gemini-test' {words}" in lab.error(**entry).reason


def test_its_errors_are_told_in_its_words(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    error = {"code": 429, "message": "Quota is short", "status": "RESOURCE_EXHAUSTED"}
    server.always([{"error": error}], status=429)

    found = lab.error(**entry)

    assert "too many requests (429): Quota is short" in found.reason
    assert found.is_transient


def quota(name: str, **more: Any) -> Any:
    violation = {"quotaId": f"GenerateRequestsPer{name}PerProjectPerModel-FreeTier"}
    details = [
        {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [violation],
        },
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", **more},
    ]
    error = {
        "code": 429,
        "message": "You exceeded your current quota",
        "details": details,
    }
    return {"error": error}


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [("7s", 7), ("0.5s", 0.5), ("soon", None), (None, None), ("-7s", None)],
)
def test_it_says_in_its_details_how_long_to_wait(
    lab: Lab, server: FaultServer, entry: dict[str, Any], delay: Any, seconds: Any
) -> None:
    server.always(quota("Minute", retryDelay=delay), status=429)

    error = lab.error(**entry)

    assert (error.retry_after_seconds, error.is_transient) == (seconds, True)


def test_a_header_comes_before_the_details(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    server.always(
        quota("Minute", retryDelay="7s"), status=429, headers=(("retry-after", "3"),)
    )

    assert lab.error(**entry).retry_after_seconds == 3


def test_a_days_quota_that_is_spent_is_not_asked_for_again(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    server.always(quota("Day", retryDelay="39s"), status=429)

    error = lab.error(**entry)

    assert "the quota of the key is spent (429): You exceeded" in error.reason
    assert not error.is_transient


def test_a_prompt_that_is_too_long_is_told(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    words = (
        "The input token count (9) exceeds the maximum number of tokens allowed (8)."
    )
    server.always({"error": {"code": 400, "message": words}}, status=400)

    assert "too long for the model's context (400): " in lab.error(**entry).reason


def test_a_parameter_it_does_not_take_names_the_switch(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    words = "temperature is not supported by this model"
    server.always({"error": {"code": 400, "message": words}}, status=400)

    error = lab.error(params={"temperature": 0}, **entry)

    assert f"{words}; with omit: [temperature] in its entry" in error.reason


def test_an_unknown_model_is_told_with_those_there_are(
    lab: Lab, server: FaultServer, entry: dict[str, Any]
) -> None:
    server.rule(
        lambda seen: (
            {"models": [{"name": "models/gemini-tests"}]}
            if seen.target == "/v1beta/models"
            else (404, {"error": {"code": 404, "message": "not found"}})
        )
    )

    assert lab.error(**entry).reason.endswith(
        "(did you mean 'gemini-tests'?); models there are: gemini-tests"
    )

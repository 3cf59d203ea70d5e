"""What is held of every reply of a server: an answer, or an error of ours.

Replies go the whole way (body, error, dialect, answer); the wire alone is another one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.clients import GivenText, Owner, Request
from pytest_llmeval.clients._build import Surroundings, build
from pytest_llmeval.clients._http import HttpReply, _json
from pytest_llmeval.clients.likelihoods._echo import EchoRoute
from pytest_llmeval.config import Config, Limits, parse_spec
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.store.replies import packed, unpacked
from pytest_llmeval.types import Prompt

__all__ = ["SERVERS", "ServerKind"]

_CHAT: Final = Request(prompt=Prompt.of("Capital of Peru?"), params={"max_tokens": 9})
_PLAIN: Final = Request(prompt=Prompt.of("Capital of Peru?"))
_TEXTS: Final = Request(prompt=Prompt(messages=()), texts=("a", "b"))
_GIVEN: Final = Request(
    prompt=Prompt(messages=()), given=GivenText(context="a", text=" b")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wire:
    """Brings the same reply to whatever is sent."""

    content: bytes
    status: int
    headers: Mapping[str, str]

    async def send(self, *_: Any, **__: Any) -> HttpReply:
        return HttpReply(
            status=self.status,
            headers=self.headers,
            content=self.content,
            data=_json(self.content, "utf-8"),
            seconds=0.1,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerKind:
    """An interface, and what comes over it."""

    entry: Mapping[str, Any]
    """As in llmeval.yaml."""
    seeds: tuple[bytes, ...]
    """Bodies of good replies and of errors."""
    request: Request = _CHAT
    headers: Mapping[str, str] = field(default_factory=dict)

    def hold(self, body: bytes, status: int = 200) -> None:
        """Let a reply be read, kept and given again."""
        backend = self._backend(
            _Wire(content=body, status=status, headers=self.headers)
        )
        with suppress(LLMEvalError):
            response = asyncio.run(backend.answer(self.request))
            assert isinstance(response.text, str)
            kept = json.loads(json.dumps(packed(response), allow_nan=False))
            again = unpacked(kept, self.request.prompt, "cache")
            assert packed(again) == kept

    def values(self) -> list[Any]:
        """Return the good bodies as JSON values; of a stream, its pieces."""
        if not self.headers:
            return [json.loads(seed) for seed in self.seeds]
        return [
            [json.loads(line.removeprefix(b"data: ")) for line in seed.split(b"\n\n")]
            for seed in self.seeds
        ]

    def as_body(self, value: Any) -> bytes:
        """Return a body with such a value."""
        if not self.headers or not isinstance(value, list):
            return json.dumps(value).encode()
        return b"\n\n".join(b"data: " + json.dumps(one).encode() for one in value)

    def _backend(self, wire: _Wire) -> Any:
        around = Surroundings(
            root=Path(), limits=Limits(), owner=Owner(run="fuzz", process=0)
        )
        model = {} if self.entry["provider"] == "http" else {"model": "m"}
        entry = {"base_url": "http://127.0.0.1:1/v1", **model, **self.entry}
        backend: Any = build(parse_spec(entry, Config()), around)
        server: Any = wire
        if hasattr(backend, "server"):
            return replace(backend, server=replace(backend.server, wire=server))
        inner = replace(
            backend.inner, server=replace(backend.inner.server, wire=server)
        )
        found = type(backend).of(inner, only_embeds=backend.only_embeds)
        # As if the server had been found to echo.
        found.likelihoods._route = EchoRoute(server=inner.server, model="m")
        return found


def _bodies(*values: Any) -> tuple[bytes, ...]:
    return tuple(json.dumps(value).encode() for value in values)


_USAGE: Final = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
_TOKEN: Final = {"token": "L", "logprob": -0.1, "bytes": [76], "top_logprobs": []}
_TOOL: Final = {
    "id": "1",
    "index": 0,
    "type": "function",
    "function": {"name": "look", "arguments": '{"a": 1}'},
}
_ERROR: Final = {"error": {"message": "no", "type": "x", "code": 429, "status": "BUSY"}}

SERVERS = {
    "chat": ServerKind(
        entry={"provider": "openai"},
        seeds=_bodies(
            {
                "model": "m",
                "system_fingerprint": "f",
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "logprobs": {"content": [_TOKEN]},
                        "message": {
                            "role": "assistant",
                            "content": "<think>a</think>Lima",
                            "reasoning_content": "because",
                            "refusal": None,
                            "tool_calls": [_TOOL],
                        },
                    }
                ],
                "usage": {**_USAGE, "prompt_tokens_details": {"cached_tokens": 1}},
            },
            _ERROR,
        ),
    ),
    "stream": ServerKind(
        entry={"provider": "openai", "stream": True},
        headers={"content-type": "text/event-stream"},
        seeds=(
            b"\n\n".join(
                b"data: " + body
                for body in _bodies(
                    {"choices": [{"index": 0, "delta": {"content": "Li"}}]},
                    {
                        "choices": [
                            {
                                "index": 0,
                                "delta": {"content": "ma", "tool_calls": [_TOOL]},
                                "logprobs": {"content": [_TOKEN]},
                            }
                        ]
                    },
                    {
                        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                        "usage": _USAGE,
                    },
                )
            ),
        ),
    ),
    "completions": ServerKind(
        entry={"provider": "openai", "api": "completions"},
        seeds=_bodies(
            {"choices": [{"text": "Lima", "finish_reason": "length"}], "usage": _USAGE}
        ),
    ),
    "embeddings": ServerKind(
        entry={"provider": "openai", "api": "embeddings"},
        request=_TEXTS,
        seeds=_bodies(
            {
                "data": [
                    {"index": 0, "embedding": [0.5, 1]},
                    {"index": 1, "embedding": [0.25, -1e3]},
                ],
                "usage": _USAGE,
            }
        ),
    ),
    "likelihoods": ServerKind(
        entry={"provider": "openai", "api": "completions"},
        request=_GIVEN,
        seeds=_bodies(
            {
                "choices": [
                    {
                        "text": "a b",
                        "finish_reason": "length",
                        "logprobs": {
                            "tokens": ["a", " b", "c"],
                            "token_logprobs": [None, -0.5, -1.5],
                            "top_logprobs": [None, {" b": -0.5}, {"c": -1.5}],
                            "text_offset": [0, 1, 3],
                        },
                    }
                ]
            }
        ),
    ),
    "responses": ServerKind(
        entry={"provider": "openai-responses"},
        seeds=_bodies(
            {
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
                "output": [
                    {"type": "reasoning", "summary": [{"text": "because"}]},
                    {
                        "type": "message",
                        "content": [
                            {
                                "type": "output_text",
                                "text": "Lima",
                                "logprobs": [_TOKEN],
                            },
                            {"type": "refusal", "refusal": "no"},
                        ],
                    },
                    {
                        "type": "function_call",
                        "call_id": "1",
                        "name": "look",
                        "arguments": "{}",
                    },
                ],
                "usage": {"input_tokens": 3, "output_tokens": 9},
            }
        ),
    ),
    "anthropic": ServerKind(
        entry={"provider": "anthropic"},
        seeds=_bodies(
            {
                "content": [
                    {"type": "thinking", "thinking": "because"},
                    {"type": "text", "text": "Lima"},
                    {"type": "tool_use", "id": "1", "name": "look", "input": {"a": 1}},
                ],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 3, "output_tokens": 2},
            },
            {"type": "error", "error": {"type": "overloaded_error", "message": "no"}},
        ),
    ),
    "gemini": ServerKind(
        entry={"provider": "gemini"},
        seeds=_bodies(
            {
                "candidates": [
                    {
                        "content": {
                            "parts": [
                                {"text": "because", "thought": True},
                                {"text": "Lima"},
                                {"functionCall": {"name": "look", "args": {"a": 1}}},
                            ]
                        },
                        "finishReason": "STOP",
                        "logprobsResult": {
                            "chosenCandidates": [{"token": "L", "logProbability": -1}],
                            "topCandidates": [{"candidates": [{"token": "L"}]}],
                        },
                    }
                ],
                "promptFeedback": {"blockReason": "SAFETY"},
                "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2},
            },
            [
                {
                    "error": {
                        "code": 429,
                        "status": "RESOURCE_EXHAUSTED",
                        "details": [
                            {"retryDelay": "3s"},
                            {"violations": [{"quotaId": "PerDay"}]},
                        ],
                    }
                }
            ],
        ),
    ),
    "http": ServerKind(
        entry={
            "provider": "http",
            "body": {"q": "{{ prompt }}"},
            "reply": "a.0.text",
            "usage": "usage",
            "cost": "cost",
            "sources": "sources",
            "error": "error",
        },
        request=_PLAIN,
        seeds=_bodies(
            {
                "a": [{"text": "Lima"}],
                "usage": _USAGE,
                "cost": 0.5,
                "sources": ["x"],
                "error": None,
            }
        ),
    ),
}

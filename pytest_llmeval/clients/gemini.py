"""Google's generateContent: https://ai.google.dev/api/generate-content."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

from pytest_llmeval.clients._base import Request
from pytest_llmeval.clients._dialect import NoAnswerError
from pytest_llmeval.clients._finish import finish_reason
from pytest_llmeval.clients._tools import chosen, definition, neutral_call
from pytest_llmeval.clients._turns import Turn, grouped, image_of, parts_of, turns
from pytest_llmeval.clients._values import (
    count_of,
    known_sum,
    mapping_of,
    mappings_in,
    word_of,
)
from pytest_llmeval.types import Response, Usage, as_text

__all__ = ["GeminiDialect"]


_ROLES = {"assistant": "model", "tool": "user", "function": "user"}
#: Parameters that stand beside generationConfig, as they are.
_BESIDE = frozenset(
    ["safetySettings", "toolConfig", "cachedContent", "labels", "generationConfig"]
)
_CONFIG = {
    "max_tokens": "maxOutputTokens",
    "stop": "stopSequences",
    "top_p": "topP",
    "top_k": "topK",
    "n": "candidateCount",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
    "logprobs": "responseLogprobs",
    "top_logprobs": "logprobs",
    "json_schema": "responseJsonSchema",
}
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GeminiDialect:
    """generateContent."""

    provider: ClassVar[str] = "gemini"
    wanted: ClassVar[str] = "content"
    speaks: ClassVar[str] = "a Gemini interface (.../v1beta)"

    def identity(self) -> Mapping[str, Any]:
        """Return nothing: model, messages and parameters are all."""
        return {}

    def path(self, model: str) -> str:
        """Return where a request goes, below the address."""
        name = model if "/" in model else f"models/{model}"
        return f"/{quote(name, safe='/')}:generateContent"

    def body(self, model: str, request: Request) -> Mapping[str, Any]:
        """Return what is sent: the system apart, the assistant as the model."""
        system, spoken = turns(request.prompt)
        body: dict[str, Any] = {
            "contents": [
                {"role": role, "parts": [p for turn in group for p in _parts(turn)]}
                for role, group in grouped(spoken, _ROLES)
            ]
        }
        if system:
            parts = [_part(p) for content in system for p in parts_of(content)]
            body["systemInstruction"] = {"parts": parts}
        return body | _params(request.params)

    def read(self, data: Mapping[str, Any], request: Request) -> Response:
        """Return the first candidate.

        Raises:
            NoAnswerError: There is none.
        """
        candidate = next(mappings_in(data.get("candidates")), None)
        if candidate is None:
            blocked = mapping_of(data.get("promptFeedback")).get("blockReason")
            why = f": the prompt was blocked ({blocked})" if blocked else ""
            what = f"has no candidates{why}"
            raise NoAnswerError(what)
        parts = list(mappings_in(mapping_of(candidate.get("content")).get("parts")))
        calls = [
            neutral_call(call.get("id"), call.get("name"), call.get("args"))
            for call in (part.get("functionCall") for part in parts)
            if isinstance(call, Mapping)
        ]
        return Response(
            text="".join(_texts(parts, thoughts=False)),
            model=word_of(data.get("modelVersion")),
            finish_reason=finish_reason(
                candidate.get("finishReason"), has_calls=bool(calls)
            ),
            usage=usage_of(data.get("usageMetadata")),
            tool_calls=tuple(calls),
            reasoning="\n\n".join(_texts(parts, thoughts=True)) or None,
            logprobs=_logprobs(mapping_of(candidate.get("logprobsResult"))),
            raw=data,
        )


def usage_of(data: Any) -> Usage | None:
    """Return the tokens of a reply; thoughts are beside the candidates, and added."""
    usage = mapping_of(data)
    thoughts = count_of(usage.get("thoughtsTokenCount"))
    found = Usage(
        input_tokens=known_sum(
            count_of(usage.get("promptTokenCount")),
            count_of(usage.get("toolUsePromptTokenCount")),
        ),
        output_tokens=known_sum(count_of(usage.get("candidatesTokenCount")), thoughts),
        cached_tokens=count_of(usage.get("cachedContentTokenCount")),
        reasoning_tokens=thoughts,
    )
    return found if found != Usage() else None


def _texts(parts: Iterable[Mapping[str, Any]], *, thoughts: bool) -> list[str]:
    return [
        as_text(part["text"])
        for part in parts
        if part.get("text") and bool(part.get("thought")) is thoughts
    ]


def _logprobs(result: Mapping[str, Any]) -> Any:
    """Return log-probabilities in the shape of a chat completion's."""
    tops = list(mappings_in(result.get("topCandidates")))
    content = []
    for index, token in enumerate(mappings_in(result.get("chosenCandidates"))):
        top = mappings_in(tops[index].get("candidates")) if index < len(tops) else ()
        content.append({**_token(token), "top_logprobs": [_token(one) for one in top]})
    return {"content": content} if content else None


def _token(token: Mapping[str, Any]) -> dict[str, Any]:
    return {"token": token.get("token"), "logprob": token.get("logProbability")}


def _parts(turn: Turn) -> Iterator[Any]:
    if turn.role == "tool":
        yield {"functionResponse": _result(turn)}
        return
    for part in parts_of(turn.content):
        yield _part(part)
    for call in turn.calls:
        sent = {"name": call["name"], "args": call["arguments"]}
        yield {"functionCall": sent | ({"id": call["id"]} if call["id"] else {})}


def _result(turn: Turn) -> dict[str, Any]:
    """Return a tool's result: an object, as this interface wants one."""
    content = turn.content
    if isinstance(content, str):
        try:
            content = json.loads(content)
        except ValueError:
            content = turn.content
    if not isinstance(content, Mapping):
        content = {"output": content}
    sent = {"name": turn.name or "", "response": content}
    return sent | ({"id": turn.call_id} if turn.call_id else {})


def _part(part: Any) -> Any:
    if isinstance(part, str):
        return {"text": part}
    if (image := image_of(part)) is None:
        return part
    if image.data:
        return {"inlineData": {"mimeType": image.media_type, "data": image.data}}
    return {"fileData": {"fileUri": image.url}}


def _params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters in this interface's words, its own in generationConfig."""
    given = dict(params)
    sent = {key: given.pop(key) for key in _BESIDE & given.keys()}
    if isinstance(tools := given.pop("tools", None), list | tuple):
        sent["tools"] = _tools(tools)
    if (choice := given.pop("tool_choice", None)) is not None:
        sent["toolConfig"] = _tool_config(choice)
    if isinstance(given.get("stop"), str):
        given["stop"] = [given["stop"]]
    config = {_CONFIG.get(key, key): value for key, value in given.items()}
    if "responseJsonSchema" in config:
        config.setdefault("responseMimeType", "application/json")
    config = {**mapping_of(sent.get("generationConfig")), **config}
    return sent | ({"generationConfig": config} if config else {})


def _tools(tools: Sequence[Any]) -> list[Any]:
    declarations, others = [], []
    for tool in tools:
        found = definition(tool)
        if found is None:
            others.append(tool)
            continue
        found.pop("strict", None)
        if parameters := found.pop("parameters", None):
            found["parametersJsonSchema"] = parameters
        declarations.append(found)
    ours = [{"functionDeclarations": declarations}] if declarations else []
    return [*ours, *others]


def _tool_config(choice: Any) -> Any:
    name, other = chosen(choice, {})
    if name is not None:
        calling = {"mode": "ANY", "allowedFunctionNames": [name]}
        return {"functionCallingConfig": calling}
    if isinstance(other, str):
        return {"functionCallingConfig": {"mode": _MODES.get(other, other)}}
    return other

"""Anthropic's Messages: https://docs.anthropic.com/en/api/messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

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

__all__ = ["DEFAULT_MAX_TOKENS", "AnthropicDialect"]

#: The interface asks for a limit; this is the largest that every model takes.
DEFAULT_MAX_TOKENS = 4096

_ROLES = {"tool": "user", "function": "user"}
_CHOICES = {
    "auto": {"type": "auto"},
    "none": {"type": "none"},
    "required": {"type": "any"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicDialect:
    """Messages."""

    provider: ClassVar[str] = "anthropic"
    wanted: ClassVar[str] = "message"
    speaks: ClassVar[str] = "an Anthropic interface (.../v1 of /v1/messages)"

    def identity(self) -> Mapping[str, Any]:
        """Return nothing: model, messages and parameters are all."""
        return {}

    def path(self, model: str) -> str:
        """Return where a request goes, below the address."""
        return "/messages"

    def body(self, model: str, request: Request) -> Mapping[str, Any]:
        """Return what is sent: the system apart, tool results as the user's."""
        system, spoken = turns(request.prompt)
        body: dict[str, Any] = {
            "model": model,
            "messages": [
                {"role": role, "content": _content(group)}
                for role, group in grouped(spoken, _ROLES)
            ],
            "max_tokens": DEFAULT_MAX_TOKENS,
        }
        if system := _system(system):
            body["system"] = system
        return body | _params(request.params)

    def read(self, data: Mapping[str, Any], request: Request) -> Response:
        """Return the answer in a message.

        Raises:
            NoAnswerError: It has no content.
        """
        if not isinstance(data.get("content"), list):
            what = "has no content"
            raise NoAnswerError(what)
        blocks = list(mappings_in(data["content"]))
        calls = [
            neutral_call(block.get("id"), block.get("name"), block.get("input"))
            for block in blocks
            if block.get("type") == "tool_use"
        ]
        text = "".join(_texts(blocks, "text"))
        reason = finish_reason(data.get("stop_reason"), has_calls=bool(calls))
        return Response(
            text=text,
            model=word_of(data.get("model")),
            finish_reason=reason,
            usage=usage_of(data.get("usage")),
            tool_calls=tuple(calls),
            refusal=_refusal(data, text) if reason == "refusal" else None,
            reasoning="\n\n".join(_texts(blocks, "thinking")) or None,
            raw=data,
        )


def usage_of(data: Any) -> Usage | None:
    """Return the tokens of a message.

    What was read from the server's cache and what was written to it is no part of
    ``input_tokens`` there, and is added.
    """
    usage = mapping_of(data)
    cached = count_of(usage.get("cache_read_input_tokens"))
    found = Usage(
        input_tokens=known_sum(
            count_of(usage.get("input_tokens")),
            count_of(usage.get("cache_creation_input_tokens")),
            cached,
        ),
        output_tokens=count_of(usage.get("output_tokens")),
        cached_tokens=cached,
    )
    return found if found != Usage() else None


def _texts(blocks: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    return [as_text(b.get(kind)) for b in blocks if b.get("type") == kind]


def _refusal(data: Mapping[str, Any], text: str) -> str:
    details = mapping_of(data.get("stop_details"))
    return word_of(details.get("explanation")) or text or "stop_reason refusal"


def _system(contents: Sequence[Any]) -> Any:
    """Return the system's words: one text, or blocks where they are given as such."""
    if all(not isinstance(content, list | tuple) for content in contents):
        return "\n\n".join(as_text(content) for content in contents)
    return [_block(part) for content in contents for part in parts_of(content)]


def _content(group: Sequence[Turn]) -> Any:
    blocks = [block for turn in group for block in _blocks(turn)]
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        return blocks[0]["text"]
    return blocks


def _blocks(turn: Turn) -> list[Any]:
    blocks = [_block(part) for part in parts_of(turn.content)]
    if turn.role == "tool":
        content = (
            as_text(turn.content) if not isinstance(turn.content, list) else blocks
        )
        return [
            {"type": "tool_result", "tool_use_id": turn.call_id, "content": content}
        ]
    for call in turn.calls:
        blocks.append(
            {
                "type": "tool_use",
                "id": call["id"],
                "name": call["name"],
                "input": call["arguments"],
            }
        )
    return blocks


def _block(part: Any) -> Any:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if (image := image_of(part)) is None:
        return part
    source = (
        {"type": "base64", "media_type": image.media_type, "data": image.data}
        if image.data
        else {"type": "url", "url": image.url}
    )
    return {"type": "image", "source": source}


def _params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters in Anthropic's words; those of its own stay as they are."""
    sent = dict(params)
    if (stop := sent.pop("stop", None)) is not None:
        sent["stop_sequences"] = [stop] if isinstance(stop, str) else stop
    if isinstance(tools := sent.get("tools"), list | tuple):
        sent["tools"] = [_tool(tool) for tool in tools]
    if "tool_choice" in sent:
        name, other = chosen(sent["tool_choice"], _CHOICES)
        sent["tool_choice"] = {"type": "tool", "name": name} if name else other
    if (parallel := sent.pop("parallel_tool_calls", None)) is not None:
        choice = mapping_of(sent.get("tool_choice")) or _CHOICES["auto"]
        sent["tool_choice"] = {**choice, "disable_parallel_tool_use": not parallel}
    if (schema := sent.pop("json_schema", None)) is not None:
        config = mapping_of(sent.get("output_config"))
        wanted = {"type": "json_schema", "schema": schema}
        sent["output_config"] = {**config, "format": wanted}
    return sent


def _tool(tool: Any) -> Any:
    found = definition(tool)
    if found is None:
        return tool
    parameters = found.pop("parameters", {"type": "object", "properties": {}})
    return {**found, "input_schema": parameters}

"""OpenAI's Responses: https://platform.openai.com/docs/api-reference/responses.

Replies are asked not to be stored (``store: false``) unless the params say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_llmeval.clients._base import Request
from pytest_llmeval.clients._dialect import NoAnswerError
from pytest_llmeval.clients._finish import finish_reason
from pytest_llmeval.clients._structured import is_strict
from pytest_llmeval.clients._tools import (
    arguments_text,
    calls_of_chat,
    chosen,
    definition,
    neutral_call,
)
from pytest_llmeval.clients._turns import image_of, parts_of
from pytest_llmeval.clients._values import count_of, mapping_of, mappings_in, word_of
from pytest_llmeval.types import Message, Prompt, Response, Usage, as_text

__all__ = ["ResponsesDialect"]

_LOGPROBS = "message.output_text.logprobs"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesDialect:
    """Responses."""

    provider: ClassVar[str] = "openai-responses"
    wanted: ClassVar[str] = "response"
    speaks: ClassVar[str] = "an interface with OpenAI's Responses (.../v1)"

    def identity(self) -> Mapping[str, Any]:
        """Return nothing: model, messages and parameters are all."""
        return {}

    def path(self, model: str) -> str:
        """Return where a request goes, below the address."""
        return "/responses"

    def body(self, model: str, request: Request) -> Mapping[str, Any]:
        """Return what is sent: messages, calls and their results as items."""
        items = list(_items(request.prompt))
        return {
            "model": model,
            "input": items,
            "store": False,
            **_params(request.params),
        }

    def read(self, data: Mapping[str, Any], request: Request) -> Response:
        """Return the answer in a response's items.

        Raises:
            NoAnswerError: It has no output, or is not finished.
        """
        if not isinstance(data.get("output"), list):
            what = "has no output"
            raise NoAnswerError(what)
        status = data.get("status")
        if status in ("queued", "in_progress"):
            what = f"is not finished (status {status}): leave background out of params"
            raise NoAnswerError(what)
        items = list(mappings_in(data["output"]))
        parts = [p for item in _of(items, "message") for p in _parts(item)]
        refusal = "".join(as_text(p.get("refusal")) for p in _of(parts, "refusal"))
        calls = [
            neutral_call(i.get("call_id"), i.get("name"), i.get("arguments"))
            for i in _of(items, "function_call")
        ]
        usage = usage_of(data.get("usage"))
        return Response(
            text="".join(as_text(p.get("text")) for p in _of(parts, "output_text")),
            model=word_of(data.get("model")),
            finish_reason=finish_reason(
                _end(data, usage, request),
                has_calls=bool(calls),
                has_refusal=bool(refusal),
            ),
            usage=usage,
            tool_calls=tuple(calls),
            refusal=refusal or None,
            reasoning="\n\n".join(_thoughts(items)) or None,
            logprobs=_logprobs(parts),
            raw=data,
        )


def usage_of(data: Any) -> Usage | None:
    """Return the tokens of a response; cached and reasoning ones are in the counts."""
    usage = mapping_of(data)
    read = mapping_of(usage.get("input_tokens_details"))
    written = mapping_of(usage.get("output_tokens_details"))
    found = Usage(
        input_tokens=count_of(usage.get("input_tokens")),
        output_tokens=count_of(usage.get("output_tokens")),
        cached_tokens=count_of(read.get("cached_tokens")),
        reasoning_tokens=count_of(written.get("reasoning_tokens")),
    )
    return found if found != Usage() else None


def _end(data: Mapping[str, Any], usage: Usage | None, request: Request) -> Any:
    """Return why a response ended, in a word.

    OpenAI repeats the limit it was given, and says ``incomplete`` at it. Servers that
    do neither (llama.cpp) call a cut response ``completed``: then the tokens tell.
    """
    status = data.get("status")
    if status == "incomplete":
        return mapping_of(data.get("incomplete_details")).get("reason") or "length"
    limit = count_of(request.params.get("max_tokens"))
    written = usage.output_tokens if usage else None
    if "max_output_tokens" in data or limit is None or written is None:
        return status
    return "length" if written >= limit else status


def _of(items: Sequence[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    return [item for item in items if item.get("type") == kind]


def _parts(item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from mappings_in(item.get("content"))


def _thoughts(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the reasoning: the whole of it where it is shown, else its summary."""
    for item in _of(items, "reasoning"):
        whole = [as_text(part.get("text")) for part in _parts(item)]
        summary = [as_text(p.get("text")) for p in mappings_in(item.get("summary"))]
        yield from filter(None, whole or summary)


def _logprobs(parts: Sequence[Mapping[str, Any]]) -> Any:
    found = [
        t for p in _of(parts, "output_text") for t in mappings_in(p.get("logprobs"))
    ]
    return {"content": found} if found else None


def _items(prompt: Prompt) -> Iterator[dict[str, Any]]:
    for message in prompt.messages:
        if message.role in {"tool", "function"}:
            yield {
                "type": "function_call_output",
                "call_id": message.extra.get("tool_call_id"),
                "output": as_text(message.content),
            }
            continue
        content = _content(message)
        if content not in ("", []):
            yield {"type": "message", "role": message.role, "content": content}
        for call in calls_of_chat(message.extra.get("tool_calls")):
            yield {
                "type": "function_call",
                "call_id": call["id"],
                "name": call["name"],
                "arguments": arguments_text(call),
            }


def _content(message: Message) -> Any:
    is_output = message.role == "assistant"
    if not is_output and not isinstance(message.content, list | tuple):
        return as_text(message.content)
    kind = "output_text" if is_output else "input_text"
    return [_part(part, kind) for part in parts_of(message.content)]


def _part(part: Any, kind: str) -> Any:
    if isinstance(part, str):
        return {"type": kind, "text": part}
    if (image := image_of(part)) is None:
        return part
    detail = mapping_of(part["image_url"]).get("detail", "auto")
    return {"type": "input_image", "image_url": image.url, "detail": detail}


def _params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters in this interface's words; its own stay as they are."""
    sent = dict(params)
    if (limit := sent.pop("max_tokens", None)) is not None:
        sent["max_output_tokens"] = limit
    if isinstance(tools := sent.get("tools"), list | tuple):
        sent["tools"] = [_tool(tool) for tool in tools]
    if "tool_choice" in sent:
        name, other = chosen(sent["tool_choice"], {})
        sent["tool_choice"] = {"type": "function", "name": name} if name else other
    if (schema := sent.pop("json_schema", None)) is not None:
        wanted = {
            "type": "json_schema",
            "name": "reply",
            "schema": schema,
            "strict": is_strict(schema),
        }
        sent["text"] = {**mapping_of(sent.get("text")), "format": wanted}
    if sent.pop("logprobs", None):
        sent["include"] = [*sent.get("include", ()), _LOGPROBS]
    return sent


def _tool(tool: Any) -> Any:
    found = definition(tool)
    return tool if found is None else {"type": "function", **found}

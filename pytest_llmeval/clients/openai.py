"""Chat completions as OpenAI defined them and dozens of servers speak them.

https://platform.openai.com/docs/api-reference/chat; fields that other servers add
(``reasoning_content``, ``reasoning``) are read where they stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_llmeval.clients._base import Request
from pytest_llmeval.clients._completion import first_choice, read_choice
from pytest_llmeval.clients._dialect import NoAnswerError
from pytest_llmeval.clients._structured import is_strict
from pytest_llmeval.clients._tools import (
    arguments_text,
    calls_of_chat,
    chosen,
    definition,
)
from pytest_llmeval.types import Message, Prompt, Response

__all__ = ["OpenAIDialect"]


_PATHS = {"chat": "/chat/completions", "completions": "/completions"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIDialect:
    """Chat completions, and plain ones."""

    provider: ClassVar[str] = "openai"
    wanted: ClassVar[str] = "completion"
    speaks: ClassVar[str] = "an OpenAI-compatible interface (.../v1)"

    api: str = "chat"
    """chat, or completions: the plain continuation of the prompt's text."""
    stream: bool = False
    """Whether to ask for pieces, for servers that send nothing else."""

    def identity(self) -> Mapping[str, Any]:
        """Return which of the two it is."""
        return {"api": self.api}

    def path(self, model: str) -> str:
        """Return where a request goes, below the address."""
        return _PATHS[self.api]

    def body(self, model: str, request: Request) -> Mapping[str, Any]:
        """Return what is sent: the model, the messages, the parameters."""
        asked: dict[str, Any] = (
            {"prompt": request.prompt.text}
            if self.api == "completions"
            else {"messages": _messages(request.prompt)}
        )
        if self.stream:
            asked |= {"stream": True, "stream_options": {"include_usage": True}}
        return {"model": model, **asked, **_params(request.params)}

    def read(self, data: Mapping[str, Any], request: Request) -> Response:
        """Return the first choice.

        Raises:
            NoAnswerError: There is none.
        """
        choice = first_choice(data)
        if choice is None:
            what = "has no choices"
            if "choices" in data:
                what += ": servers send that when a filter took the answer out"
            raise NoAnswerError(what)
        return read_choice(choice, data)


def _messages(prompt: Prompt) -> list[dict[str, Any]]:
    return [message.to_json() | _calls(message) for message in prompt.messages]


def _calls(message: Message) -> dict[str, Any]:
    """Return a message's tool calls in OpenAI's form, nothing where there are none."""
    items = message.extra.get("tool_calls")
    if not isinstance(items, list | tuple):
        return {}
    return {"tool_calls": [_call(item) for item in items]}


def _call(item: Any) -> Any:
    if not isinstance(item, Mapping) or "name" not in item:
        return item
    call = calls_of_chat([item])[0]
    function = {"name": call["name"], "arguments": arguments_text(call)}
    return {"id": call["id"], "type": "function", "function": function}


def _params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with tools, choice and schema in OpenAI's form."""
    sent = dict(params)
    if isinstance(tools := sent.get("tools"), list | tuple):
        sent["tools"] = [_tool(tool) for tool in tools]
    if "tool_choice" in sent:
        name, other = chosen(sent["tool_choice"], {})
        if name is not None:
            other = {"type": "function", "function": {"name": name}}
        sent["tool_choice"] = other
    if (schema := sent.pop("json_schema", None)) is not None:
        named = {"name": "reply", "schema": schema, "strict": is_strict(schema)}
        sent["response_format"] = {"type": "json_schema", "json_schema": named}
    return sent


def _tool(tool: Any) -> Any:
    found = definition(tool)
    return tool if found is None else {"type": "function", "function": found}

"""Tools in one form: calls that are read, definitions and choices that are sent.

A call is ``{"id", "name", "arguments"}`` whatever the provider; definitions are taken
in OpenAI's form, or bare: ``{"name", "description", "parameters"}``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_llmeval.clients._values import mapping_of, mappings_in
from pytest_llmeval.types import as_text

__all__ = ["arguments_text", "calls_of_chat", "chosen", "definition", "neutral_call"]


def neutral_call(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    """Return a tool call as it stands in `Response.tool_calls`.

    Args:
        call_id: Its id, None where the provider gives none.
        name: The tool's name.
        arguments: Parsed, or as a JSON text. What is not JSON stays the text it is: a
            model wrote it, and an assertion should show it.
    """
    if isinstance(arguments, str):
        arguments = _parsed(arguments)
    return {
        "id": call_id if isinstance(call_id, str) and call_id else None,
        "name": as_text(name),
        "arguments": {} if arguments is None else arguments,
    }


def calls_of_chat(items: Any) -> list[dict[str, Any]]:
    """Return the calls of a chat message's ``tool_calls``, in our form or OpenAI's."""
    found = []
    for item in mappings_in(items):
        inner = mapping_of(item.get("function") or item.get("custom")) or item
        arguments = inner.get("arguments", inner.get("input"))
        found.append(neutral_call(item.get("id"), inner.get("name"), arguments))
    return found


def arguments_text(call: Mapping[str, Any]) -> str:
    """Return the arguments of a call of ours as the JSON text some providers want."""
    arguments = call["arguments"]
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False)


def definition(tool: Any) -> dict[str, Any] | None:
    """Return a tool's name, description, parameters and strict, as far as given.

    None for a tool in a provider's own form, which is sent as it is.
    """
    if not isinstance(tool, Mapping):
        return None
    inner = tool.get("function")
    if not isinstance(inner, Mapping):
        if tool.get("type", "function") != "function" or "parameters" not in tool:
            return None
        inner = tool
    keys = ("name", "description", "parameters", "strict")
    return {key: inner[key] for key in keys if inner.get(key) is not None}


def chosen(choice: Any, words: Mapping[str, Any]) -> tuple[str | None, Any]:
    """Return the tool that a ``tool_choice`` names, and what else it says.

    Args:
        choice: auto, none, required, a name as ``{"name": …}`` or in OpenAI's form;
            anything else is the provider's own.
        words: What auto, none and required are in the provider's dialect.

    Returns:
        The name and None, or None and what is to be sent.
    """
    if isinstance(choice, str):
        return None, words.get(choice, choice)
    inner = mapping_of(mapping_of(choice).get("function")) or mapping_of(choice)
    is_ours = inner.keys() <= {"name", "type"} and inner.get("type") in (
        None,
        "function",
    )
    if is_ours and isinstance(inner.get("name"), str):
        return inner["name"], None
    return None, choice


def _parsed(text: str) -> Any:
    if not text.strip():
        return {}
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(name: str) -> None:
    message = f"{name} is no JSON number"
    raise ValueError(message)

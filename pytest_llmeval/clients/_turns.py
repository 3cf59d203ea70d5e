"""A prompt as providers other than OpenAI take it: the system's words, then turns.

Datasets and templates hold messages as chat completions have them; parts of a content
in a provider's own form are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pytest_llmeval.clients._tools import calls_of_chat
from pytest_llmeval.clients._values import mapping_of
from pytest_llmeval.types import Message, Prompt, as_text

__all__ = ["SYSTEM_ROLES", "Image", "Turn", "grouped", "image_of", "parts_of", "turns"]

SYSTEM_ROLES = frozenset({"system", "developer"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message: what its role is to the model, and what it holds."""

    role: str
    """user, assistant, or tool for the result of a call."""
    content: Any
    calls: Sequence[Mapping[str, Any]] = ()
    """Tool calls of the assistant, in our form."""
    call_id: str | None = None
    """The call that a tool's result answers."""
    name: str | None = None
    """The tool of a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image part: its address, or its data in base64 and their media type."""

    url: str
    media_type: str = ""
    data: str = ""


def turns(prompt: Prompt) -> tuple[list[Any], list[Turn]]:
    """Return the contents of the system's messages, and all others in order."""
    system = [m.content for m in prompt.messages if m.role in SYSTEM_ROLES]
    names: dict[str, str] = {}
    found = []
    for message in prompt.messages:
        if message.role in SYSTEM_ROLES:
            continue
        turn = _turn(message, names)
        names |= {call["id"]: call["name"] for call in turn.calls if call["id"]}
        found.append(turn)
    return system, found


def grouped(items: Sequence[Turn], roles: Mapping[str, str]) -> Iterator[Any]:
    """Yield ``(role, turns)`` with neighbours of one role together.

    Args:
        items: The turns.
        roles: What our roles are in the provider's words; another stays as it is.
    """
    for role, group in groupby(items, lambda turn: roles.get(turn.role, turn.role)):
        yield role, list(group)


def parts_of(content: Any) -> list[Any]:
    """Return a content as a list of parts: texts, and mappings as they are."""
    if isinstance(content, list | tuple):
        return [
            part["text"] if _is_text(part) and part.keys() == {"type", "text"} else part
            for part in content
        ]
    text = as_text(content)
    return [text] if text else []


def image_of(part: Any) -> Image | None:
    """Return the image of a part in OpenAI's form, None for any other."""
    inner = mapping_of(part).get("image_url")
    url = inner.get("url") if isinstance(inner, Mapping) else inner
    if not isinstance(url, str):
        return None
    head, comma, data = url.partition(",")
    if not url.startswith("data:") or not comma:
        return Image(url=url)
    return Image(url=url, media_type=head[5:].partition(";")[0], data=data)


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("text"), str)


def _turn(message: Message, names: Mapping[str, str]) -> Turn:
    extra = message.extra
    call_id = extra.get("tool_call_id")
    name = extra.get("name") or names.get(str(call_id))
    return Turn(
        role="tool" if message.role == "function" else message.role,
        content=message.content,
        calls=calls_of_chat(extra.get("tool_calls")),
        call_id=call_id,
        name=name,
    )

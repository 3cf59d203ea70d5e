"""Texts and messages that are sent as they are: no text of a caller is a template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.evaluate._given import not_awaited
from pytest_llmeval.types import Message, Prompt

__all__ = ["literal_prompt"]


def literal_prompt(what: Any, system: Any = None) -> Prompt:
    """Return the prompt of a text or of chat messages, after a system message.

    Args:
        what: A text, a Prompt, or messages (`Message` or mappings).
        system: A text, None for no system message.

    Raises:
        ConfigError: It is none of these.
    """
    messages = _messages(what)
    if system is None:
        return Prompt(messages=messages)
    if not isinstance(system, str):
        message = (
            f"system= beside a text or messages is a text, sent as it is, not "
            f"{system!r}; templates are rendered for cases"
        )
        raise ConfigError(message)
    if any(one.role == "system" for one in messages):
        message = f"the messages have a system message, and so has the call: {system!r}"
        raise ConfigError(message)
    return Prompt(messages=(Message(role="system", content=system), *messages))


def _messages(what: Any) -> tuple[Message, ...]:
    if isinstance(what, Prompt):
        return what.messages
    if isinstance(what, str):
        return Prompt.of(what).messages
    if isinstance(what, Sequence) and what and not isinstance(what, bytes):
        return tuple(map(_message, what))
    message = not_awaited(what, "what is asked") or (
        f"a model is asked a case, a text or chat messages, not {what!r}"
    )
    raise ConfigError(message)


def _message(item: Any) -> Message:
    if isinstance(item, Message):
        return item
    # A message that calls tools may come without a content.
    if isinstance(item, Mapping) and (
        {"role", "content"} <= item.keys() or {"role", "tool_calls"} <= item.keys()
    ):
        return Prompt.from_json([{"content": None, **item}]).messages[0]
    message = f"a chat message has a role and a content, and {item!r} has not"
    raise ConfigError(message)

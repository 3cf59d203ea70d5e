"""What an entry says of a model that takes less than its provider's others.

``omit: [temperature]`` leaves parameters out, ``max_tokens_key`` renames the one limit,
``system_role`` says where instructions go, ``json_schema`` that schemas are taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from pytest_llmeval.clients._base import Request
from pytest_llmeval.clients._turns import SYSTEM_ROLES
from pytest_llmeval.types import Message, Prompt, as_text

__all__ = ["Switches", "hint_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """The switches of an entry."""

    omit: tuple[str, ...] = ()
    """Names that are never sent, whoever sets them."""
    max_tokens_key: str = "max_tokens"
    system_role: str = "system"
    """system, developer, or user: the text goes into the first user message."""
    takes_schema: bool = False
    """Whether a schema that a judge wishes for is sent."""

    def applied(self, request: Request, params: Mapping[str, Any]) -> Request:
        """Return a request as it is to be sent.

        Args:
            request: What is asked.
            params: Those of the entry; the request's own come before them.
        """
        params = {**params, **request.params}
        if self.takes_schema and request.schema and "response_format" not in params:
            params.setdefault("json_schema", request.schema)
        params = {k: v for k, v in params.items() if k not in self.omit}
        if self.max_tokens_key != "max_tokens" and "max_tokens" in params:
            params[self.max_tokens_key] = params.pop("max_tokens")
        return replace(request, prompt=self._prompt(request.prompt), params=params)

    def without(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is sent without what is to be left out of it."""
        return {key: value for key, value in body.items() if key not in self.omit}

    def _prompt(self, prompt: Prompt) -> Prompt:
        if all(message.role not in SYSTEM_ROLES for message in prompt.messages):
            return prompt
        if self.system_role == "user":
            return Prompt(messages=tuple(_joined(prompt.messages)))
        if self.system_role == "system":
            return prompt
        return Prompt(
            messages=tuple(
                replace(m, role=self.system_role) if m.role in SYSTEM_ROLES else m
                for m in prompt.messages
            )
        )


def _joined(messages: Sequence[Message]) -> list[Message]:
    """Return messages with the system's in the first of the user's.

    Two of the user's in a row become one: models without a system role take turns.
    """
    system = [m.content for m in messages if m.role in SYSTEM_ROLES]
    others = [m for m in messages if m.role not in SYSTEM_ROLES]
    first = next((i for i, m in enumerate(others) if m.role == "user"), len(others))
    content = system if first == len(others) else [*system, others[first].content]
    merged = Message(role="user", content=_together(content))
    if first == len(others):
        others.insert(0, merged)
    else:
        others[first] = replace(others[first], content=merged.content)
    found = []
    for role, group in groupby(others, lambda message: message.role):
        same = list(group)
        if role == "user" and len(same) > 1:
            same = [replace(same[0], content=_together([m.content for m in same]))]
        found += same
    return found


def _together(contents: Sequence[Any]) -> Any:
    """Return contents as one: a text with blank lines between, or a list of parts."""
    if not any(isinstance(content, list | tuple) for content in contents):
        return "\n\n".join(as_text(content) for content in contents)
    return [
        part
        for content in contents
        for part in (
            content
            if isinstance(content, list | tuple)
            else [{"type": "text", "text": as_text(content)}]
        )
    ]


_UNTAKEN = (
    r"not support|unsupported|not (?:be )?(?:permitted|allowed|accepted)|deprecated"
    r"|un(?:known|recogni[sz]ed|expected)|not enabled|no longer|only the default"
)
_SYSTEM = re.compile(
    rf"(?:system|developer)[ _'\"`-]*(?:role|message|prompt|instruction).*(?:{_UNTAKEN})"
    rf"|(?:{_UNTAKEN}).*['\"`](?:system|developer)['\"`]"
    rf"|role.*(?:{_UNTAKEN}).*(?:system|developer)"
    r"|roles must alternate|only user(?:,| and) (?:assistant|model)",
    re.IGNORECASE | re.DOTALL,
)


def hint_of(said: str, sent: Any) -> str:
    """Return the switch that a server's refusal asks for, as the end of an error text.

    Args:
        said: The server's sentence.
        sent: The body that was refused.
    """
    names = sent.keys() if isinstance(sent, Mapping) else ()
    if "max_completion_tokens" in said and "max_tokens" in names:
        return "; say max_tokens_key: max_completion_tokens in its entry"
    if _has_system(sent) and _SYSTEM.search(said):
        return (
            "; with system_role: user in its entry the instructions go into the first "
            "user message"
        )
    if re.search(_UNTAKEN, said, re.IGNORECASE) is None:
        return ""
    named = [name for name in names if re.search(rf"\b{re.escape(name)}\b", said)]
    fitting = [name for name in named if name not in _NEEDED]
    return f"; with omit: [{fitting[0]}] in its entry it is not sent" if fitting else ""


#: Without these there is no request.
_NEEDED = frozenset({"model", "messages", "input", "contents", "prompt"})


def _has_system(sent: Any) -> bool:
    if not isinstance(sent, Mapping):
        return False
    messages = sent.get("messages") or sent.get("input")
    roles = {
        message.get("role")
        for message in (messages if isinstance(messages, list) else ())
        if isinstance(message, Mapping)
    }
    return bool(roles & SYSTEM_ROLES) or "system" in sent or "systemInstruction" in sent

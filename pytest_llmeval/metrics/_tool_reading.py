"""Tool calls as they are compared: a name, and arguments as parsed JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytest_llmeval.datasets import json_text, read_json
from pytest_llmeval.diffs import cut, json_diff, printable

__all__ = ["ANY", "ToolCall", "call_of", "is_match", "shown"]


class _Any:
    """Says that arguments are not looked at."""

    def __repr__(self) -> str:
        return "any arguments"


ANY: Final = _Any()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a tool, made or expected."""

    name: str
    arguments: Any = ANY
    """Parsed; `ANY` where the expected call does not say; text that is no JSON stays
    text."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        data: dict[str, Any] = {"name": self.name}
        return data if self.arguments is ANY else {**data, "arguments": self.arguments}


def call_of(value: Any) -> ToolCall:
    """Return a call from its neutral form or OpenAI's, or from a tool's name alone.

    Args:
        value: ``{"name", "arguments"}``, ``{"function": {"name", "arguments"}}``, or
            a text. Arguments may be JSON text.

    Raises:
        ValueError: It is none of these; the text says what it is.
    """
    if isinstance(value, str) and value:
        return ToolCall(name=value)
    if isinstance(value, Mapping):
        inner = value.get("function", value)
        inner = value if not isinstance(inner, Mapping) else inner
        name = inner.get("name")
        if isinstance(name, str) and name:
            return ToolCall(name=name, arguments=_arguments(inner))
    message = f"{cut(repr(value), 60)} is no tool call: it has no name"
    raise ValueError(message)


def _arguments(call: Mapping[str, Any]) -> Any:
    arguments = call.get("arguments", ANY)
    if isinstance(arguments, str):
        try:
            # A call without arguments comes as an empty text from some servers.
            return read_json(arguments) if arguments.strip() else {}
        except ValueError:
            return arguments
    return {} if arguments is None else arguments


def is_match(expected: ToolCall, actual: ToolCall) -> bool:
    """Return whether a call is the expected one."""
    if expected.name != actual.name:
        return False
    return expected.arguments is ANY or not any(differences(expected, actual))


def differences(expected: ToolCall, actual: ToolCall, *, width: int = 50) -> list[str]:
    """Return a line for each argument that differs."""
    if expected.arguments is ANY:
        return []
    made = {} if actual.arguments is ANY else actual.arguments
    return list(json_diff(expected.arguments, made, budget=6, width=width))


def shown(call: ToolCall, width: int) -> str:
    """Return a call as one short, inert line: ``search(city="Paris", n=3)``."""
    arguments = call.arguments
    if arguments is ANY:
        return cut(printable(f"{call.name}(…)"), width)
    if isinstance(arguments, Mapping):
        pairs = (f"{key}={_json(value)}" for key, value in arguments.items())
        return cut(printable(f"{call.name}({', '.join(pairs)})"), width)
    return cut(printable(f"{call.name}({_json(arguments)})"), width)


def _json(value: Any) -> str:
    try:
        return json_text(value)
    except (ValueError, RecursionError):
        return repr(value)


def calls_text(calls: Sequence[ToolCall]) -> str:
    """Return calls as JSON text, for a record."""
    return _json([call.to_json() for call in calls])

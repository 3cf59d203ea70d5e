"""A completion that comes in pieces, made whole: server-sent events.

https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
and https://platform.openai.com/docs/api-reference/chat-streaming. A stream may end at any
place and look well: it is whole when a piece has said why the model stopped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_llmeval.clients._values import mapping_of, mappings_in
from pytest_llmeval.types import as_text

__all__ = ["BrokenStreamError", "joined"]

#: Texts of which each piece has a part.
_GROWING = ("content", "reasoning_content", "reasoning", "refusal")
_LINE = re.compile(r"\r\n|\n|\r")


class BrokenStreamError(Exception):
    """A stream that is no whole reply; the text says what it lacks."""


def joined(content: bytes) -> Mapping[str, Any]:
    """Return the completion that the pieces of a stream make.

    Args:
        content: The whole stream.

    Returns:
        A completion as it would have come without streaming, or the error that the
        server has sent in the middle of one.

    Raises:
        BrokenStreamError: The stream ends before the reply does, or is none.
    """
    whole: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    count = 0
    for piece in _pieces(content):
        if piece.get("error"):
            return piece
        count += 1
        whole |= {key: v for key, v in piece.items() if v is not None}
        choices = piece.get("choices")
        for part in choices if isinstance(choices, list) else ():
            if isinstance(part, Mapping) and part.get("index") in (0, None):
                _add(choice, part)
    if not count:
        message = "the stream has no pieces"
        raise BrokenStreamError(message)
    if choice.get("finish_reason") is None:
        text = (choice.get("message") or {}).get("content") or choice.get("text") or ""
        shown = f"it ends {as_text(text)[-60:]!r}" if text else "nothing of it was text"
        message = (
            f"the stream broke off: none of its {count} pieces says why the model "
            f"stopped; {shown}"
        )
        raise BrokenStreamError(message)
    return {**whole, "choices": [choice]}


def _pieces(content: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the data of the events.

    Raises:
        BrokenStreamError: One is not what it should be.
    """
    for name, data in _events(content):
        if data.strip() == "[DONE]":
            return
        try:
            piece = json.loads(data)
        except (ValueError, RecursionError):
            piece = None
        if not isinstance(piece, Mapping):
            message = f"a piece of the stream is no JSON object: {data[:200]!r}"
            raise BrokenStreamError(message)
        if name == "error" and "error" not in piece:
            piece = {"error": piece}
        yield piece


def _events(content: bytes) -> Iterator[tuple[str, str]]:
    """Yield name and data of each event that has data."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        message = f"the stream is not UTF-8 ({exc.reason} at byte {exc.start})"
        raise BrokenStreamError(message) from exc
    name = ""
    data: list[str] = []
    # What follows the last empty line is half an event, unless it is a whole line more:
    # some servers leave the last empty line out.
    for line in [*_LINE.split(text), ""]:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data:
                yield name, "\n".join(data)
            name, data = "", []
        elif field == "data":
            data.append(value)
        elif field == "event":
            name = value


def _add(choice: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Add a piece of a choice to what there is of it."""
    delta = part.get("delta")
    if isinstance(delta, Mapping):
        _add_message(choice.setdefault("message", {}), delta)
    if isinstance(part.get("text"), str):
        choice["text"] = choice.get("text", "") + part["text"]
    if isinstance(logprobs := part.get("logprobs"), Mapping):
        _add_lists(choice.setdefault("logprobs", {}), logprobs)
    if part.get("finish_reason") is not None:
        choice["finish_reason"] = part["finish_reason"]


def _add_message(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for key, value in delta.items():
        if key in _GROWING:
            message[key] = _grown(message.get(key), value)
        elif key == "tool_calls":
            for call in mappings_in(value):
                _add_call(message.setdefault("tool_calls", []), call)
        elif key == "function_call":
            _add_function(message.setdefault("function_call", {}), mapping_of(value))
        elif value is not None:
            message[key] = value


def _grown(before: Any, value: Any) -> Any:
    """Return a text with a piece more; Mistral's may be lists of parts."""
    if before is None or value is None:
        return value if before is None else before
    if isinstance(before, str) and isinstance(value, str):
        return before + value
    return [*_as_parts(before), *_as_parts(value)]


def _as_parts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _add_call(calls: list[dict[str, Any]], part: Mapping[str, Any]) -> None:
    """Add a piece of a tool call to its call.

    That is the last one of its index; but some servers number all calls 0, and begin
    each with an id of its own.
    """
    place, id_ = part.get("index", len(calls)), part.get("id")
    same = [call for call in calls if call["index"] == place]
    if not same or (id_ and same[-1].get("id") not in (None, id_)):
        same = [{"index": place}]
        calls += same
    call = same[-1]
    for key, value in part.items():
        if key in ("function", "custom"):
            _add_function(call.setdefault(key, {}), mapping_of(value))
        elif value is not None and key != "index":
            call[key] = value


def _add_function(function: dict[str, Any], part: Mapping[str, Any]) -> None:
    for key, value in part.items():
        if key in ("arguments", "input") and isinstance(value, str):
            function[key] = as_text(function.get(key)) + value
        elif value:
            function[key] = value


def _add_lists(found: dict[str, Any], part: Mapping[str, Any]) -> None:
    for key, value in part.items():
        if isinstance(value, list):
            before = found.get(key)
            found[key] = [*(before if isinstance(before, list) else []), *value]
        else:
            found.setdefault(key, value)

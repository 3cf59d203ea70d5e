"""A reply as it is kept on disk, in a recording or in the cache, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from pytest_llmeval.types import (
    Likelihood,
    Origin,
    Prompt,
    Response,
    Usage,
    clean_json,
)

__all__ = ["is_reply", "packed", "unpacked"]

#: What is of the moment, or stands beside the reply already.
_NOT_KEPT: Final = frozenset({"messages", "latency_seconds", "origin", "raw"})
_KEPT: Final = tuple(f.name for f in fields(Response) if f.name not in _NOT_KEPT)
_NOTHING: Final = Prompt(messages=())


def packed(response: Response) -> dict[str, Any]:
    """Return a reply as plain JSON types, without what it took to get it."""
    kept = {name: getattr(response, name) for name in _KEPT}
    if response.usage is not None:
        usage = response.usage.to_json()
        kept["usage"] = {key: n for key, n in usage.items() if n is not None}
    if response.likelihood is not None:
        kept["likelihood"] = response.likelihood.to_json()
    data: dict[str, Any] = clean_json(kept)
    return {key: value for key, value in data.items() if value not in (None, [])}


def unpacked(data: Mapping[str, Any], prompt: Prompt, origin: Origin) -> Response:
    """Return the reply of the data of `packed`.

    Args:
        data: As read from disk.
        prompt: What was asked now.
        origin: Where it comes from now.

    Raises:
        KeyError: The text is missing.
        TypeError: A part is not what it should be.
        ValueError: A part has a value it can't have.
    """
    if not isinstance(data["text"], str):
        message = f"text is {data['text']!r:.60}"
        raise TypeError(message)
    parts = dict(data)
    usage = parts.pop("usage", None)
    likelihood = parts.pop("likelihood", None)
    for name in ("sources", "tool_calls", "embeddings"):
        parts[name] = tuple(parts.get(name, ()))
    return Response(
        **parts,
        usage=Usage(**usage) if usage else None,
        likelihood=Likelihood.from_json(likelihood) if likelihood else None,
        messages=prompt.messages,
        origin=origin,
    )


def is_reply(data: Any) -> bool:
    """Return whether `unpacked` can read what was found on disk."""
    try:
        unpacked(data, _NOTHING, "cache")
    except (AttributeError, KeyError, TypeError, ValueError):
        return False
    return True

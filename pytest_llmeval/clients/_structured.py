"""Structured output: whether a provider can hold a model to a schema word for word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_llmeval.clients._values import mapping_of

__all__ = ["is_strict"]

_WITHIN = ("properties", "$defs", "definitions")
_LISTS = ("anyOf", "allOf", "prefixItems")


def is_strict(schema: Any) -> bool:
    """Return whether every object of a JSON schema is closed and has all it may have.

    Only such schemas are taken with ``strict: true``; with others OpenAI's servers
    answer 400 (https://platform.openai.com/docs/guides/structured-outputs).
    """
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        names = set(mapping_of(schema.get("properties")))
        required = schema.get("required")
        is_whole = isinstance(required, list) and names == set(map(str, required))
        if schema.get("additionalProperties") is not False or not is_whole:
            return False
    inner = [s for key in _WITHIN for s in mapping_of(schema.get(key)).values()]
    for key in _LISTS:
        options = schema.get(key)
        inner += options if isinstance(options, list) else []
    return all(is_strict(item) for item in [*inner, schema.get("items")])

"""JSON that keeps numbers as they were written, read and written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from sys import intern
from typing import Any

from pytest_llmeval.config.yamlfile import written_number
from pytest_llmeval.types import WrittenFloat

__all__ = ["decoder", "json_problem", "json_text", "read_json"]


def decoder() -> json.JSONDecoder:
    """Return a decoder that refuses what a careful reader of JSON refuses.

    Numbers keep their text, a key may stand once in an object, NaN and Infinity are no
    JSON.
    """
    return json.JSONDecoder(
        parse_float=WrittenFloat,
        parse_int=_integer,
        parse_constant=_no_constant,
        object_pairs_hook=_object,
    )


def _integer(text: str) -> int | WrittenFloat:
    if len(text) < 19 and text != "-0":
        return int(text)
    return written_number(text)


def _no_constant(name: str) -> Any:
    message = f"{name} is not JSON: write null, or a text"
    raise ValueError(message)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # The rows of a dataset have the same keys.
    found = {intern(name): value for name, value in pairs}
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for name in names if names.count(name) > 1)
        message = f"the key {doubled!r} stands twice in one object"
        raise ValueError(message)
    return found


def json_problem(exc: ValueError | RecursionError) -> str:
    """Return what was wrong with a JSON text, without its place."""
    if isinstance(exc, json.JSONDecodeError):
        return f"not valid JSON: {exc.msg} (column {exc.colno})"
    if isinstance(exc, RecursionError):
        return "values are nested too deeply"
    return str(exc)


def read_json(text: str) -> Any:
    """Return the value of a JSON text, numbers as they were written.

    Raises:
        ValueError: It is no JSON, or has a key twice; the text says what is wrong.
    """
    try:
        return decoder().decode(text)
    except json.JSONDecodeError as exc:
        place = f"line {exc.lineno}, column {exc.colno}"
        raise ValueError(f"not valid JSON: {exc.msg} ({place})") from exc
    except (ValueError, RecursionError) as exc:
        raise ValueError(json_problem(exc)) from exc


def json_text(value: Any) -> str:
    """Return `value` as JSON, numbers as they were written, characters kept.

    Raises:
        ValueError: JSON can't hold it.
    """
    if isinstance(value, WrittenFloat):
        return value.text
    if isinstance(value, Mapping):
        inner = (f"{json_text(str(k))}: {json_text(v)}" for k, v in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(json_text, value)) + "]"
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except TypeError as exc:
        message = f"JSON can't hold {type(value).__name__} {value!r}"
        raise ValueError(message) from exc

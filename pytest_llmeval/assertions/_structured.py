"""Checks of replies with a structure: JSON, tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pytest_llmeval.assertions._settle import settle_score
from pytest_llmeval.assertions._text import scored
from pytest_llmeval.types import Score

__all__ = ["assert_json", "assert_tool_calls"]


def assert_json(
    response: Any,
    *,
    schema: Mapping[str, Any] | bool | None = None,
    equals: Any = None,
    subset: Any = None,
    fenced: bool = False,
    name: str | None = None,
) -> Score:
    """Fail unless the reply is JSON, and all that is asked of it holds.

    Args:
        response: A Response or a text.
        schema: A JSON Schema it must be valid under (extra ``json``).
        equals: The value it must equal; of a case its ``expected``, read as JSON.
        subset: What it must hold at least: keys of objects; or a case.
        fenced: Whether the JSON may stand in the reply's one Markdown fence.
        name: The check's name in reports.

    Raises:
        ConfigError: The schema is not valid, or the reply is none.
        EvalAssertionError: It does not hold.
        MissingExtraError: A schema is given and jsonschema isn't installed.
        UnscoredError: The row expects nothing or no JSON, or a model replied with
            nothing.
    """
    __tracebackhide__ = True
    score = scored(
        "json", response, equals, schema=schema, subset=subset, fenced=fenced
    )
    return settle_score(score, "==", 1, name=name)


def assert_tool_calls(
    response: Any,
    expected: Any,
    *,
    mode: Literal["strict", "unordered", "subset", "superset"] = "strict",
    name: str | None = None,
) -> Score:
    """Fail unless the reply calls the expected tools with the expected arguments.

    Args:
        response: A Response, or a list of calls.
        expected: A list of calls, or a case with a column ``tool_calls``. A call
            without ``arguments`` accepts any.
        mode: ``strict`` (these calls in this order), ``unordered`` (these in any
            order), ``subset`` (no others than these), ``superset`` (these and maybe
            others).
        name: The check's name in reports.

    Raises:
        ConfigError: There is no such mode, or what is given are no calls.
        EvalAssertionError: They differ.
        UnscoredError: The row has no usable column ``tool_calls``.
    """
    __tracebackhide__ = True
    score = scored("tool_calls", response, expected, mode=mode)
    return settle_score(score, "==", 1, name=name)

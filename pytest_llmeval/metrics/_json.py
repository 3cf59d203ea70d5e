"""JSON replies: valid, of a schema, equal to a value, or holding a part of one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pytest_llmeval.datasets import read_json
from pytest_llmeval.diffs import json_diff
from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.metrics._base import Declaration, scored_by
from pytest_llmeval.metrics._explain import ROOM, beside, labelled
from pytest_llmeval.metrics._json_schema import schema_check
from pytest_llmeval.metrics._json_text import read
from pytest_llmeval.metrics._texts import named, text_of
from pytest_llmeval.types import Case, Score

__all__ = ["JSON", "explain", "json"]

JSON: Final = Declaration(name="json", binary=True)

_SHOWN: Final = 12


@scored_by(JSON)
def json(
    response: Any,
    equals: Any = None,
    *,
    schema: Any = None,
    subset: Any = None,
    fenced: bool = False,
) -> Score:
    """Return 1 if the reply is JSON and all that is asked of it holds, else 0.

    A key may stand once in an object, NaN is no JSON, the order of keys does not
    matter, numbers are compared by value (10 and 10.0 are equal), and 10, "10" and
    true are different.

    Args:
        response: A Response or a text.
        equals: The value it must equal. Of a case its ``expected``, which is read as
            JSON where it is text. None: not asked.
        schema: A JSON Schema (extra ``json``). None: not asked.
        subset: What it must hold: of an object these keys, it may have others; a list
            has as many items, each compared the same way. A case as in `equals`.
        fenced: Whether the JSON may stand in the reply's one Markdown fence.

    Raises:
        ConfigError: The schema is not valid.
        MissingExtraError: A schema is given and jsonschema isn't installed.
    """
    problems_of = None if schema is None else schema_check(schema)
    wanted = {"equals": _value(equals), "subset": _value(subset)}
    text = text_of(response)
    reading = read(text, fenced=fenced)
    if reading.problem is not None:
        return _score(text, wanted, "invalid", [], reading.problem)
    if problems_of is not None and (problems := problems_of(reading.value)):
        return _score(text, wanted, "schema", problems, "")
    for check, value in wanted.items():
        if value is not None:
            lines = json_diff(
                value,
                reading.value,
                budget=_SHOWN,
                width=ROOM,
                subset=check == "subset",
            )
            if found := list(lines):
                return _score(text, wanted, check, found, "")
    return _score(text, wanted, "", [], "")


def _value(expected: Any) -> Any:
    """Return the value that is compared; a row's text is read as JSON."""
    if not isinstance(expected, Case):
        return expected
    value = expected.expected
    if value is None:
        message = f"{named(expected)} has no expected value to compare the JSON with"
        raise UnscoredError(message, cause="data")
    if not isinstance(value, str):
        return value
    try:
        return read_json(value)
    except ValueError as exc:
        message = f"expected of {named(expected)} is compared as JSON, and is {exc}"
        raise UnscoredError(message, cause="data") from None


def _score(
    text: str, wanted: dict[str, Any], broken: str, problems: list[str], reason: str
) -> Score:
    if problems and not reason:
        reason = problems[0] if len(problems) == 1 else _counted(broken, problems)
    details = {
        "response": text,
        "expected": wanted["equals"] if wanted["subset"] is None else wanted["subset"],
        "broken": broken,
        "problems": problems,
    }
    return JSON.scored(not broken, reason, details)


def _counted(broken: str, problems: Iterable[str]) -> str:
    first = next(iter(problems))
    what = "the schema" if broken == "schema" else "the expected value"
    return f"differs from {what} in several places, the first is {first}"


def explain(score: Score) -> list[str]:
    """Return lines that say where the value differs, and the reply."""
    details = score.details
    problems = details["problems"]
    if details["broken"] == "schema":
        lines = [line for text in problems[:_SHOWN] for line in labelled("", text)]
        if more := len(problems) - _SHOWN:
            lines += [f"… {more} more"] if more > 0 else []
        lines = [line.strip() for line in lines]
        shown = beside("schema", lines)
    else:
        shown = beside("diff", problems) if problems else []
    return [*shown, *labelled("reply", details["response"], lines=6)]

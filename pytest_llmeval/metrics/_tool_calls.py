"""Tool calls: the right ones, in the right order, with the right arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, Literal, NamedTuple

from pytest_llmeval.diffs import within
from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.metrics._base import Declaration, one_of, scored_by
from pytest_llmeval.metrics._explain import ROOM, beside, labelled
from pytest_llmeval.metrics._texts import named
from pytest_llmeval.metrics._tool_reading import (
    ANY,
    ToolCall,
    call_of,
    calls_text,
    differences,
    is_match,
    shown,
)
from pytest_llmeval.types import Case, Response, Score

__all__ = ["TOOL_CALLS", "explain", "tool_calls"]

TOOL_CALLS: Final = Declaration(name="tool_calls", binary=True, takes="calls")

_MODES: Final = ("strict", "unordered", "subset", "superset")
#: Calls of each side that a failure aligns: agents that loop make thousands.
_ALIGNED: Final = 200
_LINES: Final = 20


class Pair(NamedTuple):
    """An expected call and the one that was made in its place; None where there is none."""

    expected: ToolCall | None
    actual: ToolCall | None


@scored_by(TOOL_CALLS)
def tool_calls(
    response: Any,
    expected: Any,
    *,
    mode: Literal["strict", "unordered", "subset", "superset"] = "strict",
) -> Score:
    """Return 1 if the reply calls the expected tools, else 0.

    Arguments are compared as JSON: numbers by value, keys in any order. An expected
    call without ``arguments`` accepts any.

    Args:
        response: A Response, or a list of calls.
        expected: A list of calls, or a case with a column ``tool_calls``. A call is
            ``{"name", "arguments"}``, OpenAI's ``{"function": {…}}``, or a name.
        mode: ``strict`` (these calls in this order), ``unordered`` (these in any
            order), ``subset`` (no other calls than these), ``superset`` (these and
            maybe others).

    Raises:
        ConfigError: There is no such mode, or what is given are no calls.
    """
    one_of("mode", mode, _MODES, "tool_calls")
    wanted = _expected(expected)
    made = _made(response)
    if mode == "strict":
        pairs = _in_order(wanted, made)
        is_right = len(wanted) == len(made) and all(
            is_match(left, right) for left, right in zip(wanted, made, strict=True)
        )
    else:
        pairs = _in_any_order(wanted, made)
        is_right = not any(_is_wrong(pair, mode) for pair in pairs)
    reason = "" if is_right else _reason(wanted, made, pairs, mode)
    details = {
        "response": calls_text(made),
        "expected": calls_text(wanted),
        "mode": mode,
        "pairs": tuple(pairs),
    }
    return TOOL_CALLS.scored(is_right, reason, details)


def _made(response: Any) -> list[ToolCall]:
    if response is None:
        message = "there is no reply to score: the metric was given None"
        raise UnscoredError(message, cause="application")
    calls = response.tool_calls if isinstance(response, Response) else response
    if isinstance(calls, str) or not isinstance(calls, Sequence):
        message = (
            f"tool calls are read from a Response or a list of calls, and response is "
            f"a {type(response).__name__}"
        )
        raise ConfigError(message)
    try:
        return [call_of(call) for call in calls]
    except ValueError as exc:
        message = f"a tool call of the reply can't be read: {exc}"
        raise UnscoredError(message, cause="application") from None


def _expected(expected: Any) -> list[ToolCall]:
    case = expected if isinstance(expected, Case) else None
    value = case.fields.get("tool_calls") if case else expected
    if case and value is None:
        columns = ", ".join(map(str, case.fields)) or "none"
        message = f"{named(case)} has no column tool_calls; its columns: {columns}"
        raise UnscoredError(message, cause="data")
    problem = None
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        problem = f"{value!r} is no list of tool calls"
    else:
        try:
            return [call_of(call) for call in value]
        except ValueError as exc:
            problem = str(exc)
    if case:
        message = f"tool_calls of {named(case)}: {problem}"
        raise UnscoredError(message, cause="data")
    raise ConfigError(f"expected tool calls: {problem}")


def _in_any_order(wanted: list[ToolCall], made: list[ToolCall]) -> list[Pair]:
    """Return each expected call beside one that matches it, else one of its name.

    Calls that say their arguments choose first: what is left serves the others.
    """
    rest = list(made)
    partners: dict[int, ToolCall | None] = {}
    picky_first = sorted(range(len(wanted)), key=lambda i: wanted[i].arguments is ANY)
    for index in picky_first:
        match = next((c for c in rest if is_match(wanted[index], c)), None)
        partners[index] = match
        _take(rest, match)
    for index in picky_first:
        if partners[index] is None:
            near = next((c for c in rest if c.name == wanted[index].name), None)
            partners[index] = near
            _take(rest, near)
    pairs = [Pair(call, partners[index]) for index, call in enumerate(wanted)]
    return [*pairs, *(Pair(None, call) for call in rest)]


def _take(rest: list[ToolCall], call: ToolCall | None) -> None:
    place = next((i for i, other in enumerate(rest) if other is call), None)
    if place is not None:
        del rest[place]


def _in_order(wanted: list[ToolCall], made: list[ToolCall]) -> list[Pair]:
    """Return the calls aligned by name, in the order of both."""
    wanted, made = wanted[:_ALIGNED], made[:_ALIGNED]
    left_names, right_names = ([c.name for c in calls] for calls in (wanted, made))
    matcher = SequenceMatcher(None, left_names, right_names, autojunk=False)
    pairs: list[Pair] = []
    for tag, left, left_end, right, right_end in matcher.get_opcodes():
        if tag == "equal":
            pairs += map(Pair, wanted[left:left_end], made[right:right_end])
        else:
            pairs += [Pair(call, None) for call in wanted[left:left_end]]
            pairs += [Pair(None, call) for call in made[right:right_end]]
    return pairs


def _is_wrong(pair: Pair, mode: str) -> bool:
    expected, actual = pair
    if expected is None:
        return mode != "superset"
    if actual is None:
        return mode != "subset"
    return not is_match(expected, actual)


def _reason(
    wanted: list[ToolCall], made: list[ToolCall], pairs: Sequence[Pair], mode: str
) -> str:
    if mode == "strict" and len(wanted) == len(made):
        in_any_order = _in_any_order(wanted, made)
        if not any(_is_wrong(pair, "unordered") for pair in in_any_order):
            return "the expected calls, in another order"
    wrong = [pair for pair in pairs if _is_wrong(pair, mode)]
    counts = {
        "missing": sum(pair.actual is None for pair in wrong),
        "not expected": sum(pair.expected is None for pair in wrong),
        "with other arguments": sum(None not in pair for pair in wrong),
    }
    parts = [f"{count} {what}" for what, count in counts.items() if count]
    calls = "call" if len(wanted) == 1 else "calls"
    return f"{len(wanted)} {calls} expected, {len(made)} made: {', '.join(parts)}"


def explain(score: Score) -> list[str]:
    """Return the calls side by side: kept, missing, not expected, arguments."""
    details = score.details
    lines = [line for pair in details["pairs"] for line in _lines(pair)]
    if not lines:
        return labelled("calls", "none")
    return beside("calls", list(within(lines, _LINES)))


def _lines(pair: Pair) -> Iterator[str]:
    expected, actual = pair
    if actual is None and expected is not None:
        yield f"- {shown(expected, ROOM - 12)}  missing"
    elif expected is None and actual is not None:
        yield f"+ {shown(actual, ROOM - 17)}  not expected"
    elif expected is not None and actual is not None:
        changed = differences(expected, actual, width=ROOM - 4)
        sign = "~" if changed else "="
        yield f"{sign} {shown(actual, ROOM - 4)}"
        yield from (f"    {line}" for line in changed)

"""The verdict that an object of a judge's reply holds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from pytest_llmeval.judging._loose_json import Members
from pytest_llmeval.judging._phrases import DEMANDED, OPPOSITE, TAKEN_BACK

__all__ = ["UNCLEAR", "ObjectVerdict", "Word", "is_verdict_key", "read_object"]

Word = Literal["PASS", "FAIL"]

#: An object that was to hold a verdict and holds none that is plain.
UNCLEAR: Final = "UNCLEAR"

_VERDICT_KEYS = frozenset({"verdict", "finalverdict", "overallverdict"})
_TRUTH_KEYS = frozenset({"judgementresult", "judgmentresult"})
_REASON_KEYS = frozenset(
    {"reason", "reasons", "reasoning", "explanation", "rationale", "justification"}
)
_NOT_OURS = re.compile(
    r"candidate|expected|reference|example|schema|format|input|answer|response|reply"
    r"|quote|submission|student|previous|draft",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectVerdict:
    """What an object says: a verdict, `UNCLEAR`, or None when it is no verdict."""

    verdict: str | None
    reason: str = ""


def _plain_key(key: str) -> str:
    return re.sub(r"[\s_-]", "", key).casefold()


def is_verdict_key(key: str) -> bool:
    """Whether a key of an object, in any spelling, names the verdict."""
    return _plain_key(key) in _VERDICT_KEYS | _TRUTH_KEYS


def read_object(
    members: Members, read_text: Callable[[str], str | None]
) -> ObjectVerdict:
    """Return the verdict of an object: its own field first, else of its one part.

    Args:
        members: The object.
        read_text: Reads a field's text that is more than the bare word; returns a
            verdict, or None.
    """
    said = [
        _field_verdict(key, value, read_text)
        for key, value in members.pairs
        if is_verdict_key(key)
    ]
    if said:
        reason = _reason(members)
        first = said[0] if len(set(said)) == 1 else UNCLEAR
        # A reason that states the opposite verdict takes this one back.
        if first != UNCLEAR and _takes_back(reason, first, read_text):
            first = UNCLEAR
        return ObjectVerdict(verdict=first, reason=reason)
    parts = list(_parts(members))
    if len(members.pairs) == len(parts) == 1:
        inner = read_object(parts[0], read_text)
        # A part of a part belongs to some detail.
        is_own = any(is_verdict_key(key) for key, _ in parts[0].pairs)
        return inner if is_own else ObjectVerdict(verdict=None)
    return ObjectVerdict(verdict=None)


def _takes_back(
    reason: str, verdict: str, read_text: Callable[[str], str | None]
) -> bool:
    if read_text(reason) not in {None, verdict}:
        return True
    demands = {found[1] for found in DEMANDED.finditer(reason)}
    return bool(demands - {verdict}) or any(
        pattern.search(reason)
        for pattern in (TAKEN_BACK, OPPOSITE["PASS" if verdict == "PASS" else "FAIL"])
    )


def _parts(members: Members) -> Iterator[Members]:
    for key, value in members.pairs:
        if _NOT_OURS.search(key):
            continue
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, Members):
            yield value


def _field_verdict(key: str, value: Any, read_text: Callable[[str], str | None]) -> str:
    """Return the verdict of a field, failing closed: only no is told from yes.

    A judge asked for PASS or FAIL who writes true may mean anything that holds; where
    the key itself asks for a truth value, both of its values are plain.
    """
    word = json.dumps(value) if isinstance(value, bool | int) else value
    if not isinstance(word, str):
        return UNCLEAR
    plain = word.strip().strip(".!").casefold()
    is_truth = _plain_key(key) in _TRUTH_KEYS
    if is_truth and plain in {"true", "yes", "1"}:
        return "PASS"
    if plain in {"false", "no"} or (is_truth and plain == "0"):
        return "FAIL"
    return read_text(word) or UNCLEAR


def _reason(members: Members) -> str:
    for key, value in members.pairs:
        if _plain_key(key) in _REASON_KEYS and isinstance(value, str):
            return value.strip()
    return ""

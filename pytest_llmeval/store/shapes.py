"""What the JSON of journals and baselines looks like: either may come from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import NoneType
from typing import Any, Final

__all__ = ["BASELINE", "CASE", "FOOTER", "HEADER", "STANDING", "misfit"]


@dataclass(frozen=True, slots=True)
class _List:
    items: Any


@dataclass(frozen=True, slots=True)
class _Map:
    values: Any


@dataclass(frozen=True, slots=True)
class _Whole:
    """An object in which all of the keys are, and others may be."""

    keys: Any
    others: Any = None


_TEXT: Final = str
_SOME_TEXT: Final = (str, NoneType)
_NUMBER: Final = (int, float)
_SOME_NUMBER: Final = (int, float, NoneType)
_NOTHING: Final = object()
#: An end of a scale that is infinite stands in JSON as its text.
_END: Final = (int, float, str)
_OBJECT: Final = _Map(object)

# A mapping gives the shape of keys; one that is not there is the reader's affair.
_RESPONSE: Final = _Whole(
    dict.fromkeys(("text", "origin", "provider"), _TEXT),
    {
        **dict.fromkeys(("model", "system_fingerprint", "finish_reason"), _SOME_TEXT),
        **dict.fromkeys(("refusal", "reasoning"), _SOME_TEXT),
        **dict.fromkeys(("cost", "latency_seconds"), _SOME_NUMBER),
        "usage": (_Map(_SOME_NUMBER), NoneType),
        "sources": _List(_TEXT),
        "tool_calls": _List(_OBJECT),
        "likelihood": (_OBJECT, NoneType),
    },
)
_CALL: Final = _Whole(
    {
        **dict.fromkeys(("role", "client"), _TEXT),
        **dict.fromkeys(("error", "cause"), _SOME_TEXT),
        "settings": _OBJECT,
        "prompt": _List(_Whole({"role": _TEXT, "content": object})),
        "response": (_RESPONSE, NoneType),
        "attempts": int,
        "waits": _List(_NUMBER),
    }
)
_VOTE: Final = {
    **dict.fromkeys(("said", "favours"), _SOME_TEXT),
    "consistent": (bool, NoneType),
}
_JUDGE: Final = {
    **_VOTE,
    "votes": _List(_VOTE),
    "members": (_List({**_VOTE, "votes": _List(_VOTE)}), NoneType),
    "unstable": (bool, NoneType),
}
_CHECK: Final = _Whole(
    {
        **dict.fromkeys(("metric", "name", "operator", "reason"), _TEXT),
        **dict.fromkeys(("value", "threshold"), _SOME_NUMBER),
        **dict.fromkeys(("cause", "response"), _SOME_TEXT),
        **dict.fromkeys(("low", "high"), _END),
        "passed": (bool, NoneType),
        "higher_is_better": bool,
        "version": int,
        "judge": (_JUDGE, NoneType),
    },
    {
        "aggregation": _TEXT,
        "pool": (_Whole({"form": _TEXT, "counts": _List(_NUMBER)}), NoneType),
        "explanation": _List(_TEXT),
    },
)
_SAMPLE: Final = {
    **dict.fromkeys(("status", "reason"), _TEXT),
    "index": int,
    "cause": _SOME_TEXT,
    "calls": _List(_CALL),
    "checks": _List(_CHECK),
    "attachments": _Map(_TEXT),
}
CASE: Final = {
    **dict.fromkeys(("nodeid", "test", "case_id", "status", "reason", "rerun"), _TEXT),
    **dict.fromkeys(("cause", "source"), _SOME_TEXT),
    **dict.fromkeys(("seconds", "min_sample_rate"), _NUMBER),
    **dict.fromkeys(("tags", "gates"), _List(_TEXT)),
    "params": _Map(_TEXT),
    "row": _OBJECT,
    "repeat": int,
    "calibration": (_Whole({"true": _TEXT, "said": _SOME_TEXT}), NoneType),
    "fingerprints": {
        "row": _TEXT,
        "columns": _Map(_TEXT),
        "code": _TEXT,
        **dict.fromkeys(("template", "generator", "judge"), _SOME_TEXT),
        **dict.fromkeys(("is_numbered", "must_pass"), bool),
    },
    "samples": _List(_SAMPLE),
}

STANDING: Final = {
    **dict.fromkeys(("test", "case_id", "status", "nodeid", "row"), _TEXT),
    **dict.fromkeys(("source", "template", "model", "judge", "reply"), _SOME_TEXT),
    **dict.fromkeys(("is_numbered", "must_pass"), bool),
    **dict.fromkeys(("params", "columns"), _Map(_TEXT)),
    **dict.fromkeys(("read", "prompts", "settings"), _List(_TEXT)),
    "served": _List(_Map(_TEXT)),
    "values": _Map(
        {
            "value": _SOME_NUMBER,
            "version": int,
            "higher_is_better": bool,
            "judge": _SOME_TEXT,
        },
    ),
}
BASELINE: Final = {"commit": _SOME_TEXT, "dirty": (bool, NoneType)}
HEADER: Final = {
    **dict.fromkeys(("arguments", "generators"), _List(_TEXT)),
    **dict.fromkeys(("started", "mode"), _TEXT),
    "judge": _SOME_TEXT,
    "terms": {
        "gates": _List(_TEXT),
        "fail_on": _TEXT,
        **dict.fromkeys(("allow_missing", "fail_on_unstable"), bool),
        "max_unscored": int,
        "require": (int, str, NoneType),
        "budget": _SOME_NUMBER,
    },
}
FOOTER: Final = {
    "run": HEADER,
    "ended": ({"status": int, "failed": int, "is_cut": bool}, NoneType),
    "taken": _List(_TEXT),
    "notes": _List(_TEXT),
    "aggregates": _Map(_Map(_List(_SOME_NUMBER))),
    "collected": {
        "tests": _Map(_List(object)),
        "looked_at": _List(_TEXT),
        "only_failed": bool,
    },
}


def misfit(value: Any, shape: Any, place: str = "") -> str | None:
    """Return where a value is not of a shape, and what stands there; None if it is.

    Args:
        value: Of JSON.
        shape: A type, a tuple of shapes of which one fits, or one of this module.
        place: The way to the value, for the text.
    """
    if isinstance(shape, tuple):
        tried = [misfit(value, one, place) for one in shape]
        # The longest text is of the way that led furthest in: that shape was meant.
        return None if None in tried else max(map(str, tried), key=len)
    if isinstance(shape, type):
        is_flag = type(value) is bool and shape in _NUMBER
        fits = isinstance(value, shape) and not is_flag and value is not _NOTHING
        return None if fits else _told(value, place)
    if not isinstance(value, list if isinstance(shape, _List) else dict):
        return _told(value, place)
    found = (
        misfit(part, one, f"{place}.{key}" if place else str(key))
        for key, part, one in _parts(value, shape)
    )
    return next((text for text in found if text is not None), None)


def _parts(value: Any, shape: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield key, value and shape of what is in a list or an object."""
    if isinstance(shape, _List):
        for number, item in enumerate(value):
            yield number, item, shape.items
    elif isinstance(shape, _Map):
        for key, item in value.items():
            yield key, item, shape.values
    elif isinstance(shape, _Whole):
        for key, one in shape.keys.items():
            yield key, value.get(key, _NOTHING), one
        yield from _parts(value, shape.others or {})
    else:
        for key, one in shape.items():
            if key in value:
                yield key, value[key], one


def _told(value: Any, place: str) -> str:
    if value is _NOTHING:
        return f"{place[:100]} is not there"
    return f"{place[:100]} is {value!r:.60}"

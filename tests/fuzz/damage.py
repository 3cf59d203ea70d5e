"""Damaged files and odd texts for fuzzers.

A short part with a fixed seed runs with all tests. ``LLMEVAL_FUZZ=20000 python -m pytest
tests/unit/test_fuzz_files.py tests/unit/test_fuzz_texts.py`` looks longer and elsewhere.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

__all__ = ["IS_LONG", "JSON", "TOKENS", "changed_json", "damaged", "fuzz"]

_EXAMPLES = int(os.environ.get("LLMEVAL_FUZZ", "0"))
#: Whether time does not matter.
IS_LONG = _EXAMPLES > 0

#: What has broken readers elsewhere.
TOKENS = [
    *(b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\n"),
    *(b"\xc2\x85", b"\xe2\x80\xa8", b"\x1b[2J", b"\xe2\x80\xae", b"\xf0\x9f\x98\x80"),
    *(
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"-0",
        b"1" * 5000,
        b"null",
        b"true",
        b"[]",
        b"{}",
    ),
    *(b"[" * 400, b"[" * 100_000, b'{"a":' * 400, b"\\ud800", b"\\", b'"', b"'", b","),
    *(
        b"&a [*a]",
        b"*a",
        b"!!python/object:os.system ",
        b"!function os.system",
        b"<<: *a",
    ),
    *(b"{{", b"}}", b"{%", b"%}", b"{{ 9**9**9 }}", b"{% for x in range(10**9) %}"),
    *(b": ", b"- ", b"? ", b"| ", b"%s", b"../../etc/passwd", b"/dev/zero", b"\t"),
]


def fuzz(short: int) -> Callable[[Any], Any]:
    """Return settings: so many examples in the part that always runs."""
    return settings(
        # What is slow has fewer, in the long part too.
        max_examples=_EXAMPLES * short // 80 or short,
        derandomize=not _EXAMPLES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**30, -(10**400), 0, 1, -1, 2**63])
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.sampled_from(
        ["", "\ud800", "\x00", "\x1b]0;x\x07", "{{ 7*7 }}", "1e999", "../x"]
    )
)
#: What keys of files are given that expect something else.
_ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(5, -1, 0, 1.5, True, None, "", "[", "{{", "../x", "/", "a\nb", "\ud800"),
        *(10**30, "1" * 5000, "²", "x" * 300, [1], [[]], [None], [{"a": []}]),
        *({"a": 1}, {"5": None}, ["a", "a"]),
    ]
).map(copy.deepcopy)  # what is drawn may be changed further
#: Any JSON value, small.
JSON = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def damaged(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """Draw a file that was damaged: bytes put in, taken out, lines moved; or any bytes."""
    data = draw(st.sampled_from([*seeds, b""]))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 0, 1, 2, 9, 80, 10**6])))
        put = draw(st.sampled_from(TOKENS) | st.binary(max_size=6))
        kind = draw(st.sampled_from(["put", "take", "twice", "swap"]))
        if kind == "put":
            data = data[:start] + put + data[end:]
        elif kind == "take":
            data = data[:start] + data[end:]
        elif kind == "twice":
            data = data[:end] + data[start:]
        else:
            lines = data.split(b"\n")
            place = draw(st.integers(0, len(lines) - 1))
            lines.append(lines.pop(place))
            data = b"\n".join(lines)
    return data


@st.composite
def changed_json(draw: st.DrawFn, seeds: Sequence[Any]) -> Any:
    """Draw a JSON value of which parts were replaced, renamed or dropped."""
    value = copy.deepcopy(draw(st.sampled_from(list(seeds))))
    for _ in range(draw(st.integers(1, 3))):
        value = _changed(draw, value)
    return value


def _changed(draw: st.DrawFn, value: Any) -> Any:
    """Return a value of which one part, wherever it stands, is another."""
    place = draw(st.sampled_from(list(_places(value))))
    if not place:
        return draw(_ODD | JSON)
    inner = value
    for key in place[:-1]:
        inner = inner[key]
    key = place[-1]
    kind = draw(st.integers(0, 6))
    if kind == 0:
        del inner[key]
    elif kind == 1 and isinstance(inner, dict):
        inner[draw(st.text(max_size=8))] = inner.pop(key)
    else:
        inner[key] = draw(_ODD | _ODD | JSON)
    return value


def _places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the ways to all parts of a value."""
    yield before
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*before, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(inner, (*before, index))

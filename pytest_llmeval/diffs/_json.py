"""Differences of two JSON values, path by path, and of two lists."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from pytest_llmeval.diffs._text import WIDTH, cut, printable, shown, within

__all__ = ["json_diff", "list_diff"]

#: Characters of a JSON path after which it isn't written on.
_PATH_LENGTH: Final = 200


def list_diff(
    expected: Iterable[Any], actual: Iterable[Any], *, budget: int = 12
) -> Iterator[str]:
    """Yield what `actual` lacks and what it has too much, equal items counted.

    Args:
        expected: The items that should be there.
        actual: The items that are there.
        budget: Greatest number of lines.
    """
    left, right = list(map(shown, expected)), list(map(shown, actual))
    missing, extra = Counter(left) - Counter(right), Counter(right) - Counter(left)
    lines = [f"missing   {item}" for item in missing.elements()]
    lines += [f"extra     {item}" for item in extra.elements()]
    if not lines and left != right:
        lines = ["the same items in another order"]
    yield from within([cut(line) for line in lines], budget)


def json_diff(
    expected: Any,
    actual: Any,
    *,
    budget: int = 12,
    width: int = WIDTH,
    subset: bool = False,
) -> Iterator[str]:
    """Yield a line for each path where two JSON values differ.

    Numbers are compared by value (1 and 1.0 are equal), true and 1 are different.

    Args:
        expected: The value that should be.
        actual: The value that is.
        budget: Greatest number of lines.
        width: Greatest number of columns of a line.
        subset: Objects may hold keys that are not expected.
    """
    lines = _json_lines(expected, actual, subset=subset)
    yield from within((cut(line, width) for line in lines), budget)


def _json_lines(expected: Any, actual: Any, *, subset: bool) -> Iterator[str]:
    # A stack of our own: text of a model may be nested deeper than Python recurses.
    stack = [("$", expected, actual)]
    while stack:
        path, left, right = stack.pop()
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            shared = [key for key in left if key in right]
            stack += reversed([(_key(path, k), left[k], right[k]) for k in shared])
            for key in left:
                if key not in right:
                    yield _line(
                        _key(path, key), f"missing, expected {shown(left[key])}"
                    )
            for key in () if subset else right:
                if key not in left:
                    yield _line(
                        _key(path, key), f"not expected, got {shown(right[key])}"
                    )
        elif _is_list(left) and _is_list(right):
            pairs = enumerate(zip(left, right, strict=False))
            stack += reversed([(_item(path, i), a, b) for i, (a, b) in pairs])
            if len(left) != len(right):
                yield _line(path, f"expected {len(left)} items, got {len(right)}")
        elif not _is_same(left, right):
            yield _line(path, _expected_got(left, right))


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _is_same(left: Any, right: Any) -> bool:
    return _kind(left) == _kind(right) and bool(left == right)


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    for kind, name in (
        (str, "text"),
        (int | float | Decimal, "number"),
        (Mapping, "object"),
    ):
        if isinstance(value, kind):
            return name
    return "list" if _is_list(value) else type(value).__name__


def _expected_got(left: Any, right: Any) -> str:
    got = f"expected {shown(left)}, got {shown(right)}"
    # Only text looks like what it isn't: "10" and 10.
    is_unlike = _kind(left) != _kind(right)
    return f"{got} (text)" if is_unlike and _kind(right) == "text" else got


def _item(path: str, index: int) -> str:
    # Shown cut anyway; whole ones of a deep value would take quadratic time.
    return path if len(path) > _PATH_LENGTH else f"{path}[{index}]"


def _key(path: str, key: object) -> str:
    if len(path) > _PATH_LENGTH:
        return path
    name = cut(str(key), 40)
    if name.isidentifier():
        return f"{path}.{printable(name)}"
    return f"{path}[{shown(name)}]"


def _line(path: str, text: str) -> str:
    return f"{cut(path, 32)}: {text}"

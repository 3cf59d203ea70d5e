"""Text of values: as written, as read by a model, clean enough for any file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self


class WrittenFloat(float):
    """A number of a dataset that prints as it was written (``1.50``, ``1e5``, ``-0``).

    Args:
        text: The number as the file has it; a JSON number.
    """

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.text,)


def as_text(value: object) -> str:
    """Return a dataset value as the text a model reads or is compared with.

    Text stays as it is, numbers print as they were written, true and false as in
    JSON, None as nothing, lists and objects as JSON with their characters kept.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


#: What ``re.compile`` raises of a text that is no pattern: a warning where warnings are
#: errors (-W error).
NOT_A_PATTERN: Final = (re.error, FutureWarning, OverflowError, RecursionError)


def whole_number(text: str) -> int | None:
    """Return the number that ASCII digits write, None for another text.

    So is one of more digits than any count or line has: Python refuses to read
    thousands of them.
    """
    is_one = text.isascii() and text.isdecimal() and len(text) <= 18
    return int(text) if is_one else None


def clean_text(text: str) -> str:
    """Return `text` with lone surrogates written as escapes, so UTF-8 can hold it."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text  # itself: many keep it


_ATOMS: Final = frozenset({type(None), bool, int})


def clean_json(value: Any) -> Any:
    """Return `value` as plain JSON types; what JSON can't hold becomes its text."""
    kind = type(value)  # the plain types first: this runs a hundred times for a case
    if kind is str:
        return value if value.isascii() else clean_text(value)
    if kind in _ATOMS:
        return value
    if kind is dict:
        return {
            key if type(key) is str and key.isascii() else clean_text(str(key)): (
                clean_json(item)
            )
            for key, item in value.items()
        }
    if kind is list or kind is tuple:
        return [clean_json(item) for item in value]
    return _of_kind(value)


def _of_kind(value: Any) -> Any:
    """Return what is left of `clean_json`: numbers with a fraction, types of others."""
    if isinstance(value, float):
        finite = float(value)
        return finite if -1e999 < finite < 1e999 else str(finite)
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(k)): clean_json(v) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [clean_json(item) for item in value]
    return clean_text(str(value))

"""The key of a reply: everything that changes the answer, and nothing else.

Provider, address, model, messages, parameters and the index of the repeat. Not the API
key, not time-outs, not retries: whose key it was says nothing about the answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any, Final

from pytest_llmeval.types import clean_json, clean_text

__all__ = ["canonical", "fingerprint", "normal", "request_key"]

_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def canonical(request: Mapping[str, Any]) -> str:
    """Return a request as JSON that is the same for the same request.

    Keys are sorted; a whole number is the same written as 1 or as 1.0, as it is on
    the wire.
    """
    return _ENCODER.encode(_plain(request))


def normal(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request in the one form in which equal requests are written."""
    data: dict[str, Any] = json.loads(canonical(request))
    return data


def request_key(request: Mapping[str, Any], sample: int) -> str:
    """Return the key of a request's reply: 32 hexadecimal digits.

    Args:
        request: What a backend says identifies a question to it.
        sample: Index of the repeat: samples of one prompt are different replies.
    """
    text = f"{sample}\n{canonical(request)}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def fingerprint(value: Any) -> str:
    """Return a short hash of any JSON value: 12 hexadecimal digits, equal or not."""
    if type(value) is str:  # most columns: the same text as below, without a tree
        text = f'{{"":{_quoted(clean_json(value))}}}'
    else:
        text = canonical({"": value})
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _plain(value: Any) -> Any:
    """Return a value as `clean_json` does, a float that is whole as an int.

    One walk, and types compared first: it is done for each question.
    """
    kind = type(value)
    if kind is dict:
        return {clean_text(str(key)): _plain(item) for key, item in value.items()}
    if kind is list:
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else clean_json(value)
    if value is None or isinstance(value, int):
        return value
    return _plain(clean_json(value))

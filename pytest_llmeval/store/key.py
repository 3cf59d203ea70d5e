"""The key of a reply: everything that changes the answer, and nothing else.

Provider, address, model, messages, parameters and the index of the repeat. Not the API
key, not time-outs, not retries: whose key it was says nothing about the answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pytest_llmeval.types import clean_json

__all__ = ["canonical", "fingerprint", "request_key"]


def canonical(request: Mapping[str, Any]) -> str:
    """Return a request as JSON that is the same for the same request.

    Keys are sorted; a whole number is the same written as 1 or as 1.0, as it is on
    the wire.
    """
    return json.dumps(
        _whole_numbers(clean_json(request)), sort_keys=True, separators=(",", ":")
    )


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
    return hashlib.sha256(canonical({"": value}).encode()).hexdigest()[:12]


def _whole_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    return value

"""Vectors as they are kept and compared: numbers of 32 bits, packed into a text.

As numbers a vector of 1,536 places takes 30 KB of a recording, so 8.
"""

from __future__ import annotations

import base64
import binascii
import math
import sys
from array import array
from collections.abc import Iterable

__all__ = ["packed_vector", "unpacked_vector"]


def packed_vector(numbers: Iterable[float]) -> str:
    """Return numbers as base64 of little-endian floats of 32 bits, as OpenAI packs them.

    Raises:
        ValueError: There are none, or one is infinite or no number.
        TypeError: One is no number.
        OverflowError: One is too large.
    """
    floats = array("f", numbers)
    if not floats or not all(map(math.isfinite, floats)):
        message = "a vector is made of finite numbers"
        raise ValueError(message)
    return base64.b64encode(_little_endian(floats).tobytes()).decode()


def unpacked_vector(text: str) -> list[float]:
    """Return the numbers of a packed vector.

    Raises:
        ValueError: The text is none.
    """
    try:
        floats = array("f", base64.b64decode(text, validate=True))
    except binascii.Error as exc:
        message = f"{text!r:.40} is no packed vector: {exc}"
        raise ValueError(message) from exc
    return _little_endian(floats).tolist()


def _little_endian(floats: array[float]) -> array[float]:
    if sys.byteorder == "big":
        floats.byteswap()
    return floats

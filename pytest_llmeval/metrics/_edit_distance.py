"""The Levenshtein distance of two texts, many cells of its table at a time."""

from __future__ import annotations

from typing import Final

__all__ = ["MOST_CELLS", "edit_distance"]

#: Cells of the table that are computed: about half a second's work.
MOST_CELLS: Final = 2_000_000_000


def edit_distance(left: str, right: str) -> int | None:
    """Return how many characters must be put in, taken out or replaced.

    None where the texts are so long that it would take more than `MOST_CELLS`.

    Source: Myers' bit-vector algorithm (1999) as Hyyrö (2003) gives it, on integers as
    long as the longer text.
    """
    left, right = _without_common_ends(left, right)
    if len(left) < len(right):
        left, right = right, left
    if not right:
        return len(left)
    if len(left) * len(right) > MOST_CELLS:
        return None
    places = _places(left, set(right))
    size = len(left)
    mask, last = (1 << size) - 1, 1 << (size - 1)
    up, down, distance = mask, 0, size  # vertical steps of +1 and -1
    for char in right:
        match = places.get(char, 0)
        diagonal = (((match & up) + up) ^ up) | match | down
        right_up = down | (~(diagonal | up) & mask)
        right_down = up & diagonal
        distance += bool(right_up & last) - bool(right_down & last)
        right_up = (right_up << 1 | 1) & mask
        right_down = (right_down << 1) & mask
        up = right_down | (~(diagonal | right_up) & mask)
        down = right_up & diagonal
    return distance


def _without_common_ends(left: str, right: str) -> tuple[str, str]:
    start = _common(left, right)
    left, right = left[start:], right[start:]
    end = _common(left[::-1], right[::-1])
    return left[: len(left) - end], right[: len(right) - end]


def _common(left: str, right: str) -> int:
    """Return how long the beginning is that two texts share."""
    low, high = 0, min(len(left), len(right))
    while low < high:  # compared in pieces, not character by character
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _places(text: str, chars: set[str]) -> dict[str, int]:
    """Return for each character the places where `text` has it, as bits."""
    turned = text[::-1]
    present = sorted(chars.intersection(turned))
    places: dict[str, int] = {}
    # Bytes are translated at the speed of memory, 255 characters at a time.
    for start in range(0, len(present), 255):
        part = present[start : start + 255]
        codes = {ord(char): code for code, char in enumerate(part, 1)}
        coded = _coded(turned, codes)
        for code, char in enumerate(part, 1):
            digits = bytes(49 if place == code else 48 for place in range(256))
            places[char] = int(coded.translate(digits), 2)
    return places


def _coded(text: str, codes: dict[int, int]) -> bytes:
    distinct = {ord(char): codes.get(ord(char), 0) for char in set(text)}
    return text.translate(distinct).encode("latin-1")

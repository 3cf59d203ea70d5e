"""Texts made fit to be looked for in a reply."""

from __future__ import annotations

import re
from typing import Any, Final

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.metrics._steps import folded, spelling, visible
from pytest_llmeval.metrics._texts import named, references_of
from pytest_llmeval.types import Case

__all__ = ["comparable", "needles_of"]

_MINUS_CURRENCY: Final = re.compile(r"-([$€£¥₹])(?=\d)")


def comparable(text: str, *, ignore_case: bool) -> str:
    """Return `text` with one form of its characters, its case and its white space."""
    text = _MINUS_CURRENCY.sub(r"\1-", visible(spelling(text)))
    return " ".join((folded(text) if ignore_case else text).split())


def needles_of(expected: Any, *, ignore_case: bool) -> dict[str, str]:
    """Return the expected texts and their comparable forms.

    Args:
        expected: A case (its ``expected``), a text or a list of texts.
        ignore_case: Whether letter case matters not.

    Raises:
        UnscoredError: Nothing is expected, or an empty text, which any reply has.
    """
    needles = {}
    for text in references_of(expected):
        needles[text] = comparable(text, ignore_case=ignore_case)
        if not needles[text]:
            where = f"{named(expected)}: " if isinstance(expected, Case) else ""
            message = (
                f"{where}expected {text!r} is an empty text, which any reply contains"
            )
            raise UnscoredError(message, cause="data")
    return needles

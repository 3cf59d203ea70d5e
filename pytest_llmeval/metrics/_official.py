"""The words of the official SQuAD and HotpotQA scripts, quickly, and their references.

Source: `normalize_answer` of evaluate-v1.1.py, evaluate-v2.0.py (SQuAD) and
hotpot_evaluate_v1.py: lower case, no ASCII punctuation, no articles, one kind of space.
"""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase, punctuation
from typing import Any, Final

from pytest_llmeval.metrics._normalise import PRESETS
from pytest_llmeval.metrics._texts import references_of
from pytest_llmeval.types import Case

__all__ = ["answerable", "official_words"]

_PUNCTUATION: Final = str.maketrans("", "", punctuation)
_ASCII: Final = str.maketrans(ascii_uppercase, ascii_lowercase, punctuation)
_ARTICLES: Final = frozenset({"a", "an", "the"})


def official_words(text: str) -> list[str]:
    """Return the words of a text after the official normalisation.

    Args:
        text: Any text.
    """
    is_ascii = text.isascii()
    plain = text.translate(_ASCII) if is_ascii else text.lower().translate(_PUNCTUATION)
    words = plain.split()
    if not "".join(words).isalnum():
        # An article ends at anything that is no letter: a combining mark, a symbol.
        return PRESETS["squad_v1"](text).split()
    if _ARTICLES.isdisjoint(words):
        return words
    return [word for word in words if word not in _ARTICLES]


def answerable(expected: Any) -> tuple[str, ...]:
    """Return the references SQuAD 2.0 compares with: those that say something.

    None at all, an unanswerable question, is the empty text.

    Args:
        expected: A case, a text or a list; an empty list is no answer.

    Raises:
        UnscoredError: Nothing is expected where something is needed.
    """
    value = expected.expected if isinstance(expected, Case) else expected
    if isinstance(value, list | tuple) and not value:
        return ("",)
    said = (text for text in references_of(expected) if official_words(text))
    return tuple(said) or ("",)

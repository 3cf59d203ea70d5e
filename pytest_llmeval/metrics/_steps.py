"""The steps of normalisation, by name.

Each is a function of a text; `PRESETS` of `_normalise` are rows of them, and users
combine their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from string import punctuation
from typing import Final, NamedTuple
from unicodedata import category, combining, normalize

from pytest_llmeval.metrics._numerals import plain_numbers
from pytest_llmeval.metrics._symbols import meaningful_symbols

__all__ = [
    "ARTICLE",
    "STEPS",
    "UNSPACED",
    "NamedStep",
    "Step",
    "folded",
    "spelling",
    "visible",
]

Step = Callable[[str], str]

#: Scripts written without spaces between words, as ranges of a character class.
UNSPACED: Final = (
    "\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_UNSPACED_CHAR: Final = re.compile(f"([{UNSPACED}])")

_SPELLINGS: Final = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−⁃﹘﹣－", "-"),
        **dict.fromkeys("‘’‚‛′‵ʹʻʼʽˈ`´＇｀", "'"),
        **dict.fromkeys("“”„‟″‶«»", '"'),
        **dict.fromkeys("™℠®©", None),
    }
)
_VULGAR_AFTER_DIGIT: Final = re.compile("(?<=[0-9])(?=[¼-¾⅐-⅞])")
_SUPERSCRIPT_AFTER_DIGIT: Final = re.compile("(?<=[0-9])(?=[²³¹⁰⁴-⁹⁻])")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
ARTICLE: Final = re.compile(
    r"(?<![\w'.&/+-])(?:an?|the)(?=[.,;:!?)\]}\"…]*(?:\s|$))", re.IGNORECASE
)


def spelling(text: str) -> str:
    """Return `text` with one form of each letter, dash and quotation mark (NFKC)."""
    if text.isascii():
        return text.replace("`", "'")
    text = text.translate(_SPELLINGS)
    text = _VULGAR_AFTER_DIGIT.sub(" ", text)
    text = _SUPERSCRIPT_AFTER_DIGIT.sub("^", text)
    return normalize("NFKC", text).replace("⁄", "/")


def visible(text: str) -> str:
    """Return `text` without control and zero-width characters."""
    text = _CONTROL.sub("", text)
    if text.isascii():
        return text
    gone = [c for c in set(text) if c > "\x7f" and _is_invisible(c)]
    return text.translate(dict.fromkeys(map(ord, gone))) if gone else text


def _is_invisible(char: str) -> bool:
    # Variation selectors and the grapheme joiner are marks, and as invisible.
    return category(char) == "Cf" or "\ufe00" <= char <= "\ufe0f" or char == "\u034f"


def folded(text: str) -> str:
    """Return `text` without letter case: ß is ss, the Turkish İ and ı are i."""
    text = text.casefold()
    if text.isascii():
        return text
    text = text.replace("i\u0307", "i").replace("ı", "i")
    return normalize("NFKC", text)


def _without_quotes(text: str) -> str:
    if "'" not in text:
        return text
    return re.sub(r"(?<=\d)'(?=\d)", " ", text).replace("'", "")


def _without_articles(text: str) -> str:
    return ARTICLE.sub(" ", text)


def _one_spaced(text: str) -> str:
    if not text.isascii():
        text = _UNSPACED_CHAR.sub(r" \1 ", text)
    return " ".join(text.split())


_OFFICIAL_PUNCTUATION: Final = str.maketrans("", "", punctuation)
_OFFICIAL_ARTICLE: Final = re.compile(r"\b(?:a|an|the)\b")


def _official_punctuation(text: str) -> str:
    return text.translate(_OFFICIAL_PUNCTUATION)


def _official_articles(text: str) -> str:
    return _OFFICIAL_ARTICLE.sub(" ", text)


def _collapsed(text: str) -> str:
    return " ".join(text.split())


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    apart = normalize("NFD", text)
    return normalize("NFC", "".join(char for char in apart if not combining(char)))


def _without_digits(text: str) -> str:
    return re.sub(r"\d", "", text)


class NamedStep(NamedTuple):
    """A step and what failures call what it takes away."""

    label: str
    apply: Step


#: In the order in which they are best run.
STEPS: Final[Mapping[str, NamedStep]] = {
    "unicode": NamedStep("Unicode form", spelling),
    "invisible": NamedStep("invisible characters", visible),
    "casefold": NamedStep("letter case", folded),
    "lower": NamedStep("letter case", str.lower),
    "accents": NamedStep("accents", _without_accents),
    "numbers": NamedStep("number format", plain_numbers),
    "digits": NamedStep("digits", _without_digits),
    "quotes": NamedStep("quotation marks", _without_quotes),
    "articles": NamedStep("articles", _without_articles),
    "punctuation": NamedStep("punctuation", meaningful_symbols),
    "ascii_punctuation": NamedStep("punctuation", _official_punctuation),
    "ascii_articles": NamedStep("articles", _official_articles),
    "words": NamedStep("white space", _one_spaced),
    "whitespace": NamedStep("white space", _collapsed),
}

"""Named steps that make texts comparable, and the presets made of them.

Presets: ``default`` is ours: for a person two texts it makes equal are the same answer,
and no published number is comparable with it. ``squad_v1`` and ``hotpotqa`` are the
normaliser of the official scripts, byte for byte; ``teff`` is teff's exact mode; ``raw``
changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from string import punctuation
from typing import Final
from unicodedata import category, normalize

from pytest_llmeval.metrics._numerals import plain_numbers
from pytest_llmeval.metrics._symbols import meaningful_symbols

__all__ = ["PRESETS", "UNSPACED", "Preset", "folded", "removed", "spelling", "visible"]

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
_WORD_CHAR: Final = re.compile(r"\w")
_ARTICLE: Final = re.compile(
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
    return "".join(c for c in text if c <= "\x7f" or not _is_invisible(c))


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
    return _ARTICLE.sub(" ", text)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A sequence of named steps."""

    steps: tuple[tuple[str, Step], ...] = ()
    may_empty: bool = True
    """Whether a text may normalise to nothing; else the step that would is skipped."""

    def __call__(self, text: str) -> str:
        if self.may_empty:
            for _, step in self.steps:
                text = step(text)
            return text
        for _, step in self.steps:
            after = step(text)
            text = text if _is_emptied(text, after) else after
        return text if text.strip() else ""


def _is_emptied(before: str, after: str) -> bool:
    """Return whether a step took all that was there: "(A)" must not become "( )"."""
    if _WORD_CHAR.search(after) is not None:
        return False
    return _WORD_CHAR.search(before) is not None or not after.strip()


_OFFICIAL: Final = Preset(
    steps=(
        ("letter case", str.lower),
        ("punctuation", _official_punctuation),
        ("articles", _official_articles),
        ("white space", _collapsed),
    )
)
PRESETS: Final = {
    "default": Preset(
        steps=(
            ("Unicode form", spelling),
            ("invisible characters", visible),
            ("letter case", folded),
            ("number format", plain_numbers),
            ("quotation marks", _without_quotes),
            ("articles", _without_articles),
            ("punctuation", meaningful_symbols),
            ("white space", _one_spaced),
        ),
        may_empty=False,
    ),
    "squad_v1": _OFFICIAL,
    "hotpotqa": _OFFICIAL,
    "teff": Preset(steps=(("white space", _collapsed), ("letter case", str.lower))),
    "raw": Preset(),
}


def removed(text: str, preset: Preset) -> tuple[str, ...]:
    """Return what normalisation took away, step by step: ``articles: the``."""
    notes = []
    for name, step in preset.steps:
        after = step(text)
        if not preset.may_empty and _is_emptied(text, after):
            after = text
        if after != text and name not in {"letter case", "white space"}:
            gone = _gone(text, after, name)
            notes.append(f"{name}: {' '.join(gone)}" if gone else name)
        elif name == "letter case" and after != text:
            notes.append(name)
        text = after
    return tuple(notes)


def _gone(before: str, after: str, name: str) -> list[str]:
    """Return the distinct words (of articles) or characters that `after` lacks."""
    if name == "articles":
        return sorted(set(_ARTICLE.findall(before)))
    # A dictionary keeps the order in which they stand.
    return [c for c in dict.fromkeys(before) if not c.isspace() and c not in after]

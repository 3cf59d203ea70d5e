"""When two texts that differ after normalisation are the same answer all the same.

Only for the ``default`` preset, and only for whole texts: the readings here never make
a part of a text equal, they say that both texts as a whole say one thing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from string import ascii_lowercase, ascii_uppercase, punctuation, whitespace
from typing import Final

from pytest_llmeval.metrics._normalise import PRESETS, Preset
from pytest_llmeval.metrics._number_words import NUMBER_WORDS, with_digits
from pytest_llmeval.metrics._numerals import plain_numbers
from pytest_llmeval.metrics._steps import folded, spelling
from pytest_llmeval.metrics._symbols import joined_symbols

__all__ = ["is_same_answer", "unwrapped"]

#: Longest text read: an answer is short, and a text this long equals none by chance.
_LONGEST: Final = 2000

_BOXED: Final = re.compile(r"^\W*\\boxed\s*\{(.*)\}\W*$", re.DOTALL)
_LATEX_TEXT: Final = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\s*\{([^{}]*)\}")
_LATEX_SIGN: Final = re.compile(r"\\([%$#&])")
_LEAD_IN: Final = re.compile(
    r"^\W*(?:(?:so|thus|hence|therefore),?\s+)?"
    r"(?:(?:the|my|our)\s+)?(?:(?:final|correct|right|short)\s+)?"
    r"(?:answer(?:\s+is\b\s*:?|\s*[:=])|(?:it|that|this)(?:\s+is|'s)\b(?!\s+not\b))\s*"
    r"|^\W*(?:答案是|答案为|答案為|答案|答えは|答え|정답은|정답)\s*[:：]?\s*",
    re.IGNORECASE,
)
_FRACTION: Final = re.compile(r"(?:(\d{1,15}) )?(\d{1,15})/(\d{1,15})")
_UNIT: Final = re.compile(r"(?<=\d)(?=[^\W\d_])")  # 10km, 10 km
_INITIALS: Final = re.compile(r"(?<=\b[^\W\d_]) (?=[^\W\d_]\b)")  # J. R. R.
_IN_YEAR: Final = re.compile(r"^in (\d{4})$")
_DOLLARS: Final = re.compile(r"(?<!\S)(\d[\d.]*) (?:us )?(?:dollars?|usd|us)(?!\S)")
_US_DOLLAR: Final = re.compile(r"\bus ?\$|\busd ?(?=\d)", re.IGNORECASE)
_CURRENCY_WORDS: Final = {
    "euro": "€", "euros": "€", "eur": "€", "gbp": "£", "yen": "¥", "jpy": "¥",
    "rupee": "₹", "rupees": "₹", "inr": "₹",
}  # fmt: skip
_CURRENCY_WORD: Final = re.compile(
    rf"(?<!\S)(\d[\d.]*) ({'|'.join(_CURRENCY_WORDS)})(?!\S)"
)
_CLAUSE_END: Final = re.compile(r"[,;:.!?\n]|\s-+\s")
_WORD: Final = re.compile(r"\w+")
_OPPOSITE: Final = {"yes": "no", "no": "yes"}
#: Words that a reading here begins with, ends with or rewrites.
_READABLE: Final = NUMBER_WORDS.union(
    {"answer", "it", "that", "this", "noanswer", *_OPPOSITE}
)
_PLAIN: Final = re.compile(r"[A-Za-z\s.,;:!?'\"()-]*")
_KEY: Final = str.maketrans(
    ascii_uppercase, ascii_lowercase, f"antheANTHE{punctuation}{whitespace}"
)


def _with_symbols(symbols: Callable[[str], str]) -> Preset:
    steps = PRESETS["default"].steps
    return Preset(
        steps=tuple(
            step._replace(apply=symbols) if step.label == "punctuation" else step
            for step in steps
        ),
        may_empty=False,
    )


_APART: Final = PRESETS["default"]
_JOINED: Final = _with_symbols(joined_symbols)


def is_same_answer(left: str, right: str) -> bool:
    """Return whether two texts say the same, read as whole answers.

    Args:
        left: A text as it is, not normalised.
        right: Another.
    """
    if len(left) > _LONGEST or len(right) > _LONGEST:
        return False
    if _is_plain(left) and _is_plain(right) and _key(left) != _key(right):
        return False
    left, right = unwrapped(left), unwrapped(right)
    if not (left.strip() and right.strip()):
        return False
    return (
        _read(left, _APART) == _read(right, _APART)
        or _read(left, _JOINED) == _read(right, _JOINED)
        or _is_same_apart(left, right)
        or _is_yes_or_no(left, right)
        or _is_yes_or_no(right, left)
    )


def _is_plain(text: str) -> bool:
    """Return whether a text has nothing to be rewritten: words without numbers.

    Most texts are such, and all that follows is slow.
    """
    if _PLAIN.fullmatch(text) is None:
        return False
    return _READABLE.isdisjoint(_WORD.findall(text.lower()))


def _key(text: str) -> str:
    """Return what no reading changes in a plain text: its letters but those of "the"."""
    return text.translate(_KEY)


def _is_same_apart(left: str, right: str) -> bool:
    """Return whether the texts are equal if apostrophes part words: rock'n'roll."""
    if "'" not in left and "'" not in right:
        return False
    left, right = left.replace("'", " "), right.replace("'", " ")
    return _read(left, _APART) == _read(right, _APART)


def unwrapped(text: str) -> str:
    r"""Return `text` without ``the answer is``, ``\boxed{}`` and the like around it."""
    text = spelling(text)
    for _ in range(2):
        text = _LEAD_IN.sub("", text, count=1) or text
        if (boxed := _BOXED.match(text)) is not None:
            text = boxed[1]
    return _LATEX_SIGN.sub(r"\1", _LATEX_TEXT.sub(r"\1", text))


def _read(text: str, preset: Preset) -> str:
    text = _US_DOLLAR.sub("$", text.replace(" & ", " and "))
    text = plain_numbers(" ".join(with_digits(preset(text).split())))
    text = _DOLLARS.sub(r"\1", text)
    text = _CURRENCY_WORD.sub(lambda m: f"{_CURRENCY_WORDS[m[2]]} {m[1]}", text)
    text = _IN_YEAR.sub(r"\1", text)
    if (fraction := _FRACTION.fullmatch(text)) is not None:
        return _quotient(fraction)
    text = _INITIALS.sub("", _UNIT.sub(" ", text))
    return "no answer" if text == "noanswer" else text  # HotpotQA's word


def _quotient(fraction: re.Match[str]) -> str:
    whole, above, below = (Decimal(part or 0) for part in fraction.groups())
    return str(whole + above / below) if below else fraction.group()


def _is_yes_or_no(short: str, long: str) -> bool:
    """Return whether `long` says the yes or no that `short` is, in a clause of its own.

    ``No, they are not`` says no; ``no way``, ``Yes and No`` and ``yes, but no`` don't.
    """
    word = _APART(short)
    if word not in _OPPOSITE:
        return False
    long = folded(long)
    if _OPPOSITE[word] in _WORD.findall(long):
        return False
    clauses = [c.strip() for c in _CLAUSE_END.split(long) if c.strip()]
    return bool(clauses) and word in {
        clauses[0].strip("*\"' "),
        clauses[-1].strip("*\"' "),
    }

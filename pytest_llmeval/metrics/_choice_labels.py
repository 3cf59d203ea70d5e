"""The letters of choices: where a text names one, and where it lists several.

Only capitals are taken for letters within a sentence; the article A, the pronoun I and
letters of names (vitamin C, plan B) are none. Whoever looks at a place where a letter
is expected (after "the answer is") uses `listed_at`, which takes small ones too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.metrics._steps import UNSPACED, spelling, visible

__all__ = [
    "LETTERS",
    "Listed",
    "Mention",
    "cleaned",
    "listed_at",
    "mentions",
    "run_of_letters",
]

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

#: Scripts whose characters may stand beside a letter that is a word of its own.
_UNBOUND: Final = f"{UNSPACED}\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
_BEFORE: Final = rf"(?<![^\W{_UNBOUND}])(?<![A-Za-z0-9]['.\-])"
_AFTER: Final = (
    rf"(?![^\W{_UNBOUND}])(?!'\w|-\w|\.[A-Za-z]\b|\+\+|\#|\+(?!\s?[A-Za-z]\b))"
)
_LETTER: Final = re.compile(f"{_BEFORE}([A-Z]){_AFTER}")
_NAMED: Final = re.compile(
    rf"\b(?:options?|choices?|answers?|letters?)\s+[(\[\"']*([A-Za-z]){_AFTER}",
    re.IGNORECASE,
)
#: Words before a capital that make a name with it.
_NAME_BEFORE: Final = re.compile(
    r"\b(?:vitamin|hepatitis|plan|type|grade|class|group|team|appendix|section|model|"
    r"figure|table|part|point|variable|Mr|Mrs|Ms)\.? $",
    re.IGNORECASE,
)
#: Words after "A" or "I" in which they are a letter all the same.
_VERB_AFTER: Final = re.compile(
    r"\s+(?:is|isn't|was|wasn't|are|and|or|nor|but|because|since|as|for|seems|looks|"
    r"would|wouldn't|could|cannot|can't|fits|says|states|does|doesn't|don't|not|"
    r"matches|mentions|describes|contradicts|in that|then|too|also|alone|only|if)\b"
)
_LOWER_AFTER: Final = re.compile(r"\s+[a-z]")
#: A name has a full stop after its initial and before its next: J. Smith.
_INITIAL: Final = re.compile(r"\.\s?[A-Z][a-z]+")

_ITEM: Final = re.compile(
    rf"(?:\b(?:options?|choices?|answers?|letters?)\s+)?[(\[{{\"'<]*"
    rf"{_BEFORE}([A-Za-z]){_AFTER}[)\]}}\"'>]*",
    re.IGNORECASE,
)
_BETWEEN: Final = re.compile(
    r"\s*(?:[,;/|&+、，]|\n\s*[-•]?)\s*(?:(?P<either>or|oder|或)\b\s*|(?:and|und|y|et)\b\s*)?"
    r"|\s+(?:and|und|y|et|as well as|plus)\s+|\s*(?:和|与|與|及|と|와|과)\s*"
    r"|\s+(?P<or>or|oder|o|ou)\s+|\s*或\s*",
    re.IGNORECASE,
)
#: ``AC`` and ``A C``, only where nothing but letters is expected.
_RUN: Final = re.compile(r"[A-Z]{2,}|[A-Za-z](?:\s+[A-Za-z])+")

_THOUGHT: Final = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_LATEX: Final = re.compile(r"\\(?:text|mathrm|textbf|mathbf|rm|bf)\s*\{([^{}]*)\}")
_EMPHASIS: Final = re.compile(r"\*+(?=\S)|(?<=\S)\*+|`+|__")
_DOLLAR: Final = re.compile(
    r"\$(?=\s*\\|\s*\(?[A-Za-z]\b)|(?<=[})])\s?\$|(?<=\b[A-Za-z])\$"
)
#: Characters that are read of a reply: an answer stands at its start or its end.
_HEAD: Final = 3_000
_TAIL: Final = 9_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A letter in a text."""

    start: int
    end: int
    letter: str
    """A capital."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Letters that stand in a row, or a single one."""

    letters: tuple[str, ...]
    """In their order, each once."""
    end: int
    is_either: bool = False
    """An "or" stands between them."""


def cleaned(text: str) -> str:
    """Return `text` with one form of its characters, without markup and thoughts.

    Of a very long text only start and end are kept.
    """
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n\n{text[-_TAIL:]}"
    text = spelling(visible(text))
    text = _THOUGHT.sub("", text)
    text = _EMPHASIS.sub("", _LATEX.sub(r"\1", text))
    return _DOLLAR.sub("", text).strip()


def mentions(text: str) -> Iterator[Mention]:
    """Yield the letters that a text names, in order; `text` is a cleaned one."""
    named = {m.start(1): m for m in _NAMED.finditer(text) if _is_named(m)}
    plain = {m.start(1): m for m in _LETTER.finditer(text) if _is_label(m)}
    for start, match in sorted({**plain, **named}.items()):
        yield Mention(start=start, end=match.end(1), letter=match[1].upper())


def _is_named(match: re.Match[str]) -> bool:
    # "the choice a person makes", "the answer I gave"
    is_word = match[1] in "aAI" and _LOWER_AFTER.match(match.string, match.end())
    return not is_word or _VERB_AFTER.match(match.string, match.end()) is not None


def _is_label(match: re.Match[str]) -> bool:
    text, start, end = match.string, match.start(), match.end()
    if _NAME_BEFORE.search(text, max(start - 12, 0), start):
        return False
    if (
        match[1] == "I"
        and text[end : end + 1] in {" ", ""}
        and text[end + 1 : end + 2] != "("
    ):
        return _VERB_AFTER.match(text, end) is not None and text[end : end + 3] == " is"
    if match[1] == "A" and _LOWER_AFTER.match(text, end):
        return _VERB_AFTER.match(text, end) is not None
    return True


def listed_at(text: str, position: int) -> Listed | None:
    """Return the letters that stand in a row at a place, None where none does."""
    match = _ITEM.match(text, position)
    if match is None or _is_word(match):
        return None
    letters, end, is_either = [match[1].upper()], match.end(), False
    while (between := _BETWEEN.match(text, end)) is not None:
        match = _ITEM.match(text, between.end())
        if match is None or _is_word(match) or _is_paragraph(between, match):
            break
        is_either = is_either or bool(between["either"] or between["or"])
        letters.append(match[1].upper())
        end = match.end()
    return Listed(letters=tuple(dict.fromkeys(letters)), end=end, is_either=is_either)


def _is_paragraph(between: re.Match[str], item: re.Match[str]) -> bool:
    """Return whether a letter on a line of its own begins a sentence there."""
    if "\n" not in between.group() or between.group().strip(" \n-•"):
        return False
    rest = item.string[item.end() :].split("\n", 1)[0]
    return rest.strip(" .,;") != ""


def run_of_letters(text: str) -> tuple[str, ...]:
    """Return the letters of a whole text like ``AC`` or ``A C``, none of another."""
    if _RUN.fullmatch(text) is None:
        return ()
    letters = text.upper().split() if " " in text else list(text)
    return tuple(letters) if len(set(letters)) == len(letters) else ()


def _is_word(match: re.Match[str]) -> bool:
    """Return whether a letter is an article or a pronoun: a bit, I think."""
    text, end = match.string, match.end()
    if match[1] not in "aAI" or text[match.start(1) - 1 : match.start(1)] in {"(", "["}:
        return False
    return _LOWER_AFTER.match(text, end) is not None and not _VERB_AFTER.match(
        text, end
    )

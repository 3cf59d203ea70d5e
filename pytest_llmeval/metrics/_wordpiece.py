"""Text into the tokens of BERT's uncased models.

Source: J. Devlin et al., "BERT", NAACL 2019, and its published vocabulary; words are
split into the longest pieces the vocabulary has (WordPiece), from the left.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final
from unicodedata import category, normalize

__all__ = ["CLS", "SEP", "UNK", "token_ids"]

UNK: Final = 100
CLS: Final = 101
SEP: Final = 102

#: Longer words are unknown as a whole, as in BERT's own tokenizer.
_LONGEST_WORD: Final = 100
#: More characters than any text of a model's length has, but for white space.
_LONGEST_TEXT: Final = 100_000
_CJK: Final = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


@cache
def _vocabulary() -> Mapping[str, int]:
    path = Path(__file__).parent / "data" / "bert-base-uncased-vocab.txt.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return {line[:-1]: number for number, line in enumerate(lines)}


def token_ids(text: str, *, longest: int) -> tuple[list[int], bool]:
    """Return the tokens of a text between CLS and SEP, and whether it was cut.

    Args:
        text: Any text.
        longest: Greatest number of tokens, the two included.
    """
    vocabulary = _vocabulary()
    found = [CLS]
    for word in _words(text[:_LONGEST_TEXT]):
        found += _pieces(word, vocabulary)
        if len(found) >= longest:
            is_cut = len(found) > longest - 1
            return [*found[: longest - 1], SEP], is_cut
    return [*found, SEP], len(text) > _LONGEST_TEXT


def _words(text: str) -> Iterator[str]:
    """Yield words without case and accents; punctuation and CJK one by one."""
    word = ""
    for char in normalize("NFD", "".join(map(_cleaned, text)).lower()):
        kind = category(char)
        if kind == "Mn":
            continue
        if char.isspace() or kind == "Zs":
            if word:
                yield word
            word = ""
        elif _stands_alone(char, kind):
            if word:
                yield word
            yield char
            word = ""
        else:
            word += char
    if word:
        yield word


def _cleaned(char: str) -> str:
    if char in "\t\n\r":
        return " "
    return "" if char == "\ufffd" or category(char)[0] == "C" else char


def _stands_alone(char: str, kind: str) -> bool:
    if char < "\x80":
        return not char.isalnum()
    point = ord(char)
    return kind[0] == "P" or any(first <= point <= last for first, last in _CJK)


def _pieces(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    if len(word) > _LONGEST_WORD:
        return [UNK]
    found, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        for end in range(len(word), start, -1):
            number = vocabulary.get(mark + word[start:end])
            if number is not None:
                found.append(number)
                start = end
                break
        else:
            return [UNK]
    return found

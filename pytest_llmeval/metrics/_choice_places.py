"""Where in a reply an answer is marked as one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["Span", "marked", "segments"]

_STRONG: Final = re.compile(r"\\boxed\s*\{|####|<answer>", re.IGNORECASE)
_MARKER: Final = re.compile(
    r"""
    \b(?:answers?|choices?|options?|selections?|selected|response|letters?|labels?
        |solution|result|pick)"?
      \s*(?:\((?:s|es)\))?\s*
      (?:(?:here|then|therefore|clearly|definitely|only)\s+)?
      (?:(?:is|are|was|were|would\s+be|should\s+be|must\s+be|will\s+be|
        (?:has|have|seems?|appears?)\s+to\s+be)\b|=>|->|[:=]|-(?=\s))
    | \b(?:i|we)(?:'d|'ll|\s+would|\s+will|\s+must|\s+have\s+to)?\s+
      (?:choose|pick|select|say|vote\s+for|opt\s+for|go\s+(?:with|for)|went\s+with)\b
    | \b(?:so|thus|hence|therefore|conclusion)\b,?\s*:?
      (?:\s*(?:it\s+is|it's|it\s+must\s+be|this\s+is)\b)?
    | \b(?:la\s+respuesta(?:\s+correcta)?\s+es|respuesta\s*:
        |la\s+(?:bonne\s+)?réponse\s+est|réponse\s*:
        |die\s+(?:richtige\s+)?antwort\s+(?:ist|lautet)|antwort\s*:
        |la\s+risposta\s+(?:corretta\s+)?è|risposta\s*:|resposta\s*:|ответ\s*[:-]?)
    | \b(?:actually|correction|on\s+second\s+thought)\b[,:]?
      (?:\s*(?:it\s+is|it's|it\s+should\s+be)\b)?
    | 答案(?:应该|應該)?(?:是|为|為)?|(?:应|應)?选择?|選擇?|正解は|正しいのは|答えは?|回答は?
    | 정답은?|답은|답\s*:
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DECORATION: Final = re.compile(
    r"(?:[\s:*\"'=(\[{<>,>-]|\b(?:the|either|probably|most\s+likely|likely|clearly|"
    r"definitely|of\s+course|both|that|be|option|choice|letter|number)\b\s*)*",
    re.IGNORECASE,
)
_WEAK: Final = frozenset(
    {"so", "thus", "hence", "therefore", "conclusion", "actually", "correction", "on"}
)
#: Not after a letter alone: "A. Paris".
_SENTENCE_END: Final = re.compile(
    r"(?<![^\w][A-Za-z0-9])(?<!^[A-Za-z0-9])[.!?](?=\s|$)|[。！？]|\n"
)
_ANY_END: Final = re.compile(r"[.!?;](?=[\s\"')\]]|$)|[。！？；]|\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A place where an answer is marked."""

    begin: int
    """Of the marker."""
    start: int
    """Of what follows the marker, decoration included."""
    first: int
    """Of the answer itself."""
    end: int
    name: str
    """The marker."""
    is_weak: bool = False
    """A conclusion ("so"), which need not be one."""


def marked(text: str) -> Iterator[Span]:
    """Yield the places of marked answers: the strongest first, of equal ones the last."""
    for pattern in (_STRONG, _MARKER):
        limit = len(text)
        for match in reversed(list(pattern.finditer(text))):
            yield _span(text, match, limit)
            limit = match.start()


def _span(text: str, match: re.Match[str], limit: int) -> Span:
    name = match.group().strip()
    if name.endswith("{"):
        closing = text.find("}", match.end(), limit)
        end = closing if closing >= 0 else limit
        return Span(
            begin=match.start(),
            start=match.end(),
            first=match.end(),
            end=end,
            name=name[:-1],
        )
    skipped = _DECORATION.match(text, match.end(), limit)
    first = skipped.end() if skipped else match.end()
    found = _SENTENCE_END.search(text, first, limit)
    return Span(
        begin=match.start(),
        start=match.end(),
        first=first,
        end=found.start() if found else limit,
        name=name,
        is_weak=name.lower().split()[0].strip(",:") in _WEAK,
    )


def segments(text: str) -> list[tuple[int, int]]:
    """Return where the sentences and lines of a text start and end."""
    found, start = [], 0
    for match in _ANY_END.finditer(text):
        found.append((start, match.start()))
        start = match.end()
    found.append((start, len(text)))
    return [(a, b) for a, b in found if text[a:b].strip()]

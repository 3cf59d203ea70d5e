"""Reading a label of a score map out of a judge's reply. In doubt there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from pytest_llmeval.judging._clean import fold, spoken, visible
from pytest_llmeval.judging._loose_json import Members, find_objects

__all__ = ["read_label", "reason_of"]

_KEYS: Final = frozenset(
    [
        "winner",
        "label",
        "verdict",
        "assessment",
        "preference",
        "choice",
        "answer",
        "decision",
        "result",
    ]
)
_FIELD = re.compile(
    r"(?:the )?(?:my )?(?:final |overall )?"
    r"(?:winner|label|verdict|assessment|preference|choice|answer|decision|result)"
    r"(?: is)?\s{0,3}[:=–—-]\s{0,3}",
    re.IGNORECASE,
)
_MARKS = " \t*_`~#>\"'()[]"
#: What may follow a label on its line: nothing, or a reason set off from it.
_AFTER = re.compile(r"[*_`~\"')\]]{0,4}\s{0,3}(?:$|[.:,;!(]|[–—-]\s)")


def read_label(text: str, labels: Iterable[str]) -> str | None:
    """Return the label a reply states, None where that is not plain.

    Read are an object's field (``{"winner": "Response B"}``), a line that names it
    (``Winner: Response B``), or a line that begins with it. Letter case is of no
    weight; the longest label wins over one that it contains; two different ones, or
    one in the middle of a sentence, are none.

    Args:
        text: The judge's reply; thinking in it is left out.
        labels: The labels there are.
    """
    reply, _ = spoken(visible(text))
    known = sorted(labels, key=len, reverse=True)
    for found in (_in_objects(reply, known), _in_lines(reply, known)):
        stated = set(found)
        if stated:
            return stated.pop() if len(stated) == 1 else None
    return None


def reason_of(text: str, label: str | None) -> str:
    """Return what a reply says besides its label."""
    reply, _ = spoken(visible(text))
    for found in find_objects(reply):
        for key, value in found.members.pairs if found.members else ():
            if key.casefold() in {"reason", "explanation"} and isinstance(value, str):
                return value
    rest = [line for line in reply.strip().splitlines() if line.strip()]
    if label is None:
        return reply.strip()
    kept = []
    for line in rest:
        bare = _FIELD.sub("", line.strip(_MARKS), count=1).strip(_MARKS)
        if bare.casefold().startswith(label.casefold()):
            bare = bare[len(label) :].lstrip(" .:,;!–—-*_`\"')")
        if bare:
            kept.append(bare)
    return "\n".join(kept)


def _in_objects(reply: str, labels: list[str]) -> Iterator[str | None]:
    for found in find_objects(reply):
        members: Members | None = found.members
        for key, value in members.pairs if members else ():
            if key.strip().casefold() in _KEYS:
                yield _exact(value, labels) if isinstance(value, str) else None


def _exact(text: str, labels: list[str]) -> str | None:
    bare = fold(text).strip(_MARKS + ".").casefold()
    return next((label for label in labels if fold(label).casefold() == bare), None)


def _in_lines(reply: str, labels: list[str]) -> list[str | None]:
    """Return the labels of the lines that name one, else of those that begin so."""
    named: list[str | None] = []
    bare: list[str | None] = []
    for line in fold(reply).splitlines():
        text = line.strip(_MARKS)
        field = _FIELD.match(text)
        label = _at_start(text[field.end() :] if field else text, labels)
        if field:
            named.append(label)
        elif label is not None:
            bare.append(label)
    stated = [label for label in named if label is not None]
    # "Verdict: neither" names something that is no label: not to be overruled.
    return named if stated or named else bare


def _at_start(text: str, labels: list[str]) -> str | None:
    text = text.lstrip(_MARKS)
    folded = text.casefold()
    for label in labels:
        start = fold(label).casefold()
        if folded.startswith(start):
            # The longest comes first: what follows decides, and no shorter one may.
            return label if _AFTER.match(text, len(start)) else None
    return None

"""Reading a label of a score map out of a judge's reply. In doubt there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.judging._clean import LONGEST, fold, spoken, visible
from pytest_llmeval.judging._layout import without_fenced
from pytest_llmeval.judging._loose_json import Found, find_objects
from pytest_llmeval.judging._phrases import CONDITION, DOUBT, TAKEN_BACK

__all__ = ["LabelReading", "label_reading", "read_label", "reason_of"]

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
        "score",
        "rating",
        "grade",
        "category",
    ]
)
_FIELD = re.compile(
    r"(?:the )?(?:my )?(?:final |overall )?"
    r"(?:winner|label|verdict|assessment|preference|choice|answer|decision|result"
    r"|score|rating|grade|category)"
    r"(?: is)?\s{0,3}[:=–—-]\s{0,3}",
    re.IGNORECASE,
)
_MARKS = " \t*_`~#>\"'()[]"
#: What may follow a label on its line: nothing, or a reason set off from it.
_AFTER = re.compile(
    r"[*_`~\"')\]]{0,4}\s{0,3}(?:$|[:,;!(]|\.(?: |$|[^\x00-\x7f])|[–—-]\s)[*_`~\"')\]]{0,4}"
)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?\b")
_NO = re.compile(r"(?:no|not|wait|actually|or|rather)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelReading:
    """What a reply says of the labels."""

    label: str | None
    """None: no label is stated, or that is not plain."""
    is_silent: bool
    """Whether it states nothing at all, not even a word that is no label."""


def read_label(text: str, labels: Iterable[str]) -> str | None:
    """Return the label a reply states, None where that is not plain.

    Read are an object's field (``{"winner": "Response B"}``), a line that names it
    (``Winner: Response B``), or a line that begins with it. A label is looked for as it
    is written, then without regard to case; the longest one wins over one that it
    contains; two different ones, or one in the middle of a sentence, are none.

    Args:
        text: The judge's reply; thinking in it is left out.
        labels: The labels there are.
    """
    return label_reading(text, labels).label


def label_reading(text: str, labels: Iterable[str]) -> LabelReading:
    """Return what `read_label` reads, and whether the reply states anything.

    Args:
        text: The judge's reply; thinking in it is left out.
        labels: The labels there are.
    """
    reply, _ = spoken(visible(text))
    if len(reply) > LONGEST:
        return LabelReading(label=None, is_silent=False)
    # By what is compared: single spaces, no case. Alike labels are told apart by case.
    known = {label: _comparable(label) for label in labels}
    found = list(find_objects(reply))
    said = [label for one in found for label in _in_object(one, known)]
    named, bare = _in_lines(_without_objects(reply, found), known)
    stated = set(said + named or bare)
    label = next(iter(stated)) if len(stated) == 1 else None
    return LabelReading(label=label, is_silent=not stated)


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


def _comparable(text: str) -> str:
    return " ".join(fold(text).split()).casefold()


def _in_object(found: Found, known: Mapping[str, str]) -> Iterator[str | None]:
    for key, value in found.members.pairs if found.members else ():
        if key.strip().casefold() in _KEYS:
            bare = value.strip(f"{_MARKS}.\n") if isinstance(value, str) else ""
            yield _only(bare, [n for n in known if known[n] == _comparable(bare)])


def _only(text: str, names: list[str]) -> str | None:
    """Return the label written just so, else the only one that differs by case."""
    if len(names) < 2:
        return names[0] if names else None
    return next((name for name in names if text.startswith(name)), None)


def _without_objects(reply: str, objects: list[Found]) -> str:
    pieces = []
    place = 0
    for one in objects:
        if one.members is not None:
            pieces.append(reply[place : one.start])
            place = one.end
    return without_fenced(" ".join([*pieces, reply[place:]]))


def _in_lines(
    reply: str, known: Mapping[str, str]
) -> tuple[list[str | None], list[str | None]]:
    """Return the labels of lines that name one, and those of lines that begin so."""
    named: list[str | None] = []
    bare: list[str | None] = []
    is_announced = False
    for line in reply.splitlines():
        text = fold(line).strip(_MARKS)
        field = _FIELD.match(text)
        rest = text[field.end() :] if field else text
        if not rest.strip(_MARKS):
            is_announced = is_announced or field is not None
            continue
        label = _at_start(rest, known, is_named=field is not None or is_announced)
        if field or is_announced:
            # "Verdict: neither" names something that is no label: not to be overruled.
            named.append(label)
        elif label is not None:
            bare.append(label)
        elif (named or bare) and TAKEN_BACK.match(text):
            named.append(None)
        is_announced = False
    return named, bare


def _at_start(text: str, known: Mapping[str, str], *, is_named: bool) -> str | None:
    text = " ".join(text.lstrip(_MARKS).split())
    folded = text.casefold()
    starts = [name for name, start in known.items() if folded.startswith(start)]
    longest = max((len(known[name]) for name in starts), default=0)
    label = _only(text, [name for name in starts if len(known[name]) == longest])
    if label is None or not longest:
        return None
    # The longest decides: what follows it must be its reason, and no shorter one may.
    after = _AFTER.match(folded, longest)
    if not after or (longest == 1 and after[0].endswith(". ") and not is_named):
        return None
    reason = folded[after.end() :].lstrip(f"{_MARKS}:,;-–—")
    others = [start for name, start in known.items() if name != label]
    is_undone = (
        _NO.match(reason)
        or CONDITION.match(reason)
        or (":" not in after[0] and DOUBT.match(reason))
        or any(_AFTER.match(reason, len(o)) for o in others if reason.startswith(o))
        # "Good: 1, Bad: 0": the scale said back.
        or (_NUMBER.match(reason) and any(other in reason for other in others))
        or TAKEN_BACK.search(folded, longest)
        or folded.endswith("?")
    )
    return None if is_undone else label

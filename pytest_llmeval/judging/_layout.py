"""The look of a reply taken off: marks, tags, boxes, quotations, legends, objects.

All of it by masks of the same length on the folded copy, so that a place in the copy is
a place in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pytest_llmeval.judging._clean import (
    OBJECT,
    TICKED_BOX,
    UNTICKED_BOX,
    fold,
)
from pytest_llmeval.judging._loose_json import find_objects
from pytest_llmeval.judging._objects import (
    UNCLEAR,
    ObjectVerdict,
    is_verdict_key,
    read_object,
)
from pytest_llmeval.judging._phrases import CHOICE, LEGEND, WORD

__all__ = ["Page", "open_page", "without_fenced"]

_FIELDS = (
    r"verdict|judge?ment(?:_result)?|decision|result|answer|assessment|evaluation|final"
    r"|reason|explanation|rationale|justification|feedback|critique"
)
_FIELD_TAG = re.compile(rf"<(?:{_FIELDS})>|</(?:{_FIELDS})>", re.IGNORECASE)
_TOKEN = re.compile(r"<\|[^|<>\n]{1,40}\|>|</?s>|<(?:bos|eos|pad|(?:start|end)_of_turn)>"
                    r"|\[/?INST\]", re.IGNORECASE)  # fmt: skip
_STRUCK = re.compile(r"~~[^~\n]{1,400}~~|<(del|strike)>[^<\n]{0,400}</\1>", re.I)
_STYLE_TAG = re.compile(r"</?(?:b|i|u|em|strong|span|code|font|mark|center|big)"
                        r"(?: [^<>\n]{0,80})?>", re.IGNORECASE)  # fmt: skip
_BLOCK_TAG = re.compile(r"</?(?:p|div|br|h[1-6]|li|ul|ol|tr|td|th|table|pre|hr|body|html)"
                        r"(?: [^<>\n]{0,80})? ?/?>", re.IGNORECASE)  # fmt: skip
_BOXED = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf)\{([^{}\n]{0,200})\}")
#: "not" of programmers, before a verdict; not the end of a sentence.
_CODED_NOT = re.compile(r"(?<![\w!.?)])!(?=(?:pass|fail)\b)", re.IGNORECASE)
_CODE_FENCE = re.compile(r"^[ \t]{0,8}(?:```|~~~)[\w+-]{0,20}[ \t]{0,8}$", re.M)
_MARKS = re.compile(
    r"\*|(?<![^\W_])_{1,3}|_{1,3}(?![^\W_])|^[ \t]{0,8}#{1,6}(?= )", re.M
)
_TABLE_ROW = re.compile(r"^[ \t]{0,8}\|(.{0,400}?)\|?[ \t]{0,8}$", re.M)
_TICKED = re.compile(rf"\[ ?[xX✓\ue001] ?\]|\([xX]\)|{TICKED_BOX}")
_UNTICKED = re.compile(rf"(?:\[ ?\]|\( \)|{UNTICKED_BOX})[ \t]{{0,4}}[\"'`]?\w{{1,20}}")
#: A box after its word: whether it belongs to the next word is not known.
_BOX_AFTER = re.compile(
    rf"\b(?:pass|fail)[\"'`*:]{{0,3}}[ \t]{{0,4}}"
    rf"(?:\[[ xX✓\ue001]?\]|\([ xX•]?\)|[{TICKED_BOX}{UNTICKED_BOX}])[ \t]{{0,9}}$",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE_LINE = re.compile(r"<<<(end of )?([\w ]{1,40}) ([0-9a-f]{4,64})>>>")
_QUOTED = re.compile(r'"[^"\n]{0,2000}"|`[^`\n]{0,2000}`')
_BLOCK_QUOTE = re.compile(r"^[ \t]{0,4}>.{0,4000}$", re.M)
_TRUTH_FIELD = re.compile(
    r"judge?ment_result[\"'`]{0,2} {0,4}[:=] {0,4}[\"'`]?(true|false)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A reply, laid bare."""

    text: str
    plain: str
    """As long as `text`: only what is said, with masks for the rest."""
    objects: dict[int, ObjectVerdict]
    """By the place where the object's verdict stands in `plain`."""
    is_unclear: bool
    """It holds what was to be a verdict and can't be read as one."""


def open_page(text: str, read_text: Callable[[str], str | None]) -> Page:
    """Take the look off `text`.

    Args:
        text: The reply, without what is unseen and without thinking.
        read_text: Reads the text of an object's field.
    """
    plain = fold(text)
    objects: dict[int, ObjectVerdict] = {}
    is_unclear = False
    pieces: list[str] = []
    place = 0
    for start, end, found in _objects(plain, text, read_text):
        pieces.append(plain[place:start])
        place = end
        if found.verdict in {"PASS", "FAIL"}:
            objects[start] = found
            pieces.append(f"{OBJECT}{found.verdict}".ljust(end - start))
        else:
            is_unclear |= found.verdict == UNCLEAR
            pieces.append(" " * (end - start))
    plain = "".join([*pieces, plain[place:]])
    return Page(
        text=text,
        plain=_without_look(plain),
        objects=objects,
        is_unclear=is_unclear or _BOX_AFTER.search(plain) is not None,
    )


def _objects(
    plain: str, text: str, read_text: Callable[[str], str | None]
) -> Iterator[tuple[int, int, ObjectVerdict]]:
    for found in find_objects(text):
        if found.members is not None:
            # The least, {verdict:PASS}, has room for the mark and the word.
            verdict = read_object(found.members, read_text)
            yield found.start, found.end, _without_form(verdict, found.members)
        elif _names_a_verdict(plain[found.start : found.end]):
            yield found.start, found.end, ObjectVerdict(verdict=UNCLEAR)


def _without_form(verdict: ObjectVerdict, members: object) -> ObjectVerdict:
    """Return no verdict for the form said back: {"verdict": "PASS|FAIL"}."""
    pairs = getattr(members, "pairs", ())
    values = [value for key, value in pairs if is_verdict_key(key)]
    is_form = len(values) == 1 and isinstance(values[0], str) and (
        CHOICE.search(values[0]) or re.fullmatch(r"\W*\.\.\.\W*|<.*>", values[0])
    )  # fmt: skip
    return ObjectVerdict(verdict=None) if is_form else verdict


def _names_a_verdict(fragment: str) -> bool:
    return re.search(r"verdict|judge?ment_?result", fragment, re.IGNORECASE) is not None


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _line_end(match: re.Match[str]) -> str:
    return "\n" + " " * (len(match[0]) - 1)


def without_fenced(plain: str) -> str:
    """Mask what a judge repeats of the fenced material of its prompt."""
    pieces = []
    place = 0
    opened: re.Match[str] | None = None
    for line in _FENCE_LINE.finditer(plain):
        if opened is None and not line[1]:
            opened = line
        elif opened and line[1] and line.group(2, 3) == opened.group(2, 3):
            pieces += [
                plain[place : opened.start()],
                " " * (line.end() - opened.start()),
            ]
            place, opened = line.end(), None
    if opened:
        pieces += [plain[place : opened.start()], " " * (len(plain) - opened.start())]
        place = len(plain)
    return "".join([*pieces, plain[place:]])


def _without_look(plain: str) -> str:
    plain = without_fenced(plain)
    plain = _TOKEN.sub(_line_end, plain)
    plain = _FIELD_TAG.sub(_field, plain)
    plain = _STRUCK.sub(_blank, plain)
    plain = _STYLE_TAG.sub(_blank, plain)
    plain = _BLOCK_TAG.sub(_line_end, plain)
    plain = _BOXED.sub(lambda m: m[1].rjust(len(m[0]) - 1) + " ", plain)
    plain = _TRUTH_FIELD.sub(_truth, plain)
    plain = _CODE_FENCE.sub(_blank, plain)
    plain = _CODED_NOT.sub("¬", plain)
    plain = _MARKS.sub(_blank, plain)
    plain = _UNTICKED.sub(_blank, plain)
    plain = _TICKED.sub(_line_end, plain)
    plain = CHOICE.sub(_choice, plain)
    plain = _TABLE_ROW.sub(_row, plain)
    plain = _without_quotations(plain)
    return _without_legends(plain)


def _field(match: re.Match[str]) -> str:
    if match[0].startswith("</"):
        return _line_end(match)
    return f"\n{match[0][1:-1]}:"


def _truth(match: re.Match[str]) -> str:
    word = "PASS" if match[1].lower() == "true" else "FAIL"
    return f"verdict: {OBJECT}{word}".ljust(len(match[0]))


def _choice(match: re.Match[str]) -> str:
    """Return the two words as one: what a question or form is named in the label."""
    return "choice".ljust(len(match[0]))


def _row(match: re.Match[str]) -> str:
    """Return a table's row as a label and what it says."""
    row = match[0].replace("|", ":")
    row = row.replace(":", " ", 1)
    return row[:-1] + " " if row.endswith(":") else row


def _without_quotations(plain: str) -> str:
    """Mask what is quoted, but for single words: their place decides about those."""
    whole = plain.strip()
    if len(whole) > 1 and whole[0] == whole[-1] == '"' and whole.count('"') == 2:
        plain = plain.replace('"', " ")
    unquoted = _BLOCK_QUOTE.sub("", plain)
    if unquoted.strip():
        # Not blank: a line before that announces something announces this.
        plain = _BLOCK_QUOTE.sub(lambda match: "x" * len(match[0]), plain)
    else:
        plain = re.sub(r"^([ \t]{0,4})>", r"\1 ", plain, flags=re.M)
    return _QUOTED.sub(_quotation, plain)


def _quotation(match: re.Match[str]) -> str:
    inner = match[0][1:-1]
    if WORD.fullmatch(inner.strip(f" .!{OBJECT}")) or not WORD.search(inner):
        return match[0]
    return f'"{"x" * len(inner)}"'


def _without_legends(plain: str) -> str:
    lines = plain.split("\n")
    is_legend = False
    for number, line in enumerate(lines):
        begins = LEGEND.match(line)
        if begins or (is_legend and line.strip()):
            lines[number] = " " * len(line)
        # A legend that has its text in its own line ends with it.
        is_legend = bool(
            (begins and not line[begins.end() :].strip())
            or (is_legend and line.strip())
        )
    return "\n".join(lines)

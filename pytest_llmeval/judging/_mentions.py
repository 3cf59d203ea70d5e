"""Which of a page's verdict words are verdicts.

A word counts by its place: what stands before it must be nothing, a label, the judge's
"I say" or a plain statement about the reply, and what follows must not take it back. All
other mentions (quoted, conditional, asked, doubted, within a reason) say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

from pytest_llmeval.judging import _phrases as phrases
from pytest_llmeval.judging._clean import CROSS, OBJECT, TICK
from pytest_llmeval.judging._layout import Page
from pytest_llmeval.judging._objects import Word

__all__ = ["Level", "Mention", "mentions_of"]

#: What stands before a word is looked at this far.
_FAR: Final = 300
_SENTENCE_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)(?<!\bcf)(?<![.!?])"
    r"[.!?]++(?:(?<=[!?])|(?=[\s\"')\]\ue000]|$|[^\x00-\x7f]))"
)
#: A judge who announces an object speaks of the reply too.
_OWN_WORK = re.compile(
    r"\b(?:assessment|evaluation|verdict|judge?ment|analysis|review|grade|result)\w*"
    r" (?:of|for|on|about) (?:the|this|that) (?:\w{1,15} ?){1,3}|^\w{1,12}: $",
    re.IGNORECASE,
)
_THE_REPLY = re.compile(r"\b(?:the|its|this|that|their) (?:\w{1,15} )?answer\b", re.I)
_NUMBERING = re.compile(
    r"[-+•‣▪·–—>]?[ \t]{0,4}(?:\(?(?:\d{1,3}|[a-z])[.)][ \t]{1,4})?"
)
_EDGES = " \t\"'`()[]{}<>#*-–—•|\ue001\ue002"


class Level(Enum):
    """What kind of place a verdict stands in."""

    OVERALL = "labelled as the verdict over all"
    HEAD = "at the start of a sentence"
    STATEMENT = "said of the reply"
    ITEM = "labelled as something else, mostly a criterion"
    LOUD = "in capitals, and said of something"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A verdict word that says something."""

    level: Level
    verdict: Word
    start: int
    end: int
    tail: str = ""
    """What follows in its sentence, in the folded copy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    start: int
    text: str
    label: str
    """Of the line before, when that is one: "Verdict:" over the verdict."""


def mentions_of(page: Page) -> Iterator[Mention]:
    """Yield what counts of the page's verdict words, in order."""
    for sentence in _sentences(page.plain):
        words = list(phrases.WORD.finditer(sentence.text))
        for number, word in enumerate(words):
            # What stands between the first two and the last belongs to a reason.
            has_place = number < 2 or number == len(words) - 1
            mention = _mention(sentence, word, has_place=has_place)
            if mention:
                yield mention


def _sentences(plain: str) -> Iterator[_Sentence]:
    label = ""
    place = 0
    for line in plain.split("\n"):
        if line.strip():
            for start, end in _parts(line):
                yield _Sentence(start=place + start, text=line[start:end], label=label)
                label = ""
            label = _label_of(line)
        place += len(line) + 1


def _parts(line: str) -> Iterator[tuple[int, int]]:
    numbering = _NUMBERING.match(line, len(line) - len(line.lstrip()))
    start = numbering.end() if numbering else 0
    for end in _SENTENCE_END.finditer(line, start):
        yield start, end.end()
        start = end.end()
    if line[start:].strip():
        yield start, len(line)


def _label_of(line: str) -> str:
    """Return a line that only announces the next one."""
    if len(line) > 2 * _FAR or phrases.WORD.search(line):
        return ""
    words = _single_spaced(line).strip(_EDGES)
    if words.endswith(":") or phrases.LABEL.fullmatch(f"{words.strip(': ')} "):
        return f"{words.strip(': ')}: "
    return ""


def _single_spaced(piece: str) -> str:
    return " ".join(piece.split())


def _mention(
    sentence: _Sentence, word: re.Match[str], *, has_place: bool
) -> Mention | None:
    text = sentence.text
    start = max(0, word.start() - _FAR)
    before = ("… " if start else "") + text[start : word.start()]
    after = text[word.end() : None if has_place else word.end() + _FAR]
    says: Word = "PASS" if word["good"] else "FAIL"
    is_object = before.endswith(OBJECT)
    level = None
    if has_place or is_object:
        level, negated = _level(sentence, before, word[0], after, is_object)
        says = "FAIL" if negated else says
    if level is None:
        is_loud = word[0].isupper() and not _is_not_said(before, after)
        level = Level.LOUD if is_loud else None
    return level and Mention(
        level=level,
        verdict=says,
        start=sentence.start + word.start() - is_object,
        end=sentence.start + word.end(),
        tail=after,
    )


def _level(
    sentence: _Sentence, before: str, word: str, after: str, is_object: bool
) -> tuple[Level | None, bool]:
    """Return the level of a mention, and whether it is PASS under a negation."""
    own = _bare(before)
    lead = f"{sentence.label}{own}"
    if is_object:
        return _object_level(lead, after), False
    if not _holds(before, word, after):
        return None, False
    label, _, rest = own.rpartition(": ")
    if word.lower().startswith("pass") and phrases.NEGATION.fullmatch(rest):
        if phrases.CONDITION.match(after.lstrip(" ,:;")):
            return None, False
        if label and not phrases.LABEL.fullmatch(f"{label}: "):
            return None, False
        return (Level.OVERALL if label else Level.STATEMENT), True
    level = _place(lead, own)
    if level is None and _is_verb(own, word, after):
        return Level.STATEMENT, False
    if level is not None and not _tail_holds(before, word, after, level):
        return None, False
    return level, False


def _bare(before: str) -> str:
    """Return what stands before a word, in single spaces and without its dress."""
    words = _single_spaced(re.sub(r"[\"'`*()\[\]{}\ue000\ue001\ue002](?!\w)|(?<!\w)[\"`(\[{]",
                                  " ", before))  # fmt: skip
    return f"{words} " if words else ""


def _place(lead: str, own: str) -> Level | None:
    if phrases.LABEL.fullmatch(lead):
        return Level.OVERALL
    if phrases.LEAD.fullmatch(lead):
        return Level.HEAD
    if phrases.JUDGE_SAYS.fullmatch(own) or phrases.SUBJECT_IS.fullmatch(own):
        return Level.STATEMENT
    is_sure = not (phrases.HEDGE.search(lead) or phrases.FOREIGN.search(lead))
    if phrases.SO_CLAUSE.search(own):
        has_other = phrases.WORD.search(own)
        return Level.STATEMENT if _is_stated(own) and not has_other else None
    if is_sure and lead.rstrip().endswith((":", "=", ">")) and len(lead) < 150:
        return Level.ITEM
    return None


def _is_stated(own: str) -> bool:
    return not re.search(
        r"\b(?:if|unless|whether|would|could|might|otherwise)\b", own, re.I
    )


def _object_level(lead: str, after: str) -> Level | None:
    """Return the level of an object: it needs no place of its own, but an owner."""
    line = after[:_FAR]
    if line.lstrip(" \ue000").startswith("?"):
        return None
    others = _OWN_WORK.sub("", lead)
    if _THE_REPLY.search(others) or phrases.FOREIGN.search(others):
        return None
    if phrases.HEDGE.search(lead):
        return None
    owns = phrases.FOREIGN.search(line) or phrases.UNABLE.search(line)
    return None if owns or phrases.CONDITION.match(line.strip()) else Level.HEAD


def _holds(before: str, word: str, after: str) -> bool:
    """Whether nothing right beside the word unsays it."""
    rest = after.lstrip(" \t\"'`)]*")
    if rest.startswith(("?", "…", "...")) or phrases.EXPLAINED.match(after):
        return False
    if rest.startswith(("/", "\\", "+")):
        return False
    is_pass = word.lower().startswith("pass")
    against = CROSS if is_pass else TICK
    near = before[-4:] + rest[:3]
    return against not in near


def _tail_holds(before: str, word: str, after: str, level: Level) -> bool:
    """Whether what follows a verdict is its reason, and not its undoing."""
    is_quoted = before.rstrip(" ").endswith(('"', "`"))
    after = after.lstrip("\"'`*)]") if is_quoted else after.lstrip("'*)]")
    rest = _single_spaced(after[:_FAR].lstrip(f" {TICK}{CROSS}"))
    if phrases.UNABLE.search(_single_spaced(after[:1000])):
        return False
    if not rest.strip(".! "):
        return True
    if is_quoted and level is Level.HEAD and not rest.startswith(":"):
        return False
    mark = re.match(r"[:,;.!|(\[>–—-]{1,3} ?(?=[^:]|$)", rest)
    if not mark:
        is_plain = word.isupper() and after[:1] in {" ", "\t"}
        return bool(is_plain and _begins_reason(rest))
    reason = rest[mark.end() :].lstrip("\"' ")
    if phrases.CONDITION.match(reason) and reason[:4].lower() != "when":
        return False
    if phrases.ANSWERED.match(reason):
        return False
    # "FAIL: probably a typo?" doubts the typo; "FAIL, probably" the verdict.
    is_doubt = phrases.DOUBT.match(reason) or after.rstrip().endswith("?")
    return mark[0][0] == ":" or not is_doubt


def _begins_reason(rest: str) -> bool:
    if phrases.CONDITION.match(rest) or phrases.DOUBT.match(rest):
        return False
    return phrases.REASON_BEGINS.match(rest) is not None


def _is_verb(own: str, word: str, after: str) -> bool:
    if word.lower() not in {"passes", "passed", "fails", "failed"}:
        return False
    if not phrases.SUBJECT.fullmatch(own):
        return False
    return phrases.OBJECT.fullmatch(_single_spaced(after)) is not None


def _is_not_said(before: str, after: str) -> bool:
    """Whether a word in capitals is only spoken about."""
    if before[-1:] in {'"', "'", "`"} or phrases.EXPLAINED.match(after):
        return True
    if after.lstrip(" \"'").startswith("?"):
        return True
    return phrases.NOT_SAID.search(_single_spaced(before[-80:]) + " ") is not None

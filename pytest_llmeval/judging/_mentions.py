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

from pytest_llmeval.judging import _phrases as phrases
from pytest_llmeval.judging._clean import OBJECT
from pytest_llmeval.judging._layout import Page
from pytest_llmeval.judging._objects import Word
from pytest_llmeval.judging._sentences import FAR, Sentence, sentences, single_spaced
from pytest_llmeval.judging._tails import holds, is_not_said, tail_holds

__all__ = ["Level", "Mention", "mentions_of"]

#: A judge who announces an object speaks of the reply too.
_OWN_WORK = re.compile(
    r"\b(?:assessment|evaluation|verdict|judge?ment|analysis|review|grade|result)\w*"
    r" (?:of|for|on|about) (?:the|this|that) (?:\w{1,15} ?){1,3}|^\w{1,12}: $",
    re.IGNORECASE,
)
_THE_REPLY = re.compile(r"\b(?:the|its|this|that|their) (?:\w{1,15} )?answer\b", re.I)
_VERB = re.compile(r"pass(?:es|ed)|fail(?:s|ed)", re.IGNORECASE)
_NO_MARK = re.compile(r"\w $")


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


def mentions_of(page: Page) -> Iterator[Mention]:
    """Yield what counts of the page's verdict words, in order."""
    for sentence in sentences(page.plain):
        words = list(phrases.WORD.finditer(sentence.text))
        for number, word in enumerate(words):
            # What stands between the first two and the last belongs to a reason.
            has_place = number < 2 or number == len(words) - 1
            mention = _mention(sentence, word, has_place=has_place)
            if mention:
                yield mention


def _mention(
    sentence: Sentence, word: re.Match[str], *, has_place: bool
) -> Mention | None:
    text = sentence.text
    start = max(0, word.start() - FAR)
    before = ("… " if start else "") + text[start : word.start()]
    after = text[word.end() : None if has_place else word.end() + FAR]
    says: Word = "PASS" if word["good"] else "FAIL"
    is_object = before.endswith(OBJECT)
    level = None
    if has_place or is_object:
        level, negated = _level(sentence, before, word[0], after, is_object)
        says = "FAIL" if negated else says
    if level is None:
        is_loud = word[0].isupper() and not is_not_said(before, after)
        level = Level.LOUD if is_loud else None
    return level and Mention(
        level=level,
        verdict=says,
        start=sentence.start + word.start() - is_object,
        end=sentence.start + word.end(),
        tail=after,
    )


def _level(
    sentence: Sentence, before: str, word: str, after: str, is_object: bool
) -> tuple[Level | None, bool]:
    """Return the level of a mention, and whether it is PASS under a negation."""
    own = _bare(before)
    lead = f"{sentence.label}{own}"
    if is_object:
        return _object_level(lead, after), False
    if not holds(before, word, after):
        return None, False
    label, _, rest = own.rpartition(": ")
    if word.lower().startswith("pass") and phrases.NEGATION.fullmatch(rest):
        if phrases.CONDITION.match(after.lstrip(" ,:;")):
            return None, False
        if label and not phrases.LABEL.fullmatch(f"{label}: "):
            return None, False
        return (Level.OVERALL if label else Level.STATEMENT), True
    level = _place(lead, own)
    if level is Level.OVERALL and _VERB.fullmatch(word) and _NO_MARK.search(own):
        level = None  # "The answer passes, …" is a sentence, and no label
    if level is None and _is_verb(own, word, after):
        return Level.STATEMENT, False
    if level is not None and not tail_holds(
        before, word, after, is_head=level is Level.HEAD
    ):
        return None, False
    return level, False


def _bare(before: str) -> str:
    """Return what stands before a word, in single spaces and without its dress."""
    words = single_spaced(re.sub(r"[\"'`*()\[\]{}\ue000\ue001\ue002](?!\w)|(?<!\w)[\"`(\[{]",
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
    is_named = lead.rstrip().endswith((":", "=", ">")) and len(lead) < 150
    if is_sure and is_named and not phrases.WORD.search(lead):
        return Level.ITEM
    return None


def _is_stated(own: str) -> bool:
    return not re.search(
        r"\b(?:if|unless|whether|would|could|might|otherwise)\b", own, re.I
    )


def _object_level(lead: str, after: str) -> Level | None:
    """Return the level of an object: it needs no place of its own, but an owner."""
    line = after[:FAR]
    if line.lstrip(" \ue000").startswith("?"):
        return None
    others = _OWN_WORK.sub("", lead)
    if _THE_REPLY.search(others) or phrases.FOREIGN.search(others):
        return None
    if phrases.HEDGE.search(lead):
        return None
    owns = phrases.FOREIGN.search(line) or phrases.UNABLE.search(line)
    return None if owns or phrases.CONDITION.match(line.strip()) else Level.HEAD


def _is_verb(own: str, word: str, after: str) -> bool:
    if not _VERB.fullmatch(word):
        return False
    if not phrases.SUBJECT.fullmatch(own):
        return False
    return phrases.OBJECT.fullmatch(single_spaced(after)) is not None

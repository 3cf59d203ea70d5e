"""The rules by which a reply's pick is read, in the order they are tried."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from pytest_llmeval.metrics._choice_denial import is_denied
from pytest_llmeval.metrics._choice_labels import (
    LETTERS,
    Listed,
    listed_at,
    mentions,
)
from pytest_llmeval.metrics._choice_marked import marked_pick
from pytest_llmeval.metrics._choice_places import segments
from pytest_llmeval.metrics._choice_reply import Reply
from pytest_llmeval.metrics._choice_whole import Pick, Question

__all__ = ["pick_of"]

_HEADING: Final = re.compile(
    r"\s*(?:$|[.):,;\n-]|(?:because|since|as)\b|is (?:the )?(?:correct|right|best|answer))"
)
_VERB: Final = re.compile(r"\s+(?:is|was|are|were|and|or|has|can|would)\b")
#: An item of a list of choices: "A. Paris", "(B) London", "- C: Berlin".
_LINE: Final = re.compile(
    r"(?:^|(?<=[.!?;]\s))[ \t]*[-•]?[ \t]*[(\[]?([A-Z])[)\].:][)\].:]?[ \t]+\S",
    re.MULTILINE,
)
_POSITIVE: Final = re.compile(
    r"[)\]\"']*(?:,?\s*(?:and|,)\s*[(\[]?[A-Z]\b[)\]]?)*,?\s*(?:\([^()\n]{0,80}\)\s*)?(?:"
    r"(?:is|are|was|seems|looks|must be|would be|has to be)\s+(?:clearly\s+|thus\s+|"
    r"therefore\s+|indeed\s+|definitely\s+)?(?:the\s+)?(?:only\s+)?(?:(?:one|answer|option|"
    r"choice)s?\s+that\b|(?:most\s+\w+|(?:much\s+)?better|correct|right|best|true|answer|one|solution)\b)"
    r"|fits?\b|matche?s?\b|works?\b|it is\b|wins\b|[:=-]\s*(?:yes|correct|right|true)\b"
    r"|\s*(?:正确|正確|对|對)|\s*[✓✔✅])",
    re.IGNORECASE,
)
_EXCEPT: Final = re.compile(
    r"\b(?:all|every\w*)\b[^.\n]{0,40}?\b(?:except|but|besides|other than)\b",
    re.IGNORECASE,
)


Rule = Callable[[Reply], Pick | None]


def pick_of(text: str, question: Question) -> Pick | None:
    """Return what a cleaned reply picks by the first rule that reads something."""
    reply = Reply(text=text, question=question)
    rules: tuple[Rule, ...] = (
        _whole, marked_pick, _all_but, _leading, _last, _positive, _named, _said, _placed,
    )  # fmt: skip
    return next((pick for rule in rules if (pick := rule(reply)) is not None), None)


def _whole(reply: Reply) -> Pick | None:
    return reply.question.whole(reply.text, "the whole reply")


def _all_but(reply: Reply) -> Pick | None:
    match = _EXCEPT.search(reply.text) if reply.question.multiple else None
    if match is None or match.start() in reply.within_texts:
        return None
    end = reply.text.find(".", match.end())
    part = reply.text[match.end() : end if end >= 0 else len(reply.text)]
    excepted = {m.letter for m in mentions(part)}
    every = LETTERS[: reply.question.count]
    if not excepted or not excepted <= set(every):
        return None
    rest = [letter for letter in every if letter not in excepted]
    return reply.question.of_letters(rest, "all but those it excepts")


def _leading(reply: Reply) -> Pick | None:
    """Return what the reply begins with: "B. London", "B, not A", "Yes, because"."""
    text, question = reply.text, reply.question
    lines = {match[1] for match in _LINE.finditer(text)}
    if question.multiple or len(lines) > 1:
        return None
    rule = "at the start"
    listed = listed_at(text, 0)
    if listed is not None and _is_heading(text, listed.end):
        if is_denied(text, 0, listed.end) or _is_small(text, listed):
            return None
        return _agreeing(reply, question.of_letters(listed.letters, rule), listed.end)
    number = re.match(r"[(\[#]*(\d{1,2})[)\].:-]+\s+", text)
    said = reply.places[0] if reply.places else None
    if said is None or said.start > (number.end() if number else 2):
        return None
    if number is not None:
        pick = question.of_numbers([int(number[1])], rule)
        return _agreeing(reply, pick, number.end())
    if re.match(r"[\"')\]]*\s*(?:$|[.,;:!\n-])", text[said.end :]) is None:
        return None
    if len(reply.places) > 1 and not text[said.end : reply.places[1].start].strip(", "):
        return None  # a list
    return question.of_indices([said.index], rule)


def _is_heading(text: str, end: int) -> bool:
    if _HEADING.match(text, end):
        return True
    return text[end - 1] in ")]" and not _VERB.match(text, end)


def _is_small(text: str, listed: Listed) -> bool:
    """Return whether a small letter begins a sentence: only "c)" and the like don't."""
    is_marked = text[listed.end - 1] == ")" or text[listed.end] in ").:"
    return text.lstrip("([\"'")[0].islower() and not is_marked


def _agreeing(reply: Reply, pick: Pick, end: int) -> Pick:
    """Return a pick unless the text of another choice stands right after it."""
    after = re.compile(r"[\s.):,-]*").match(reply.text, end)
    start = after.end() if after else end
    beside = [p for p in reply.places if p.start == start]
    if beside and pick.status == "ok" and LETTERS[beside[0].index] not in pick.letters:
        seen = (*pick.letters, LETTERS[beside[0].index])
        return Pick(status="ambiguous", rule=pick.rule, seen=seen)
    return pick


def _last(reply: Reply) -> Pick | None:
    """Return the letters that are the whole last sentence or line."""
    parts = segments(reply.text)
    if len({m[1] for m in _LINE.finditer(reply.text)}) > 1 and len(parts) < 2:
        return None
    start, end = parts[-1] if parts else (0, 0)
    last_line = reply.text[reply.text.rfind("\n") + 1 :]
    if _LINE.match(last_line):
        return None
    content = reply.text[start:end].rpartition(":")[2]
    listed = listed_at(content.strip(), 0)
    if listed is None or not content.strip()[:1].strip("([\"'").isupper():
        return None
    if listed.end != len(content.strip()):
        return None
    if reply.question.multiple and len(listed.letters) < 2:
        return None  # the end of a list
    return reply.question.of_letters(
        listed.letters, "the last sentence", is_either=listed.is_either
    )


def _positive(reply: Reply) -> Pick | None:
    """Return what is said to be right: "B fits", "London is correct"."""
    text, rule = reply.text, "what it says is right"
    found = [m.letter for m in reply.mentions if _is_positive(text, m.end)]
    if not found:
        found = [LETTERS[p.index] for p in reply.places if _is_positive(text, p.end)]
    if not found or (len(set(found)) > 1 and not reply.question.multiple):
        return None
    return reply.question.of_letters(found, rule)


def _is_positive(text: str, end: int) -> bool:
    line_end = text.find("\n", end)
    return bool(_POSITIVE.match(text, end, line_end if line_end >= 0 else len(text)))


def _named(reply: Reply) -> Pick | None:
    letters = [m.letter for m in reply.mentions]
    return reply.several(letters, "the only letters it names")


def _said(reply: Reply) -> Pick | None:
    question, rule = reply.question, "the text of a choice"
    if reply.places:
        return reply.of_texts(reply.places, reply.text, rule)
    if question.texts.are_numbers:
        index = question.texts.numbered(reply.text)
        return None if index is None else question.of_indices([index], rule)
    return None


def _placed(reply: Reply) -> Pick | None:
    return reply.question.named_position(reply.text)

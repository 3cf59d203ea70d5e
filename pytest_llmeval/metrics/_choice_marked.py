"""What a reply says where it marks an answer as one."""

from __future__ import annotations

import re
from typing import Final

from pytest_llmeval.metrics._choice_denial import is_denied
from pytest_llmeval.metrics._choice_labels import listed_at
from pytest_llmeval.metrics._choice_places import Span, marked
from pytest_llmeval.metrics._choice_reply import Reply
from pytest_llmeval.metrics._choice_whole import Pick

__all__ = ["marked_pick"]

_TEXT_AFTER: Final = re.compile(r"\s*[(:]|\s*[.)-]\s+\S")


def marked_pick(reply: Reply) -> Pick | None:
    for span in marked(reply.text):
        if span.begin in reply.within_texts:
            continue  # a word of a choice, not of the reply
        pick = _in_span(reply, span, f"after {span.name!r}")
        # "so" need not be followed by the answer.
        if pick is not None and not (span.is_weak and pick.status != "ok"):
            return pick
    return None


def _in_span(reply: Reply, span: Span, rule: str) -> Pick | None:
    text, question = reply.text, reply.question
    content = text[span.first : span.end]
    if not content.strip() or (span.is_weak and not content[:1].isupper()):
        pick = None
    else:
        pick = question.whole(content, rule)
    return (
        pick
        or _listed(reply, span, rule)
        or reply.several(reply.letters_in(span.start, span.end), rule)
        or _texts_in(reply, span, rule)
    )


def _listed(reply: Reply, span: Span, rule: str) -> Pick | None:
    """Return the letters that stand right after a marker."""
    text, question = reply.text, reply.question
    listed = listed_at(text, span.first)
    if listed is None or is_denied(text, span.first, listed.end):
        return None
    is_capital = (
        text[span.first : listed.end].lstrip("([{\"'").upper()[:1]
        in text[span.first : listed.end]
    )
    if not is_capital and (span.is_weak or not question.is_letter(listed.letters[0])):
        return None  # the answer is x
    if question.multiple and _TEXT_AFTER.match(text, listed.end):
        # The texts of the choices stand between their letters.
        end = text.find("\n\n", listed.end)
        found = reply.letters_in(span.start, end if end >= 0 else len(text))
        return reply.several(found, rule)
    return question.of_letters(listed.letters, rule, is_either=listed.is_either)


def _texts_in(reply: Reply, span: Span, rule: str) -> Pick | None:
    question = reply.question
    said = reply.said_in(span.start, span.end)
    content = reply.text[span.first : span.end]
    is_sum = question.texts.are_numbers and (span.is_weak or "=" in content)
    if said and said[0].start == span.first and not question.multiple and not is_sum:
        return question.of_indices([said[0].index], rule)
    if said:
        return reply.of_texts(said, reply.text[span.start : span.end], rule)
    if question.texts.are_numbers and not span.is_weak:
        index = question.texts.numbered(reply.text[span.start : span.end])
        return None if index is None else question.of_indices([index], rule)
    number = re.compile(r"[(\[#]*(\d{1,2})(?=[)\]:,;]|\s*$|\.\s|\s*\n)")
    match = number.match(reply.text, span.first, span.end)
    if match is None or span.is_weak:
        return None
    return question.of_numbers([int(match[1])], rule)

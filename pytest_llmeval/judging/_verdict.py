"""Reading a judge's reply. It fails closed: in doubt there is no verdict."""

from __future__ import annotations

import re
from typing import Any, Final

from pytest_llmeval.judging._clean import LONGEST, fold, spoken, visible
from pytest_llmeval.judging._layout import Page, open_page
from pytest_llmeval.judging._mentions import Level, Mention, mentions_of
from pytest_llmeval.judging._objects import Word
from pytest_llmeval.judging._phrases import OPPOSITE, TAKEN_BACK, UNTRUE, WORD
from pytest_llmeval.types import Verdict

__all__ = ["holds_no_word", "printable", "read_verdict"]

_SHOWN: Final = 200
_FIRST: Final = 5_000
_REASON_FIELD = re.compile(
    r"^[\W_]{0,8}(?:reason|reasoning|explanation|rationale|justification)"
    r"[\W_]{0,4}[:=][ \t]{0,4}(.{1,4000})",
    re.IGNORECASE | re.MULTILINE,
)
#: Tags that a judge puts around its fields; any other is part of what it says.
_FIELD_TAG = re.compile(
    r"</?(?:\w{0,12}(?:verdict|answer|judge?ment|reason(?:ing)?|explanation|rationale)"
    r"|justification|decision|assessment|evaluation|feedback|result|response|output"
    r"|label|grade|score|final|b|i|em|strong|br|p)>|<\|[^|<>\n]{1,40}\|>",
    re.IGNORECASE,
)
_REASON_EDGES = " \t\n*_`~:;,–—-|=>.!)]\"'"


def read_verdict(text: str | None) -> Verdict:
    """Return what a judge's reply says: PASS, FAIL, or None where that is not plain.

    The judge was asked for a line that starts with PASS or FAIL and goes on with a
    reason, or for an object with ``verdict`` and ``reason``. Thinking is left out. The
    verdict labelled as the one over all counts before others; verdicts that
    contradict each other, conditions, questions and doubts are none.

    Args:
        text: The reply; None (no content) is no verdict.
    """
    if not isinstance(text, str):
        return _undecided(text, "has no text")
    seen = visible(text)
    reply, before = spoken(seen)
    if not reply.strip():
        why = "holds thinking and no answer" if seen.strip() else "is empty"
        return _undecided(text, why)
    if len(reply) > LONGEST:
        why = f"is {len(reply):,} characters long, too long for a verdict"
        return _undecided(text, why)
    page = open_page(reply, _field_text)
    mentions = list(mentions_of(page))
    chosen = None if page.is_unclear else _decide(page, mentions)
    if chosen is None:
        return _without_mention(text, page, mentions)
    if before and _first_word(before) not in {None, chosen.verdict}:
        # "FAIL: it writes </think> PASS": who wrote the tag is not known.
        return _undecided(text, "holds two verdicts that contradict each other")
    return Verdict(verdict=chosen.verdict, reason=_reason(page, chosen), raw=text)


def holds_no_word(text: str) -> bool:
    """Return whether a reply without a verdict has no word of one in it either.

    Args:
        text: The reply; what it thought does not count.
    """
    reply, _ = spoken(visible(text))
    if len(reply) > LONGEST or WORD.search(fold(reply)):
        return False
    return not open_page(reply, _field_text).is_unclear


def _field_text(text: str) -> Word | None:
    """Return the verdict that an object's field states at its beginning."""
    if text in {"PASS", "FAIL"}:
        return "PASS" if text == "PASS" else "FAIL"
    if not WORD.search(fold(visible(text))):
        return None
    page = open_page(visible(text), lambda _: None)
    mentions = list(mentions_of(page))
    chosen = _decide(page, mentions)
    is_head = mentions[:1] and mentions[0].level is Level.HEAD
    return chosen.verdict if chosen and is_head else None


def _first_word(text: str) -> str | None:
    page = open_page(text.strip()[:_FIRST], _field_text)
    heads = [m.verdict for m in mentions_of(page) if m.level is Level.HEAD]
    return heads[0] if heads else None


def _decide(page: Page, mentions: list[Mention]) -> Mention | None:
    """Return the mention that is the verdict, if one is."""
    of = {level: [m for m in mentions if m.level is level] for level in Level}
    said = sorted(of[Level.HEAD] + of[Level.STATEMENT], key=lambda m: m.start)
    if of[Level.OVERALL]:
        chosen = _agreed(of[Level.OVERALL])
        # One bare verdict against the labelled one; two opposite ones are a list.
        if chosen and {m.verdict for m in said} - {chosen.verdict} == _all(said):
            chosen = None if said else chosen
    elif said:
        chosen = None if _is_list(page, of[Level.HEAD]) else _agreed(said)
        if chosen and chosen.verdict == "PASS" and _holds_fail(of[Level.ITEM]):
            chosen = None
    else:
        chosen = _only_item(of[Level.ITEM])
    if chosen is None or _is_undone(page, chosen, mentions):
        return None
    return chosen


def _all(mentions: list[Mention]) -> set[Word]:
    return {m.verdict for m in mentions}


def _agreed(mentions: list[Mention]) -> Mention | None:
    return mentions[-1] if len(_all(mentions)) == 1 else None


def _only_item(items: list[Mention]) -> Mention | None:
    """Return the one criterion that failed; one that passed says nothing of the rest."""
    return items[0] if len(items) == 1 and _holds_fail(items) else None


def _holds_fail(items: list[Mention]) -> bool:
    return any(item.verdict == "FAIL" for item in items)


def _is_list(page: Page, heads: list[Mention]) -> bool:
    """Whether several verdicts, each with a reason of its own, are a list of criteria."""
    tails = {
        page.objects[m.start].reason
        if m.start in page.objects
        else m.tail.strip(_REASON_EDGES)
        for m in heads
    }
    return len(tails - {""}) > 1


def _is_undone(page: Page, chosen: Mention, mentions: list[Mention]) -> bool:
    """Whether a later clause takes the verdict back or says the other word aloud."""
    loud = (m for m in mentions if m.level is Level.LOUD and m.start > chosen.start)
    if any(m.verdict != chosen.verdict for m in loud):
        return True
    undoing = (TAKEN_BACK, OPPOSITE[chosen.verdict])
    return any(pattern.search(page.plain, chosen.end) for pattern in undoing)


def _without_mention(text: str, page: Page, mentions: list[Mention]) -> Verdict:
    if page.is_unclear:
        return _undecided(text, "holds an object or a box that is not plain")
    if mentions:
        return _undecided(text, "holds no verdict that is plain")
    if UNTRUE.fullmatch(" ".join(page.plain[:_SHOWN].split())):
        return Verdict(verdict="FAIL", reason=page.text.strip(), raw=text)
    return _undecided(text, "says neither PASS nor FAIL in the place of a verdict")


def _undecided(text: Any, why: str) -> Verdict:
    raw = text if isinstance(text, str) else ""
    shown = f": {printable(raw)}" if raw.strip() else ""
    return Verdict(
        verdict=None, reason=f"the judge's reply {why}{shown}", raw=raw, cause="judge"
    )


def printable(text: str) -> str:
    """Return a text's beginning as it may be printed, in quotes."""
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...")


def _reason(page: Page, chosen: Mention) -> str:
    """Return the judge's reason: after the verdict, else below it, else before it."""
    if chosen.start in page.objects:
        return page.objects[chosen.start].reason
    line_end = page.text.find("\n", chosen.end)
    line_end = len(page.text) if line_end == -1 else line_end
    field = _REASON_FIELD.search(page.text)
    for piece in (
        page.text[chosen.end : line_end],
        field[1] if field else "",
        page.text[line_end:],
        page.text[: chosen.start],
    ):
        words = _FIELD_TAG.sub("", piece).rstrip(" \t\n*_`~")
        reason = fold(words).lstrip(_REASON_EDGES)
        if reason:
            return words[-len(reason) :]
    return ""

"""Whether what stands beside a verdict word unsays it."""

from __future__ import annotations

import re

from pytest_llmeval.judging import _phrases as phrases
from pytest_llmeval.judging._clean import CROSS, TICK
from pytest_llmeval.judging._sentences import EDGES, FAR, single_spaced

__all__ = ["holds", "is_not_said", "tail_holds"]


def holds(before: str, word: str, after: str) -> bool:
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


def tail_holds(before: str, word: str, after: str, *, is_head: bool) -> bool:
    """Whether what follows a verdict is its reason, and not its undoing."""
    is_quoted = before.rstrip(" ").endswith(('"', "`"))
    after = after.lstrip("\"'`*)]") if is_quoted else after.lstrip("'*)]")
    rest = single_spaced(after[:FAR].lstrip(f" {TICK}{CROSS}"))
    if phrases.UNABLE.search(single_spaced(after[:1000])):
        return False
    if not rest.strip(".! "):
        return True
    if is_quoted and is_head and not rest.startswith(":"):
        return False
    mark = re.match(r"[:,;.!|(\[>–—-]{1,3} ?(?=[^:]|$)", rest)
    if not mark:
        is_plain = word.isupper() and after[:1] in {" ", "\t"}
        return bool(is_plain and _begins_reason(rest))
    reason = rest[mark.end() :].lstrip("\"' ")
    if phrases.CONDITION.match(reason) and reason[:4].lower() != "when":
        return False
    if phrases.ANSWERED.match(reason) or _is_other(word, reason):
        return False
    # "FAIL: probably a typo?" doubts the typo; "FAIL, probably" the verdict.
    is_doubt = phrases.DOUBT.match(reason) or after.rstrip().endswith("?")
    return mark[0][0] == ":" or not is_doubt


def _is_other(word: str, reason: str) -> bool:
    """Whether a reason is nothing but the other verdict: "FAIL: PASS"."""
    other = phrases.WORD.fullmatch(reason.strip(EDGES + ".!"))
    return other is not None and word.lower().startswith("pass") == bool(other["bad"])


def _begins_reason(rest: str) -> bool:
    if phrases.CONDITION.match(rest) or phrases.DOUBT.match(rest):
        return False
    return phrases.REASON_BEGINS.match(rest) is not None


def is_not_said(before: str, after: str) -> bool:
    """Whether a word in capitals is only spoken about."""
    if before[-1:] in {'"', "'", "`"} or phrases.EXPLAINED.match(after):
        return True
    if after.lstrip(" \"'").startswith("?"):
        return True
    return phrases.NOT_SAID.search(single_spaced(before[-80:]) + " ") is not None

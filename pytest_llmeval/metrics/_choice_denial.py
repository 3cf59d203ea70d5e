"""Whether a text says of a choice that it is not the one."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_denied"]

#: Other letters of one list: "A, B or", "A and".
_OTHERS: Final = r"(?:[(\[\"']*[A-Z][)\]\"']*\s*(?:,\s*(?:or|nor|and)\s|,\s?|\bor\s|\bnor\s|\band\s|/)\s*)*"
_NOT: Final = (
    r"(?:\b(?:not|never|nor|anything but|all but|cannot|neither|except(?: for)?|excluding|without|unlike|"
    r"(?:rather|other|better) than|instead of|eliminat\w+|exclud\w+|discard\w*|"
    r"reject\w*|rul\w+ out|dismiss\w*|(?:isn|aren|wasn|can|couldn|wouldn|won|don|"
    r"doesn)'t|wrong (?:answers?|options?|choices?) (?:is|are))\b|不是|不选|不選|非)"
)
_FILLER: Final = (
    r"(?:\s*\b(?:be|the|answers?|is|was|a|an|options?|choices?|letters?|definitely|"
    r"really|actually|certainly|obviously|either|both|any of|think|choose|pick|select|"
    r"necessarily|likely|just|simply|correct|right|believe|it|it's)\b)*"
)
_BEFORE: Final = re.compile(
    rf"{_NOT}{_FILLER}\s*[(\[\"']*{_OTHERS}[(\[\"'“]*$", re.IGNORECASE
)
#: After a comma only the first of a list is denied by what stands before it.
_NEW_THOUGHT: Final = re.compile(r",\s*$")
_LIST_GOES_ON: Final = re.compile(r"\s*,?\s*(?:[A-Z]\s*,\s*)*(?:or|nor|and)\s+[A-Z]\b")
_LINK: Final = (
    r"[)\]\"'.:]*\s*(?:\([^()\n]{0,80}\)\s*)?"
    r"(?:,?\s*(?:and|or|nor|,)\s*(?:options?\s+)?[(\[]?[A-Z]\b[)\]]?)*\s*"
)
_WRONG: Final = (
    r"(?:wrong|incorrect|false|inaccurate|untrue|impossible|invalid|unlikely|"
    r"irrelevant|ruled out|excluded|eliminated|discarded|rejected)"
)
_AFTER: Final = re.compile(
    rf"{_LINK}(?:"
    r"(?:(?:is|are|was|were|looks?|seems?|would be|can be|could be|must be)\s+)"
    r"(?:(?:also|clearly|obviously|definitely|simply|just|therefore|both|all|thus|"
    r"probably|likely|plainly)\s+)*"
    rf"(?:{_WRONG}|out\b|not\b(?! (?:wrong|incorrect|false|only|just))|too\s\w|"
    r"no\b(?! doubt))"
    r"|(?:isn't|aren't|wasn't|doesn't|does not|don't|do not|cannot|can't|can not|won't|"
    r"wouldn't|would not|couldn't|could not|fails?|lacks?|contradicts?)\b"
    rf"|[:=-]?\s*(?:{_WRONG}|no|nope)\b(?=\W*(?:$|[.,;\n])))"
    r"|\s*(?:不对|不對|错|錯|不是)|[)\]]?\s*[:=-]?\s*[✗❌✘]",
    re.IGNORECASE,
)
#: Characters around a choice that are looked at.
_AROUND: Final = 120


def is_denied(text: str, start: int, end: int) -> bool:
    """Return whether the choice named at a place is said not to be the one.

    Args:
        text: A cleaned text.
        start: Where the letter or text of the choice begins.
        end: Where it ends.
    """
    before = text[max(start - _AROUND, 0) : start].rpartition("\n")[2]
    after = text[end : end + _AROUND].partition("\n")[0]
    if _AFTER.match(after) is not None:
        return True
    if _BEFORE.search(before) is None:
        return False
    return _NEW_THOUGHT.search(before) is None or _LIST_GOES_ON.match(after) is not None

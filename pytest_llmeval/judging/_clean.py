"""What of a judge's reply is said to us: unseen characters and thinking taken out.

`fold` gives a copy of the same length that is easier to read for a machine, so that
places found in the copy are places in the text, and a reason keeps its characters.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = [
    "CROSS",
    "LONGEST",
    "OBJECT",
    "TICK",
    "TICKED_BOX",
    "UNTICKED_BOX",
    "fold",
    "spoken",
    "visible",
]

#: A judge was asked for a line; who fills a book instead has lost the thread, and its
#: words say nothing that is worth the time of reading them.
LONGEST: Final = 50_000

#: Marks of the folded copy, in the private area that `visible` empties.
OBJECT: Final = "\ue000"
TICK: Final = "\ue001"
CROSS: Final = "\ue002"
UNTICKED_BOX: Final = "\ue003"
TICKED_BOX: Final = "\ue004"

_FOLDED: Final = {
    **dict.fromkeys("✅✓✔👍🟢", TICK),
    **dict.fromkeys("❌✗✘✖❎👎⛔🚫🔴", CROSS),
    **dict.fromkeys("☐□◻⬜◯○", UNTICKED_BOX),
    **dict.fromkeys("☑☒🗹🗷", TICKED_BOX),
    **dict.fromkeys("。｡．।", "."),
    **dict.fromkeys("、，،", ","),
    **dict.fromkeys("‘’‚‛ʼ＇′", "'"),
    **dict.fromkeys("“”„‟«»「」『』《》〈〉＂", '"'),
    **dict.fromkeys("‐‑‒−", "-"),
    **dict.fromkeys("―", "—"),
    **dict.fromkeys("؟⸮", "?"),
    **dict.fromkeys("【〖［〔", "["),
    **dict.fromkeys("】〗］〕", "]"),
    **dict.fromkeys("⇒→➜➡⟶", ">"),
    **dict.fromkeys("…", "…"),
}

_ESCAPES = re.compile(
    r"\x1b\[[0-9;:?]{0,40}[ -/]{0,4}[@-~]"  # colours and cursor moves
    r"|\x1b\][^\x07\x1b\n]{0,300}(?:\x07|\x1b\\)?"  # titles and links
    r"|\x1b[@-Z\\^_]"
    r"|\[[0-9]{1,3}(?:;[0-9]{1,3}){0,4}m"  # a colour whose escape was eaten
)
_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")

_THOUGHT = r"(?:\w{1,20}:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)"
_THINKING_TAG = re.compile(
    rf"[<\[◁](?=[|/ \w])\|?[ ]?(?:(?P<end>/[ ]?|end_of_)|begin_of_|start_of_)?{_THOUGHT}"
    r"(?:[ ][^<>\[\]\n]{0,80})?[ ]?\|?[>\]▷]",
    re.IGNORECASE,
)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s{0,4}final[^<]{0,60}<\|message\|>")


def visible(text: str) -> str:
    """Return `text` without what no reader sees: escapes, controls, zero widths."""
    text = _LINE_ENDS.sub("\n", text)
    if "\x1b" in text or "m" in text:
        text = _ESCAPES.sub("", text)
    unseen = {ord(c): None for c in set(text) if _is_unseen(c)}
    return text.translate(unseen) if unseen else text


def _is_unseen(character: str) -> bool:
    if character in "\t\n":
        return False
    return unicodedata.category(character) in {"Cc", "Cf", "Co"}


def fold(text: str) -> str:
    """Return `text` with look-alikes as ASCII, character by character."""
    table = {ord(c): _folded(c) for c in set(text) if not c.isascii()}
    return text.translate(table) if table else text


def _folded(character: str) -> str:
    if character in _FOLDED:
        return _FOLDED[character]
    # One by one: normalising a whole text may take the square of its length.
    plain = unicodedata.normalize("NFKC", character)
    if len(plain) == 1 and plain.isascii():
        return plain
    is_symbol = unicodedata.category(character) in {"So", "Sk", "Mn", "Me"}
    return " " if is_symbol and character != "…" else character


def spoken(text: str) -> tuple[str, str]:
    """Return the reply proper, and what stood before a closing tag without an opening.

    Thinking that never ends leaves nothing: the reply was not begun.
    """
    if "<|channel|>" in text:
        finals = list(_FINAL_CHANNEL.finditer(text))
        return (text[finals[-1].end() :], "") if finals else ("", "")
    kept: list[str] = []
    dropped = ""
    start, is_thinking = 0, False
    for tag in _THINKING_TAG.finditer(text):
        if not is_thinking:
            kept.append(text[start : tag.start()])
        if tag["end"] and not is_thinking:
            dropped, kept = "".join([dropped, *kept]), []
        is_thinking = not tag["end"]
        start = tag.end()
    if is_thinking:
        return "", dropped
    return "\n".join([*kept, text[start:]]), dropped

"""Foreign text in a page: what can't be seen or turns a line is written out."""

from __future__ import annotations

import re
from typing import Any, Final

from pytest_llmeval.store.lines import strict_json

__all__ = ["embedded_json", "visible"]

#: Control characters, marks of direction, zero-width spaces, lone surrogates. Joiners stay:
#: emoji and several scripts are written with them.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069"
    "\ufeff\ud800-\udfff]"
)
#: In JSON these stand in texts alone, where an escape means the same.
_SIGNS: Final = re.compile(f"{_UNSEEN.pattern}|[<>&]")


def visible(text: str) -> str:
    r"""Return `text` with what a reader could not see as ``\x1b``, ``\u202e``."""
    text = text.replace("\r\n", "\n")
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def embedded_json(value: Any) -> str:
    """Return JSON that can stand in a script element and can't end it."""
    return _SIGNS.sub(lambda found: f"\\u{ord(found[0]):04x}", strict_json(value))

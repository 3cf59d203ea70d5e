"""A program of its own that compares formulas, a JSON line at a time.

It is started by `_math_process` and killed when it takes too long: what a model wrote
is parsed here and nowhere else. It can write no file and take no endless memory, where
the system has limits for that, and ends when its input does.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from contextlib import suppress
from typing import Any, Final

_MEMORY_BYTES: Final = 4 * 2**30
_FUNCTION: Final = re.compile(r"\\[A-Za-z]+|\b(?:sin|cos|tan|log|exp|sqrt|max|min)\b")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_MARKED: Final = re.compile(r"\\boxed|\$|\\\(|\\\[|####")


def limit_itself() -> None:
    """Forbid this process to write files and to take more memory than it needs."""
    try:
        import resource
    except ImportError:  # Windows has none
        return
    for kind, value in (
        (resource.RLIMIT_AS, _MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (value, value))


def as_formula(text: str) -> str:
    """Return a text that is nothing but a formula as LaTeX, another as it is."""
    _, mark, final = text.rpartition("####")
    if mark:
        text = final.strip()
    if text.count("\\boxed") > 1:
        # Several boxes would be read as one set, and the last one is the answer.
        text = text[text.rindex("\\boxed") :]
    is_bare = "\n" not in text.strip() and not _MARKED.search(text)
    if is_bare and not _WORD.search(_FUNCTION.sub(" ", text)):
        return f"${text.strip()}$"
    return text


def answer(request: dict[str, Any], parse: Any, verify: Any) -> dict[str, Any]:
    """Return whether the reply's formula is the expected one.

    Args:
        request: ``gold`` and ``reply``, two texts.
        parse: math_verify's function of that name.
        verify: The same.
    """
    gold = parse(as_formula(request["gold"]), parsing_timeout=None)
    if not gold:
        # A gold that is no formula within a text is one as a whole.
        gold = parse(f"${request['gold']}$", parsing_timeout=None)
    reply = parse(as_formula(request["reply"]), parsing_timeout=None)
    return {
        "is_equal": bool(gold and reply and verify(gold, reply, timeout_seconds=None)),
        "gold": as_read(gold),
        "reply": as_read(reply),
    }


def as_read(parts: list[Any]) -> str:
    """Return the formula as it was written where that is known, empty if there is none."""
    written = [part for part in parts if isinstance(part, str)]
    if len(written) == len(parts):
        return ""
    return str((written or parts)[0])[:200]


def main() -> None:
    """Answer requests until there are no more."""
    logging.disable(logging.CRITICAL)
    from math_verify import parse, verify

    limit_itself()
    respond("ready")
    for line in sys.stdin:
        try:
            found = answer(json.loads(line), parse, verify)
        except Exception as exc:  # noqa: BLE001 - whatever a parser raises
            found = {"error": f"{type(exc).__name__}: {exc}"[:200]}
        respond(json.dumps(found))


def respond(line: str) -> None:
    """Write a line, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

"""The request of a call as a curl command, its keys variables of the shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

__all__ = ["curl_command"]

_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
#: Characters of a body that is an argument: Linux takes no argument over 128 kB.
_LONGEST: Final = 100_000


def curl_command(call: Mapping[str, Any]) -> str | None:
    """Return a command that asks the same, None for what is not asked over a wire.

    Args:
        call: As a record has it; one of a case that passed does not say what was sent.
    """
    sent = call.get("sent")
    if not sent:
        return None
    body = sent["body"]
    is_piped = body is not None and len(body) > _LONGEST
    parts = [f"curl {_word(sent['url'])}", *_flags(sent), *_headers(sent["headers"])]
    if is_piped:
        parts.append("--data-binary @-")
    elif body is not None:
        parts.append(f"--data-raw {shlex.quote(body)}")
    command = " \\\n  ".join(parts)
    return f"printf %s {shlex.quote(body)} | {command}" if is_piped else command


def _flags(sent: Mapping[str, Any]) -> Iterator[str]:
    if sent["method"] != ("GET" if sent["body"] is None else "POST"):
        yield f"-X {shlex.quote(sent['method'])}"
    if not set("[]{}").isdisjoint(_VARIABLE.sub("", sent["url"])):
        yield "--globoff"


def _headers(headers: Mapping[str, str]) -> Iterator[str]:
    for name, value in headers.items():
        if name == "accept-encoding":
            yield "--compressed"  # curl reads only what it asked for itself
        else:
            yield f"-H {_word(f'{name}: {value}' if value else f'{name};')}"


def _word(text: str) -> str:
    """Return a text as one word of a shell, that fills its variables in."""
    literals = _VARIABLE.split(text)
    return "".join(
        f'"${{{part}}}"' if place % 2 else shlex.quote(part) if part else ""
        for place, part in enumerate(literals)
    )

"""How long a server asks to wait: ``Retry-After`` in all its forms.

RFC 9110, section 10.2.3: seconds, or a date in one of three forms, the last of which
has no zone and is UTC. ``retry-after-ms`` is what OpenAI's servers send beside it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["retry_after_seconds"]

_NUMBER = re.compile(r"\d+(\.\d*)?", re.ASCII)
_MOST_DIGITS = 15


def retry_after_seconds(
    headers: Mapping[str, str], *, now: float | None = None
) -> float | None:
    """Return the seconds to wait, None where nothing usable is said.

    Args:
        headers: Of the reply, names in lower case.
        now: Seconds since the epoch, for a date without the server's own beside it.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    if seconds is not None:
        return seconds
    until = _date(value)
    if until is None:
        return None
    # Its own clock where it says it: ours may be wrong.
    begun = _date(headers.get("date", ""))
    if begun is None:
        begun = time.time() if now is None else now
    return max(until - begun, 0.0)


def _number(text: str) -> float | None:
    text = text.strip()
    if len(text) > _MOST_DIGITS or not _NUMBER.fullmatch(text):
        return None
    return float(text)


def _date(text: str) -> float | None:
    """Return a date of HTTP as seconds since the epoch."""
    try:
        found = parsedate_to_datetime(text.strip())
        if found.tzinfo is None:
            found = found.replace(tzinfo=UTC)
        return (found - _EPOCH).total_seconds()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

"""What Google's errors say in their details: how long to wait, which quota is spent.

https://cloud.google.com/apis/design/errors#error_details
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_llmeval.clients._values import mapping_of, mappings_in

__all__ = ["is_day_spent", "retry_delay_seconds"]

_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")
_A_DAY = re.compile(r"per_?day", re.IGNORECASE)


def retry_delay_seconds(error: Any) -> float | None:
    """Return how long an error's details ask to wait, None when they do not."""
    for detail in _details(error):
        delay = detail.get("retryDelay")
        if isinstance(delay, str) and (match := _SECONDS.fullmatch(delay)):
            return float(match[1])
    return None


def is_day_spent(error: Any) -> bool:
    """Return whether the quota that an error names is one of a day."""
    return any(
        _A_DAY.search(str(violation.get("quotaId")))
        for detail in _details(error)
        for violation in mappings_in(detail.get("violations"))
    )


def _details(error: Any) -> Iterator[Mapping[str, Any]]:
    return mappings_in(mapping_of(error).get("details"))

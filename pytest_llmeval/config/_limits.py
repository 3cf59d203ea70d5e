"""``limits:``, of the file and of one model."""

from __future__ import annotations

from typing import Any, Final

from pytest_llmeval.config._check import Section

__all__ = ["LIMITS", "limits_of"]

#: Those that a model may have of its own.
LIMITS: Final = (
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "retries",
    "timeout_seconds",
    "deadline_seconds",
    "cache_days",
)


def limits_of(section: Section) -> dict[str, Any]:
    """Return the limits that a mapping gives, by the names of `Limits`.

    Raises:
        ConfigError: One has a value it can't have.
    """
    given: dict[str, Any] = {
        "concurrency": section.whole("concurrency", least=1),
        "retries": section.whole("retries", least=0),
    }
    for key in LIMITS:
        if key not in given:
            given[key] = section.number(key, above=0)
    return {key: value for key, value in given.items() if value is not None}

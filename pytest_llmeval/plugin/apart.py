"""Options that don't go together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pytest_llmeval.errors import ConfigError

__all__ = ["could_be_given", "refuse_pairs"]

#: Options that each speak of where replies come from, or of every case being asked.
_APART: Final = {
    "llmeval_resume": {
        "llmeval_rescore": "one goes on asking, and the other asks nothing",
        "llmeval_replay": "one goes on asking, and the other replays a single case",
        "llmeval_mutate": "it needs every case to be run",
        "llmeval_log_samples": "it needs every case to be run",
        "llmeval_mode=record": "it needs every case to be run",
        "llmeval_mode=rerecord": "it needs every case to be run",
    },
    "llmeval_rescore": {
        "llmeval_replay": "each says itself where the replies come from",
        "llmeval_mode=record": "there is nothing new to record",
        "llmeval_mode=rerecord": "there is nothing new to record",
    },
}


def refuse_pairs(given: Mapping[str, Any]) -> None:
    """Refuse options that contradict each other.

    Args:
        given: The value of each option, by its ini key.

    Raises:
        ConfigError: Two are given that do.
    """
    for one in filter(given.get, _APART):
        for other, why in _against(one, given):
            names = (f"--{name.replace('_', '-')}" for name in (one, other))
            message = f"{' and '.join(names)} don't go together: {why}"
            raise ConfigError(message)


def could_be_given(key: str, given: Mapping[str, Any]) -> bool:
    """Return whether an option would contradict none of those that are given.

    Args:
        key: Its ini key.
        given: As for `refuse_pairs`.
    """
    return not any(_against(key, given))


def _against(one: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the options given that contradict `one`, and why."""
    for other, why in _APART[one].items():
        key, _, value = other.partition("=")
        if given[key] == value if value else given[key]:
            yield other, why

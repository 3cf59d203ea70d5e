"""Where replies would come from, if what was asked once were asked again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from pytest_llmeval.clients.shelf import Shelf
from pytest_llmeval.store.safecache import SafeCache
from pytest_llmeval.types import Mode

__all__ = ["Expected", "Forecast", "Setting"]

Expected = Literal["recorded", "cached", "to ask", "not recorded", "not known"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What of a model decides whether its replies on file count."""

    setup: str
    """Fingerprint, as calls keep it."""
    is_stable: bool
    """False for code under test: only replay serves it."""
    max_age_seconds: float | None = None


class Forecast:
    """Looks up what is on file; asks nothing and makes no file.

    Args:
        mode: Of the run that would ask.
        shelf: Its recordings.
        cache: Its cache.
        setting: Says how a model is set, None where that is not known.
    """

    def __init__(
        self,
        *,
        mode: Mode,
        shelf: Shelf,
        cache: SafeCache,
        setting: Callable[[str], Setting | None],
    ) -> None:
        self._mode = mode
        self._shelf = shelf
        self._cache = cache if cache.path.is_file() else None
        # Asked for each call, of a handful of models.
        self._setting = lru_cache(maxsize=None)(setting)

    def of_sample(
        self, calls: Iterable[Mapping[str, Any]], module: str
    ) -> Iterator[tuple[Mapping[str, Any], Expected]]:
        """Yield the calls of one run of a body, each with where its reply would be from.

        Args:
            calls: The JSON of each `Call`, in the order in which they were asked.
            module: The file of the test, as node ids have it.
        """
        gone: list[Mapping[str, Any]] = []
        for call in calls:
            expected = self.of(call, module)
            is_free = self._mode in {"live", "rerecord"}
            if not is_free and _depends(call, gone) and self._is_stable(call):
                expected = "not known"  # another reply may make it another question
            if expected not in {"recorded", "cached"}:
                gone.append(call)
            yield call, expected

    def of(self, call: Mapping[str, Any], module: str) -> Expected:
        """Return where the reply to the same question would come from."""
        if self._mode in {"live", "rerecord"}:
            return "to ask"
        setting = self._setting(call["client"])
        if setting is None:
            return "not known"
        if not setting.is_stable and self._mode != "replay":
            return "to ask"
        key = call.get("key")
        if not key or not setting.setup or call["setup"] != setting.setup:
            return "not known"
        if self._shelf.find(key, module) is not None:
            return "recorded"
        if self._mode == "replay":
            return "not recorded"
        return "cached" if self._is_cached(key, setting) else "to ask"

    def _is_cached(self, key: str, setting: Setting) -> bool:
        made = None if self._cache is None else self._cache.made(key)
        if made is None:
            return False
        age = setting.max_age_seconds
        return age is None or made >= time.time() - age

    def _is_stable(self, call: Mapping[str, Any]) -> bool:
        setting = self._setting(call["client"])
        return self._mode == "replay" or setting is None or setting.is_stable


def _depends(call: Mapping[str, Any], gone: list[Mapping[str, Any]]) -> bool:
    """Return whether a question may hold a reply that is not on file.

    A judge's does, in a form of its own; any other shows it.
    """
    if not gone:
        return False
    if call["role"] == "judge":
        return any(other["role"] != "judge" for other in gone)
    asked = "\n".join(str(message["content"]) for message in call["prompt"])
    replies = (str((other["response"] or {}).get("text") or "") for other in gone)
    return any(reply and reply in asked for reply in replies)

"""Checked reading of a mapping: known keys, right types, the line in every error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_llmeval.errors import ConfigError, did_you_mean

__all__ = ["Section", "plain"]

_Key = str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A mapping of the configuration and where it stands."""

    data: Mapping[str, Any]
    what: str
    """What it is, for people: ``model 'app'``; empty for a whole file."""
    shown: str = ""
    """The file; empty for a mapping that stands in code."""
    path: tuple[_Key, ...] = ()
    lines: Mapping[tuple[_Key, ...], int] = field(default_factory=dict)

    def fail(self, message: str, *keys: _Key) -> ConfigError:
        """Return the error for something at `keys` below this mapping."""
        place = ""
        if self.shown:
            line = self.lines.get((*self.path, *keys), self.lines.get(self.path, 1))
            place = f"{self.shown}:{line}: "
        what = f"{self.what}: " if self.what else ""
        return ConfigError(f"{place}{what}{message}")

    def section(self, key: str, what: str) -> Section:
        """Return the mapping at `key`, empty when it is missing or null."""
        value = self.data.get(key)
        if value is None:
            value = {}
        if not isinstance(value, Mapping):
            message = f"{key} is a mapping, not {_short(value)}"
            raise self.fail(message, key)
        return Section(
            data=value,
            what=what,
            shown=self.shown,
            path=(*self.path, key),
            lines=self.lines,
        )

    def only(self, known: Iterable[str]) -> None:
        """Refuse a key that is not known."""
        names = list(known)
        for key in self.data:
            if key not in names:
                hint = _key_hint(key)
                message = (
                    f"unknown key {key!r}{did_you_mean(str(key), names)}; "
                    f"keys: {', '.join(names)}{hint}"
                )
                raise self.fail(message, key)

    def text(self, key: str) -> str | None:
        """Return a text, None when it is missing or null."""
        value = self.data.get(key)
        if value is None or (isinstance(value, str) and value.strip()):
            return value
        hint = "" if isinstance(value, str) else ": put it in quotes"
        message = f"{key} is a text, not {_short(value)}{hint}"
        raise self.fail(message, key)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts, empty when it is missing or null."""
        value = self.data.get(key)
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            raise self.fail(f"{key} is a list of texts, not {_short(value)}", key)
        for index, item in enumerate(value):
            if not isinstance(item, str) or not item.strip():
                message = f"{key} holds {_short(item)}, and each is a text"
                raise self.fail(message, key, index)
        return tuple(value)

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        """Return one of a few words, the first when it is missing."""
        value = self.data.get(key, allowed[0])
        if value not in allowed or not isinstance(value, str):
            words = " or ".join(allowed)
            hint = did_you_mean(str(value), allowed)
            raise self.fail(f"{key} is {words}, not {_short(value)}{hint}", key)
        return value

    def flag(self, key: str) -> bool | None:
        """Return true or false, None when it is missing or null."""
        value = self.data.get(key)
        if value is None or isinstance(value, bool):
            return value
        raise self.fail(f"{key} is true or false, not {_short(value)}", key)

    def number(self, key: str, *, above: float | None = None) -> float | None:
        """Return a number from 0 up, or above a bound; None when it is missing."""
        value = self.data.get(key)
        if value is None:
            return None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        bound = "from 0 up" if above is None else f"above {above:g}"
        fits = is_number and (value >= 0 if above is None else value > above)
        if not fits or not value < float("inf"):
            raise self.fail(f"{key} is a number {bound}, not {_short(value)}", key)
        return float(value)

    def whole(self, key: str, *, least: int) -> int | None:
        """Return a whole number, None when it is missing or null."""
        value = self.data.get(key)
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if value is None or (is_whole and value >= least):
            return value
        message = f"{key} is a whole number from {least} up, not {_short(value)}"
        raise self.fail(message, key)

    def mapped(self, key: str, read: Callable[[Section, str], Any]) -> dict[str, Any]:
        """Return the mapping at `key` with each value read by `read`."""
        inner = self.section(key, f"{self.what}, {key}")
        for name in inner.data:
            if not isinstance(name, str):
                raise inner.fail(f"the key {name!r} is a text", name)
        return {name: read(inner, name) for name in inner.data}


def _key_hint(key: object) -> str:
    if re.fullmatch(r"(?i)(api[-_]?)?(key|token|secret|password)", str(key)):
        return (
            ". Keys are read from the environment alone: name the variable, "
            "api_key_env: NAME"
        )
    return ""


def plain(value: Any) -> Any:
    """Return a value with its numbers as plain ones: nothing prints them again."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _short(value: object) -> str:
    text = str(value) if isinstance(value, float) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."

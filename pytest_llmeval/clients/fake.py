"""Scripted replies for tests of a suite: ``fake:PATH``.

The file is JSON Lines. A row has ``match`` (a text that must stand in the prompt;
without it the row fits every prompt) and either ``reply`` (a text; or a list of texts,
one a sample, the last one for the rest) or ``error`` (a text: the call fails with it);
``delay`` waits that many seconds first. The first row that fits answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_llmeval.clients._base import Request
from pytest_llmeval.errors import ConfigError, UnscoredError, did_you_mean
from pytest_llmeval.types import Response

__all__ = ["FakeBackend", "load_script"]

_KEYS = ("match", "reply", "error", "delay", "finish_reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of a script."""

    match: str = ""
    reply: tuple[str, ...] = ()
    error: str | None = None
    delay: float = 0.0
    finish_reason: str | None = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeBackend:
    """Answers from a script."""

    name: str
    script: tuple[Line, ...]
    sends_prompt: bool = True

    def identity(self, request: Request) -> dict[str, Any]:
        """Return the script's name and the prompt."""
        return {
            "provider": "fake",
            "model": self.name,
            "messages": request.prompt.to_json(),
            "params": dict(request.params),
        }

    async def answer(self, request: Request) -> Response:
        """Return the reply of the first row whose `match` stands in the prompt."""
        import asyncio

        text = request.prompt.text
        line = next((line for line in self.script if line.match in text), None)
        if line is None:
            shown = text if len(text) <= 200 else text[:197] + "..."
            message = f"no row of {self.name} fits the prompt {shown!r}"
            raise UnscoredError(message, cause="provider")
        if line.delay:
            await asyncio.sleep(line.delay)
        if line.error is not None:
            raise UnscoredError(line.error, cause="provider")
        return Response(
            text=line.reply[min(request.sample, len(line.reply) - 1)],
            messages=request.prompt.messages,
            model="fake",
            provider="fake",
            finish_reason=line.finish_reason,
            latency_seconds=line.delay,
        )

    async def close(self) -> None:
        """Hold nothing."""


def load_script(path: Path) -> tuple[Line, ...]:
    """Return the rows of a script.

    Raises:
        ConfigError: The file can't be read, or a row is not as described above.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as exc:
        message = f"fake: can't read the script {str(path)!r}: {exc}"
        raise ConfigError(message) from exc
    return tuple(
        _line(row, f"{path.name}:{number}")
        for number, row in enumerate(text.split("\n"), 1)
        if row.strip()
    )


def _line(text: str, place: str) -> Line:
    try:
        row = json.loads(text)
    except ValueError as exc:
        message = f"{place}: not JSON ({exc}); a script has one JSON object a line"
        raise ConfigError(message) from exc
    if not isinstance(row, Mapping):
        message = f"{place}: a row is an object with {', '.join(_KEYS)}, not {row!r}"
        raise ConfigError(message)
    for key in row:
        if key not in _KEYS:
            message = (
                f"{place}: unknown key {key!r}{did_you_mean(key, _KEYS)}; "
                f"keys: {', '.join(_KEYS)}"
            )
            raise ConfigError(message)
    if ("reply" in row) == ("error" in row):
        message = f"{place}: a row has either a reply or an error, {text.strip()!r}"
        raise ConfigError(message)
    return Line(
        match=_text(row.get("match", ""), "match", place),
        reply=_replies(row.get("reply", ""), place),
        error=_text(row["error"], "error", place) if "error" in row else None,
        delay=_seconds(row.get("delay", 0), place),
        finish_reason=row.get("finish_reason", "stop"),
    )


def _text(value: Any, key: str, place: str) -> str:
    if not isinstance(value, str):
        message = f"{place}: {key} is a text, not {value!r}"
        raise ConfigError(message)
    return value


def _replies(value: Any, place: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        return tuple(value)
    message = f"{place}: reply is a text or a list of texts, not {value!r}"
    raise ConfigError(message)


def _seconds(value: Any, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        message = f"{place}: delay is a number of seconds, 0 or more, not {value!r}"
        raise ConfigError(message)
    return float(value)

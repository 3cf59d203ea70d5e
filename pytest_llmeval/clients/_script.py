"""The script of ``fake:PATH``: who is answered what.

The file is JSON Lines. A row has ``match`` (a text that must stand in the prompt;
without it the row fits every prompt) and either ``reply`` (a text; or a list of texts,
one a sample, the last one for the rest; or an object of texts and how often each is
said, ``{"Lima": 0.9, "Cusco": 0.1}``) or ``error`` (a text: the call fails with it);
``delay`` waits that many seconds first. The first row that fits answers.

What is said by chance depends on the prompt, the sample and the row's ``seed`` (a whole
number, 0 where there is none) alone: the same in whatever order and process it is asked.

A row with ``logprobs`` (a number, or a list with one for each token) says how likely a
given text is, and answers nothing else: its ``match`` must stand in the context or the
text, ``text``, where it is there, must be the text, white space around it apart;
``greedy`` says whether it is what the model would have written.

A row with ``embedding`` (a list of numbers) is the vector of texts that hold its ``match``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.clients._base import GivenText
from pytest_llmeval.errors import ConfigError, did_you_mean
from pytest_llmeval.types import Likelihood, packed_vector

__all__ = ["Line", "load_script"]

_KEYS = (
    *("match", "reply", "logprobs", "embedding", "error", "delay"),
    *("finish_reason", "text", "greedy", "seed"),
)
_ANSWERS = ("reply", "logprobs", "embedding", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of a script."""

    match: str = ""
    reply: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    """How often each reply is said; without them they are said in turn."""
    seed: int = 0
    error: str | None = None
    delay: float = 0.0
    finish_reason: str | None = "stop"
    likelihood: Likelihood | None = None
    text: str | None = None
    """The given text that `likelihood` is of; None for any."""

    embedding: str | None = None
    """A vector, packed into a text."""

    def replies(self, prompt: str) -> bool:
        """Return whether this row answers a prompt."""
        is_other = self.likelihood is not None or self.embedding is not None
        return not is_other and self.match in prompt

    def said(self, prompt: str, sample: int) -> str:
        """Return the reply to a prompt."""
        if not self.weights:
            return self.reply[min(sample, len(self.reply) - 1)]
        from random import Random

        draw = Random(f"{self.seed}\n{sample}\n{prompt}")
        return draw.choices(self.reply, self.weights)[0]

    def embeds(self, text: str) -> bool:
        """Return whether this row has the vector of a text, or fails for it."""
        is_one = self.embedding is not None or self.error is not None
        return is_one and self.match in text

    def scores(self, given: GivenText) -> bool:
        """Return whether this row says how likely a text is, or fails for it."""
        if self.likelihood is None and self.error is None:
            return False
        is_text = self.text is None or self.text.strip() == given.text.strip()
        return is_text and self.match in f"{given.context or ''}{given.text}"


#: No weight or delay is more: what a float can't hold, or never ends.
_MOST: Final = 1e9


def load_script(path: Path) -> tuple[Line, ...]:
    """Return the rows of a script.

    Raises:
        ConfigError: The file can't be read, or a row is not as described above.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as exc:
        why = getattr(exc, "strerror", None) or exc
        message = f"fake: can't read the script {str(path)!r}: {why}"
        raise ConfigError(message) from exc
    return tuple(
        _line(row, f"{path.name}:{number}")
        for number, row in enumerate(text.split("\n"), 1)
        if row.strip()
    )


def _line(text: str, place: str) -> Line:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as exc:
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
    if sum(key in row for key in _ANSWERS) != 1:
        message = f"{place}: a row has one of {', '.join(_ANSWERS)}, {text.strip()!r}"
        raise ConfigError(message)
    for key in row.keys() & {"text", "greedy"} if "logprobs" not in row else ():
        message = f"{place}: {key} is of logprobs, and the row has none"
        raise ConfigError(message)
    reply, weights = _replies(row.get("reply", ""), place)
    return Line(
        match=_text(row.get("match", ""), "match", place),
        reply=reply,
        weights=weights,
        seed=_seed(row, place),
        error=_text(row["error"], "error", place) if "error" in row else None,
        delay=_seconds(row.get("delay", 0), place),
        finish_reason=row.get("finish_reason", "stop"),
        likelihood=_likelihood(row, place) if "logprobs" in row else None,
        text=_text(row["text"], "text", place) if "text" in row else None,
        embedding=_vector(row["embedding"], place) if "embedding" in row else None,
    )


def _text(value: Any, key: str, place: str) -> str:
    if not isinstance(value, str):
        message = f"{place}: {key} is a text, not {value!r}"
        raise ConfigError(message)
    return value


def _replies(value: Any, place: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the replies, and how often each is said where that is given."""
    if isinstance(value, str):
        return (value,), ()
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        return tuple(value), ()
    if isinstance(value, Mapping) and _are_weights(value.values()):
        return tuple(value), tuple(map(float, value.values()))
    message = (
        f"{place}: reply is a text, a list of texts, or an object of texts and how "
        f"often each is said, above 0, not {value!r}"
    )
    raise ConfigError(message)


def _are_weights(values: Collection[Any]) -> bool:
    return bool(values) and all(
        isinstance(one, int | float) and not isinstance(one, bool) and 0 < one < _MOST
        for one in values
    )


def _seed(row: Mapping[str, Any], place: str) -> int:
    seed = row.get("seed", 0)
    if "seed" in row and not isinstance(row.get("reply"), Mapping):
        message = f"{place}: seed is of a reply by chance, and the row has none"
        raise ConfigError(message)
    if isinstance(seed, bool) or not isinstance(seed, int):
        message = f"{place}: seed is a whole number, not {seed!r}"
        raise ConfigError(message)
    return seed


def _likelihood(row: Mapping[str, Any], place: str) -> Likelihood:
    values, is_greedy = row["logprobs"], row.get("greedy", False)
    if not isinstance(is_greedy, bool):
        message = f"{place}: greedy is true or false, not {is_greedy!r}"
        raise ConfigError(message)
    try:
        if isinstance(values, list) and values:
            return Likelihood.of(values, is_greedy=is_greedy)
        return Likelihood(logprob=values, is_greedy=is_greedy)
    except ValueError as exc:
        message = (
            f"{place}: logprobs is a log-probability or a list of them, one a token: "
            f"{exc}"
        )
        raise ConfigError(message) from exc


def _vector(value: Any, place: str) -> str:
    try:
        return packed_vector(value)
    except (TypeError, ValueError, OverflowError) as exc:
        message = f"{place}: embedding is a list of numbers, not {value!r:.60}"
        raise ConfigError(message) from exc


def _seconds(value: Any, place: str) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not (0 <= value < _MOST)
    ):
        message = f"{place}: delay is a number of seconds, 0 or more, not {value!r}"
        raise ConfigError(message)
    return float(value)

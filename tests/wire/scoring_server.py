"""A model of words for the fault server: it scores a prompt, rightly or not.

Its log-probabilities are a function of what stands before a token, so that a test can
say what is right without the server.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from typing import Any
from zlib import crc32

from tests.wire.conftest import Seen

__all__ = ["ScoringServer", "best_word", "logprob", "split"]

_WORDS = (" red", " blue", " green", " tall", " old", " new", " far", " near", ",", ".")


def split(text: str) -> list[str]:
    """Return the tokens of a text: words with the blank before them, other characters."""
    return re.findall(r" ?\w+|\W", text)


def best_word(before: str) -> str:
    """Return what the model would write after a text."""
    return _WORDS[crc32(before.encode()) % len(_WORDS)]


def logprob(before: str, token: str) -> float:
    """Return the log-probability of a token after a text."""
    drawn = crc32(f"{before}|{token}".encode()) % 1000 / 1000
    return -0.1 - drawn if token == best_word(before) else -2 - 5 * drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringServer:
    """Answers completions; as they should be, unless a field says otherwise."""

    beginning: str = ""
    """A token that it puts before every text, and echoes."""
    ignores_echo: bool = False
    value_shift: int = 0
    """By how many tokens the values of a prompt stand too far right."""
    offsets_are_ends: bool = False
    """Whether text_offset says where a token ends."""
    offset_origin: int = 0
    """What it counts from."""
    value_factor: float = 1.0
    """What the values of a prompt are multiplied with."""
    is_even: bool = False
    """Whether all that it writes is equally likely."""
    writes: int = 8

    def __call__(self, seen: Seen) -> Any:
        if seen.target != "/v1/completions":
            return 404, {"error": {"message": "no such path"}}
        body = seen.data
        prompt = body["prompt"]
        written = self._written(prompt, min(body["max_tokens"], self.writes))
        read = self._read(prompt) if body.get("echo") and not self.ignores_echo else []
        tokens = [token for token, _, _ in [*read, *written]]
        offsets = [0, *accumulate(map(len, tokens))]
        offsets = offsets[1:] if self.offsets_are_ends else offsets[:-1]
        text = "".join(tokens).removeprefix(self.beginning if read else "")
        return {
            "object": "text_completion",
            "model": "m-test",
            "choices": [
                {
                    "text": text,
                    "finish_reason": "length",
                    "logprobs": {
                        "tokens": tokens,
                        "token_logprobs": [value for _, value, _ in [*read, *written]],
                        "top_logprobs": [top for _, _, top in [*read, *written]],
                        "text_offset": [o + self.offset_origin for o in offsets],
                    },
                }
            ],
            "usage": {"prompt_tokens": len(split(prompt)), "completion_tokens": 1},
        }

    def _read(self, prompt: str) -> list[tuple[str, float | None, Any]]:
        tokens = split(prompt)
        tokens = [self.beginning, *tokens] if self.beginning else tokens
        before = list(accumulate(tokens, initial=""))
        rows: list[tuple[float | None, Any]] = [(None, None)]
        for text, token in list(zip(before, tokens, strict=False))[1:]:
            best = best_word(text)
            top = {best: logprob(text, best), token: logprob(text, token)}
            rows.append((logprob(text, token) * self.value_factor, top))
        if self.value_shift > 0:
            rows = [(None, None)] * self.value_shift + rows[: -self.value_shift]
        elif self.value_shift < 0:
            rows = rows[-self.value_shift :] + rows[self.value_shift :]
        return [(token, *row) for token, row in zip(tokens, rows, strict=True)]

    def _written(self, prompt: str, count: int) -> list[tuple[str, float, Any]]:
        text, found = self.beginning + prompt, []
        for _ in range(count):
            token = best_word(text)
            value = -0.5 if self.is_even else logprob(text, token)
            found.append((token, value, {token: value}))
            text += token
        return found

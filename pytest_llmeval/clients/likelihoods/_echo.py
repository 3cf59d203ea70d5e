"""The prompt sent back with its log-probabilities: completions with ``echo``.

As OpenAI defined it (``logprobs`` with tokens, token_logprobs, top_logprobs and
text_offset) and vLLM and others have it. Where a token stands is read from text_offset:
no tokenizer of ours is needed, and none could be sure to be the server's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeGuard

from pytest_llmeval.clients._completion import first_choice, usage_of
from pytest_llmeval.clients._server import Server
from pytest_llmeval.clients._values import word_of
from pytest_llmeval.clients.likelihoods._tokens import Asked, NoLikelihoodError, Token
from pytest_llmeval.types import Response

__all__ = ["EchoRoute", "echoed_tokens", "written_tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoRoute:
    """Asks for the text itself."""

    server: Server
    model: str

    async def ask(self, asked: Asked) -> Response:
        """Return the likelihood of a text, without a reply.

        Raises:
            ProviderError: The server refused.
            NoLikelihoodError: Its reply does not say.
        """
        reply = await self.server.ask("/completions", self.body(asked.whole))
        tokens = echoed_tokens(reply.data, asked.whole)
        return Response(
            text="",
            model=word_of(reply.data.get("model")) or self.model,
            system_fingerprint=word_of(reply.data.get("system_fingerprint")),
            likelihood=asked.likelihood(tokens),
            usage=usage_of(reply.data.get("usage")),
            latency_seconds=reply.seconds,
        )

    def body(self, prompt: str, *, echo: bool = True, tokens: int = 1) -> Any:
        """Return what is sent.

        Args:
            prompt: The text.
            echo: Whether the text is to come back.
            tokens: How many to write after it. With none some servers write until the
                context is full.
        """
        body = {"model": self.model, "prompt": prompt, "max_tokens": tokens}
        body |= {"temperature": 0, "logprobs": 1}
        return {**body, "echo": True} if echo else body


def echoed_tokens(data: Any, prompt: str) -> list[Token]:
    """Return the tokens of the prompt that a completion repeats.

    Args:
        data: The whole completion.
        prompt: What was sent.

    Raises:
        NoLikelihoodError: It does not repeat it, or its parts do not fit each other.
    """
    choice = (first_choice(data) if isinstance(data, Mapping) else None) or {}
    text = choice.get("text")
    if not isinstance(text, str) or prompt not in text:
        begins = f"begins {text[:40]!r}" if isinstance(text, str) else "has no text"
        message = (
            f"its completions ignore echo: the reply to {prompt[:40]!r}... {begins}"
        )
        raise NoLikelihoodError(message)
    parts = _parts(choice)
    lead = _lead(parts, prompt)
    starts = [start - lead for start in parts.starts]
    tokens = [
        Token(
            text=parts.texts[i],
            start=max(start, 0),
            end=min(end, len(prompt)),
            logprob=parts.logprobs[i],
            best=parts.best[i],
        )
        for i, (start, end) in enumerate(pairwise([*starts, len(prompt)]))
        if 0 <= start < len(prompt) and not (i == 0 and start == end)
    ]
    _check(tokens, prompt)
    return tokens


def written_tokens(data: Any) -> list[Token]:
    """Return the tokens that a completion without echo has written.

    Raises:
        NoLikelihoodError: It does not say what they are.
    """
    choice = (first_choice(data) if isinstance(data, Mapping) else None) or {}
    parts = _parts(choice)
    ends = [*parts.starts[1:], parts.starts[-1] + len(parts.texts[-1])]
    return [
        Token(text=text, start=start, end=end, logprob=logprob, best=best)
        for text, start, end, logprob, best in zip(
            parts.texts, parts.starts, ends, parts.logprobs, parts.best, strict=True
        )
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """The lists of a completion's ``logprobs``, one item a token."""

    texts: list[str]
    starts: list[int]
    logprobs: list[float | None]
    best: list[float | None]


def _parts(choice: Mapping[str, Any]) -> _Parts:
    found = choice.get("logprobs")
    if not isinstance(found, Mapping):
        message = "its completions have no logprobs"
        raise NoLikelihoodError(message)
    texts, values = found.get("tokens"), found.get("token_logprobs")
    starts, tops = found.get("text_offset"), found.get("top_logprobs")
    if not (_texts(texts) and _numbers(values) and _offsets(starts)):
        message = (
            "the logprobs of its completions are not tokens, token_logprobs and "
            "text_offset, as OpenAI has them"
        )
        raise NoLikelihoodError(message)
    if not len(texts) == len(values) == len(starts) > 0:
        message = (
            f"its completions have {len(texts)} tokens, {len(values)} token_logprobs "
            f"and {len(starts)} text_offset"
        )
        raise NoLikelihoodError(message)
    if not isinstance(tops, list) or len(tops) != len(texts):
        tops = [None] * len(texts)
    return _Parts(
        texts=texts, starts=starts, logprobs=values, best=[_best(top) for top in tops]
    )


def _lead(parts: _Parts, prompt: str) -> int:
    """Return where the prompt begins: after a token that the server puts first."""
    first = parts.texts[0]
    is_its_own = parts.logprobs[0] is None and not prompt.startswith(first)
    return parts.starts[0] + (len(first) if is_its_own else 0)


def _check(tokens: list[Token], prompt: str) -> None:
    """Refuse tokens that do not stand where they are said to stand.

    Plain ones only: part of a character has no text that could be compared.
    """
    position = 0
    for token in tokens:
        is_wrong = token.text.isascii() and not token.text.startswith("bytes:")
        is_wrong = is_wrong and token.text != prompt[token.start : token.end]
        if token.start != position or is_wrong:
            message = (
                f"its text_offset do not fit the text: at {token.start} of "
                f"{prompt!r:.60} stands {prompt[token.start : token.end]!r} and not "
                f"{token.text!r}"
            )
            raise NoLikelihoodError(message)
        position = token.end
    if position != len(prompt):
        message = f"its text_offset end at {position} of {len(prompt)} characters"
        raise NoLikelihoodError(message)


def _texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _numbers(value: Any) -> TypeGuard[list[float | None]]:
    return isinstance(value, list) and all(
        item is None or (isinstance(item, int | float) and not isinstance(item, bool))
        for item in value
    )


def _offsets(value: Any) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(
        isinstance(item, int) and not isinstance(item, bool) for item in value
    )


def _best(top: Any) -> float | None:
    values = list(top.values()) if isinstance(top, Mapping) else []
    numbers = [value for value in values if isinstance(value, int | float)]
    return max(numbers, default=None)

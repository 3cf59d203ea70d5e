"""What goes to a model and what comes back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, Self

from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.types._likelihood import Likelihood
from pytest_llmeval.types._text import as_text, clean_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One chat message."""

    role: str
    content: Any
    """Text, or the provider's list of parts."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further keys (``name``, ``tool_calls``, ``tool_call_id``), sent as they are."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {
            "role": self.role,
            "content": clean_json(self.content),
            **clean_json(self.extra),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What is sent to a model: chat messages, system first where there is one."""

    messages: tuple[Message, ...]

    @classmethod
    def of(cls, text: str, *, system: str | None = None) -> Self:
        """Return the prompt of one user message, after an optional system message."""
        messages = [Message(role="system", content=system)] if system else []
        return cls(messages=(*messages, Message(role="user", content=text)))

    @property
    def text(self) -> str:
        """The contents as one text: bare for one message, else with roles named."""
        if len(self.messages) == 1:
            return as_text(self.messages[0].content)
        return "\n\n".join(f"{m.role}: {as_text(m.content)}" for m in self.messages)

    def to_json(self) -> list[dict[str, Any]]:
        """Return it as plain JSON types."""
        return [message.to_json() for message in self.messages]

    @classmethod
    def from_json(cls, data: Sequence[Mapping[str, Any]]) -> Self:
        return cls(
            messages=tuple(
                Message(
                    role=item["role"],
                    content=item["content"],
                    extra={
                        k: v for k, v in item.items() if k not in {"role", "content"}
                    },
                )
                for item in data
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of a call; None is unknown. Cached and reasoning ones are included."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None

    @property
    def total(self) -> int | None:
        """Input and output tokens together, None when neither is known."""
        known = [n for n in (self.input_tokens, self.output_tokens) if n is not None]
        return sum(known) if known else None

    def to_json(self) -> dict[str, int | None]:
        """Return it as plain JSON types."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "reasoning_tokens": self.reasoning_tokens,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A request as it goes over the wire, with ``${VARIABLE}`` where a secret stands."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: str | None = None
    """JSON in ASCII."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {
            "method": self.method,
            "url": clean_json(self.url),
            "headers": clean_json(self.headers),
            "body": self.body,
        }


Origin = Literal["live", "cache", "recording", "column"]

#: Where replies may come from, and whether they are kept.
Mode = Literal["auto", "replay", "record", "rerecord", "live"]

_NO_TEXT: Final = "a Response is no text: compare response.text, or str(response)"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Response:
    """A reply and where it came from."""

    text: str
    messages: tuple[Message, ...] = ()
    """The messages sent."""
    model: str | None = None
    """The model's name as the server gave it."""
    system_fingerprint: str | None = None
    """The server's mark of the set-up that answered, where it gives one."""
    provider: str = ""
    """The part of the spec before the colon (``openai``, ``python``, ``column``)."""
    finish_reason: str | None = None
    """stop, length, tool_calls, content_filter, refusal, error (docs/providers.md); other
    words as the server said them."""
    usage: Usage | None = None
    cost: float | None = None
    """US dollars; None is unknown."""
    latency_seconds: float | None = None
    """Of the answering attempt alone: no waiting, no retries."""
    origin: Origin = "live"
    sources: tuple[str, ...] = ()
    """Passages the application says it used."""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    """Each ``{"id", "name", "arguments"}``; the arguments parsed, or as the text they
    were where that is not JSON."""
    refusal: str | None = None
    reasoning: str | None = None
    logprobs: Any = None
    likelihood: Likelihood | None = None
    """Of a given text, where that was asked for instead of a reply."""
    embeddings: Sequence[str] = ()
    """Of given texts, where that was asked for: vectors, each packed into a text."""
    raw: Any = None

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        return f"<Response {text!r} {self.model or self.provider} {self.origin}>"

    def __eq__(self, other: object) -> bool:
        __tracebackhide__ = True
        if isinstance(other, str):
            # Never equal, and != always holds: that would be a score of a mistake.
            raise ConfigError(_NO_TEXT)
        if not isinstance(other, Response):
            return NotImplemented
        return all(
            getattr(self, f.name) == getattr(other, f.name) for f in fields(self)
        )

    if not TYPE_CHECKING:  # to a type checker there is nothing but the fields

        def __contains__(self, part: object) -> bool:
            __tracebackhide__ = True
            raise ConfigError(_NO_TEXT)

        def __getattr__(self, name: str) -> Any:
            __tracebackhide__ = True
            message = f"a Response has no {name!r}"
            if hasattr(str, name):
                message += f", and its text has: response.text.{name}"
            raise AttributeError(message, name=name, obj=self)

    @property
    def is_from_model(self) -> bool:
        """Whether a model wrote it; an empty text of code or a column is a reply."""
        return self.provider not in {"column", "python", ""}

    def extract(self, pattern: str | re.Pattern[str]) -> Response:
        """Return the matched part with the same provenance.

        The last match counts; its first group where the pattern has one.

        Args:
            pattern: A regular expression.

        Raises:
            UnscoredError: Nothing matches (cause application); the reply has no such
                part, which says nothing about what the part holds.
        """
        matches = list(re.finditer(pattern, self.text))
        if not matches:
            shown = self.text if len(self.text) <= 200 else self.text[:197] + "..."
            message = (
                f"no part of the reply matches "
                f"{getattr(pattern, 'pattern', pattern)!r}; the reply is {shown!r}"
            )
            raise UnscoredError(message, cause="application")
        last = matches[-1]
        return replace(self, text=last[1 if last.re.groups else 0] or "")

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        data = {
            "text": self.text,
            "model": self.model,
            "system_fingerprint": self.system_fingerprint,
            "provider": self.provider,
            "finish_reason": self.finish_reason,
            "usage": self.usage.to_json() if self.usage else None,
            "cost": self.cost,
            "latency_seconds": self.latency_seconds,
            "origin": self.origin,
            "sources": self.sources,
            "tool_calls": self.tool_calls,
            "refusal": self.refusal,
            "reasoning": self.reasoning,
            "likelihood": self.likelihood and self.likelihood.to_json(),
            # Thousands of numbers would tell a reader nothing.
            "embeddings": len(self.embeddings) or None,
        }
        return {
            key: clean_json(value) for key, value in data.items() if value is not None
        }


class Client(Protocol):
    """What can answer a prompt: a user's own object with this method will do.

    ``generate`` may be a plain or an async method, and may return a text, a
    ``(text, cost)`` pair, a mapping or a `Response`. Where it can, it also has
    ``loglikelihood(context, continuation)``, which returns a `Likelihood` or the sum of
    the continuation's log-probabilities and whether it is the greedy continuation, and
    ``loglikelihood_rolling(text)``, which returns a `Likelihood` or the sum.
    """

    def generate(self, prompt: Prompt, **params: Any) -> Any:
        """Return the reply to `prompt`."""

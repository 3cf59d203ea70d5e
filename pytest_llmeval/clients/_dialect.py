"""A model behind a JSON interface: one backend for all, one dialect a provider.

A dialect knows what a provider's requests and replies look like, and nothing of wires,
keys or errors of the network: a provider is one small file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pytest_llmeval.clients._base import Request
from pytest_llmeval.clients._problem import body_text
from pytest_llmeval.clients._server import Server
from pytest_llmeval.clients._switches import Switches, hint_of
from pytest_llmeval.clients._values import word_of
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.types import Response, Sent

__all__ = ["Dialect", "DialectBackend", "NoAnswerError", "check_params"]


class NoAnswerError(Exception):
    """A reply of the right form that holds no answer; the text says what it lacks."""


class Dialect(Protocol):
    """How one provider's interface is spoken."""

    @property
    def provider(self) -> str:
        """The part of the spec before the colon."""

    @property
    def wanted(self) -> str:
        """What a reply is called, for error texts: ``completion``."""

    @property
    def speaks(self) -> str:
        """What the address has to be of: ``an OpenAI-compatible interface (…)``."""

    def identity(self) -> Mapping[str, Any]:
        """Return what changes the answer besides model, messages and parameters."""

    def path(self, model: str) -> str:
        """Return where a request goes, below the address."""

    def body(self, model: str, request: Request) -> Mapping[str, Any]:
        """Return what is sent.

        Args:
            model: The model's name.
            request: With the parameters of the entry and of the call together.

        Raises:
            ConfigError: The request can't be said in this dialect.
        """

    def read(self, data: Mapping[str, Any], request: Request) -> Response:
        """Return the answer that a reply holds.

        Args:
            data: The reply.
            request: What was asked, as `body` got it.

        Raises:
            NoAnswerError: It holds none.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectBackend:
    """Asks a server in its dialect."""

    name: str
    model: str
    server: Server
    dialect: Dialect
    params: Mapping[str, Any] = field(default_factory=dict)
    switches: Switches = field(default_factory=Switches)
    joined: Callable[[bytes], Any] | None = None
    """Makes one reply of a stream of events, where the interface may send one."""
    sends_prompt: bool = True

    def identity(self, request: Request) -> dict[str, Any]:
        """Return address, model, messages and parameters, as they are sent."""
        request = self.switches.applied(request, self.params)
        return {
            "provider": self.dialect.provider,
            "base_url": str(self.server.address),
            "model": self.model,
            **self.dialect.identity(),
            **request.asked({}),
        }

    async def answer(self, request: Request) -> Response:
        """Return the reply.

        Raises:
            ProviderError: There is none; the server's own words are in the text.
            ConfigError: A parameter can't be sent.
        """
        whole, path, body = self._said(request)

        def hint(said: str, sent: Mapping[str, Any]) -> str:
            # A provider's own names for parameters stand deeper in some bodies.
            return hint_of(said, {**whole.params, **sent})

        reply = await self.server.ask(path, body, hint=hint, joined=self.joined)
        if not isinstance(reply.data, Mapping):
            raise self.server.no_object(
                reply, wanted=self.dialect.wanted, speaks=self.dialect.speaks
            )
        try:
            response = self.dialect.read(reply.data, whole)
        except NoAnswerError as exc:
            model = reply.data.get("model") or self.model
            what = f"the reply of {model!r} {exc}; it is {body_text(reply)}"
            raise self.server.unread(reply, what) from None
        return replace(
            response,
            model=response.model or self.model,
            system_fingerprint=word_of(reply.data.get("system_fingerprint")),
            messages=request.prompt.messages,
            provider=self.dialect.provider,
            latency_seconds=reply.seconds,
        )

    def sent(self, request: Request) -> Sent:
        """Return what goes over the wire.

        Raises:
            ConfigError: A parameter can't be sent.
        """
        _, path, body = self._said(request)
        return self.server.shown("POST", path, body)

    def _said(self, request: Request) -> tuple[Request, str, dict[str, Any]]:
        """Return a request with all its parameters, where it goes, and its body."""
        check_params(self.name, request.params)
        whole = self.switches.applied(request, self.params)
        body = self.switches.without(self.dialect.body(self.model, whole))
        return whole, self.dialect.path(self.model), body

    async def close(self) -> None:
        """Close the connections."""
        await self.server.close()


def check_params(name: str, params: Mapping[str, Any]) -> None:
    """Refuse parameters that are not the model's.

    Args:
        name: The entry's name, for error texts.
        params: Those of the entry or of a call.

    Raises:
        ConfigError: One names what is said elsewhere, or asks for pieces.
    """
    for key in ("messages", "model", "prompt"):
        if key in params:
            message = f"{name!r}: params can't hold {key!r}, which is said elsewhere"
            raise ConfigError(message)
    if params.get("stream"):
        message = (
            f"{name!r}: params can't hold stream: replies are read whole; for servers "
            f"that stream alone openai has stream: true in the entry"
        )
        raise ConfigError(message)

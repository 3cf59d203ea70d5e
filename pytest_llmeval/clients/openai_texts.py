"""A server that speaks OpenAI's interface: replies, and what it says of given texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pytest_llmeval.clients._base import Ability, Request
from pytest_llmeval.clients._dialect import DialectBackend
from pytest_llmeval.clients.likelihoods import LikelihoodAsker
from pytest_llmeval.types import Response

__all__ = ["OpenAIBackend"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIBackend:
    """Asks for chat completions, and for the likelihood of given texts."""

    abilities: ClassVar[frozenset[Ability]] = frozenset({"likelihood"})

    inner: DialectBackend
    likelihoods: LikelihoodAsker
    sends_prompt: bool = True

    @classmethod
    def of(cls, inner: DialectBackend) -> OpenAIBackend:
        """Return the backend around one that answers."""
        return cls(
            inner=inner,
            likelihoods=LikelihoodAsker(server=inner.server, model=inner.model),
        )

    @property
    def name(self) -> str:
        """The configured name or spec."""
        return self.inner.name

    def identity(self, request: Request) -> dict[str, Any]:
        """Return address, model, and what is asked."""
        if request.given is None:
            return self.inner.identity(request)
        return {
            "provider": self.inner.dialect.provider,
            "base_url": str(self.inner.server.address),
            "model": self.inner.model,
            **request.asked({}),
        }

    async def answer(self, request: Request) -> Response:
        """Return the reply, or what was asked instead of one.

        Raises:
            ProviderError: There is none; the server's own words are in the text.
            ConfigError: A parameter can't be sent.
        """
        if request.given is None:
            return await self.inner.answer(request)
        response = await self.likelihoods.ask(request.given)
        return replace(response, provider=self.inner.dialect.provider)

    async def close(self) -> None:
        """Close the connections."""
        self.likelihoods.close()
        await self.inner.close()

"""A server that speaks OpenAI's interface: replies, and what it says of given texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pytest_llmeval.clients._base import Ability, Request
from pytest_llmeval.clients._dialect import DialectBackend
from pytest_llmeval.clients._embeddings import Embedder
from pytest_llmeval.clients.likelihoods import LikelihoodAsker
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.types import Response, Sent

__all__ = ["OpenAIBackend"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIBackend:
    """Asks for completions, and for likelihoods and vectors of given texts."""

    abilities: ClassVar[frozenset[Ability]] = frozenset({"likelihood", "embedding"})

    inner: DialectBackend
    likelihoods: LikelihoodAsker
    embedder: Embedder
    only_embeds: bool = False
    """Whether the entry is one of an embedding model, and its params are for that."""
    sends_prompt: bool = True

    @classmethod
    def of(cls, inner: DialectBackend, *, only_embeds: bool = False) -> OpenAIBackend:
        """Return the backend around one that answers."""
        server, model = inner.server, inner.model
        params = inner.params if only_embeds else {}
        return cls(
            inner=inner,
            likelihoods=LikelihoodAsker(server=server, model=model),
            embedder=Embedder(server=server, model=model, params=params),
            only_embeds=only_embeds,
        )

    @property
    def name(self) -> str:
        """The configured name or spec."""
        return self.inner.name

    def identity(self, request: Request) -> dict[str, Any]:
        """Return address, model, and what is asked."""
        if request.given is None and not request.texts:
            return self.inner.identity(request)
        return {
            "provider": self.inner.dialect.provider,
            "base_url": str(self.inner.server.address),
            "model": self.inner.model,
            **request.asked(self.embedder.params),
        }

    async def answer(self, request: Request) -> Response:
        """Return the reply, or what was asked instead of one.

        Raises:
            ProviderError: There is none; the server's own words are in the text.
            ConfigError: A parameter can't be sent.
        """
        if request.texts:
            response = await self.embedder.ask(request.texts)
        elif self.only_embeds:
            message = (
                f"{self.name!r} gives vectors of texts alone: its entry says api: "
                f"embeddings"
            )
            raise ConfigError(message)
        elif request.given is not None:
            response = await self.likelihoods.ask(request.given)
        else:
            return await self.inner.answer(request)
        return replace(response, provider=self.inner.dialect.provider)

    def sent(self, request: Request) -> Sent | None:
        """Return what goes over the wire; for a likelihood that may be several requests.

        Raises:
            ConfigError: A parameter can't be sent.
        """
        if request.texts:
            return self.embedder.sent(request.texts)
        return None if request.given is not None else self.inner.sent(request)

    async def close(self) -> None:
        """Close the connections."""
        self.likelihoods.close()
        await self.inner.close()

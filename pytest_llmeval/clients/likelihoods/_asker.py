"""One server's likelihoods: probed once, then asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_llmeval.clients._base import GivenText
from pytest_llmeval.clients._given import without_likelihoods
from pytest_llmeval.clients._server import Server
from pytest_llmeval.clients.likelihoods._tokens import Asked, NoLikelihoodError
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.types import Response

if TYPE_CHECKING:
    import asyncio

    from pytest_llmeval.clients.likelihoods._probe import Route

__all__ = ["LikelihoodAsker"]


@dataclass(slots=True, kw_only=True)
class LikelihoodAsker:
    """Asks a server how likely texts are, on one event loop until it is closed."""

    server: Server
    model: str
    _route: Route | None = field(default=None, repr=False)
    _refusal: str | None = None
    """Why there is no way to ask this server."""
    _probing: asyncio.Lock | None = field(default=None, repr=False)

    async def ask(self, given: GivenText) -> Response:
        """Return the likelihood of a text, without a reply.

        Raises:
            ProviderError: The server refused, or does not say.
        """
        route = await self._probed()
        try:
            return await route.ask(Asked(given=given))
        except NoLikelihoodError as exc:
            raise self.server.clean(
                ProviderError(f"{self.server.name}: no log-probabilities: {exc}")
            ) from None

    def close(self) -> None:
        """Forget the event loop."""
        self._route = self._probing = None

    async def _probed(self) -> Route:
        """Return how to ask, found out once.

        Raises:
            ProviderError: There is no way, or it can't be said now.
        """
        import asyncio

        from pytest_llmeval.clients.likelihoods._probe import probed_route

        if self._probing is None:
            self._probing = asyncio.Lock()
        async with self._probing:
            if self._refusal is None and self._route is None:
                try:
                    self._route = await probed_route(self.server, self.model)
                except NoLikelihoodError as exc:
                    self._refusal = str(exc)
        if self._route is None:
            error = without_likelihoods(self.server.name, self._refusal or "")
            raise self.server.clean(error)
        return self._route

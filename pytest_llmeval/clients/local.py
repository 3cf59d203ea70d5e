"""The embedded model: ``local:smollm2``, a llama.cpp server that the run starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_llmeval.clients._address import Address
from pytest_llmeval.clients._base import Ability, Request
from pytest_llmeval.clients._dialect import DialectBackend
from pytest_llmeval.clients._http import Wire
from pytest_llmeval.clients._keys import Keys
from pytest_llmeval.clients._launch import Launch
from pytest_llmeval.clients._server import Server
from pytest_llmeval.clients._switches import Switches
from pytest_llmeval.clients.openai import OpenAIDialect
from pytest_llmeval.clients.openai_texts import OpenAIBackend
from pytest_llmeval.config import Limits
from pytest_llmeval.types import Response

if TYPE_CHECKING:
    import asyncio

__all__ = ["LocalBackend"]


@dataclass(slots=True, kw_only=True)
class LocalBackend:
    """Asks the embedded model, starting its server with the first question."""

    abilities: ClassVar[frozenset[Ability]] = frozenset({"likelihood"})

    name: str
    model: str
    launch: Launch
    limits: Limits
    params: Mapping[str, Any] = field(default_factory=dict)
    api: str = "chat"
    switches: Switches = field(default_factory=Switches)
    sends_prompt: bool = True
    _client: OpenAIBackend | None = None
    _starting: asyncio.Lock | None = None

    def identity(self, request: Request) -> dict[str, Any]:
        """Return model, messages and parameters; the port is of the moment."""
        return {
            "provider": "local",
            "model": self.model,
            **({"api": self.api} if request.given is None else {}),
            **self.switches.applied(request, self.params).asked({}),
        }

    async def answer(self, request: Request) -> Response:
        """Return the reply.

        Raises:
            ProviderError: The server can't be started, or gave none.
        """
        client = await self._started()
        response = await client.answer(request)
        return replace(response, provider="local", cost=0.0)

    async def close(self) -> None:
        """Close the connections, and end the server where the run is this process."""
        client, self._client, self._starting = self._client, None, None
        if client is not None:
            await client.close()
        self.launch.end()

    async def _started(self) -> OpenAIBackend:
        import asyncio

        from pytest_llmeval.loop import in_daemon_thread

        if self._starting is None:
            self._starting = asyncio.Lock()
        async with self._starting:
            if self._client is None:
                address, key = await in_daemon_thread(self.launch.address)
                self._client = self._client_of(address, key)
            return self._client

    def _client_of(self, address: str, key: str) -> OpenAIBackend:
        server = Server(
            name=self.name,
            model=self.model,
            address=Address.of(f"{address}/v1", model=self.name),
            keys=Keys.of(key),
            wire=Wire(
                width=self.limits.concurrency,
                timeout_seconds=self.limits.timeout_seconds,
                deadline_seconds=self.limits.deadline_seconds,
                uses_proxy=False,  # this machine's own
            ),
        )
        return OpenAIBackend.of(
            DialectBackend(
                name=self.name,
                model=self.model,
                server=server,
                dialect=OpenAIDialect(api=self.api),
                params=self.params,
                switches=self.switches,
            )
        )

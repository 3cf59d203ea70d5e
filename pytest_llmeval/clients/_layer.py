"""What every wrapper of a backend leaves to the backend it wraps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_llmeval.clients._base import Backend, Request, never_waits
from pytest_llmeval.types import Response

__all__ = ["Layer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Passes everything on; a wrapper says only what it does otherwise."""

    inner: Backend

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self.inner.name

    @property
    def sends_prompt(self) -> bool:
        """As the model behind."""
        return self.inner.sends_prompt

    @property
    def never_waits(self) -> bool:
        """As the model behind."""
        return never_waits(self.inner)

    def identity(self, request: Request) -> dict[str, Any]:
        """As the model behind: what a wrapper adds changes no reply."""
        return self.inner.identity(request)

    async def answer(self, request: Request) -> Response:
        """Return the reply of the model behind."""
        return await self.inner.answer(request)

    async def close(self) -> None:
        """Close the model behind."""
        await self.inner.close()

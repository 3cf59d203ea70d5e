"""``on_length: score``: a model whose cut replies are scored as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_llmeval.clients._base import Backend, Request, never_waits
from pytest_llmeval.types import Response

__all__ = ["CutAccepted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CutAccepted:
    """Says of a model that a reply at its token limit is a reply; changes nothing."""

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
        """As the model behind: what is done with a reply does not change it."""
        return self.inner.identity(request)

    async def answer(self, request: Request) -> Response:
        """Return the reply of the model behind."""
        return await self.inner.answer(request)

    async def close(self) -> None:
        """Close the model behind."""
        await self.inner.close()

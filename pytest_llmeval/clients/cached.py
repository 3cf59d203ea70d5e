"""The cache in front of a model: a question that was answered is not asked again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_llmeval.clients._base import Request
from pytest_llmeval.clients._layer import Layer
from pytest_llmeval.clients.flights import Flights, Landed, Wanted
from pytest_llmeval.clients.shelf import Shelf
from pytest_llmeval.store.cache import Reply
from pytest_llmeval.store.key import request_key
from pytest_llmeval.store.replies import packed, unpacked
from pytest_llmeval.types import Response

__all__ = ["CachedBackend"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedBackend(Layer):
    """Answers from the cache where it can, and keeps what the model behind says."""

    flights: Flights
    shelf: Shelf
    """Knows the secrets."""
    run: str
    """The run that asks."""
    is_this_run_only: bool = False
    """Whether only what this run asked for counts."""
    max_age_seconds: float | None = None
    """None: replies are never too old."""
    patience_seconds: float = 300.0
    """How long another process may take with a question."""

    async def answer(self, request: Request) -> Response:
        """Return the reply that is kept, or ask; once for all who ask the same.

        Raises:
            UnscoredError: What the model behind raises. It is never kept.
        """
        asked: list[Response] = []

        async def ask() -> Landed:
            asked.append(await self.inner.answer(request))
            return self._landed(wanted.key, request, asked[0])

        wanted = self._wanted(request)
        kept = await self.flights.fetch(wanted, ask)
        if kept is None:
            return asked[0]
        return unpacked(kept, request.prompt, "cache")

    def _wanted(self, request: Request) -> Wanted:
        is_limited = self.max_age_seconds is not None and not self.is_this_run_only
        return Wanted(
            key=request.key or request_key(self._cleaned(request), request.sample),
            since=time.time() - (self.max_age_seconds or 0) if is_limited else 0.0,
            run=self.run if self.is_this_run_only else None,
            patience_seconds=self.patience_seconds,
        )

    def _landed(self, key: str, request: Request, response: Response) -> Landed:
        identity = self._cleaned(request)
        words = (str(identity.get(part) or "") for part in ("provider", "model"))
        reply = Reply(
            key=key,
            response=self.shelf.redactor.redact(packed(response)),
            model=":".join(words).removesuffix(":"),
            run=self.run,
        )
        return Landed(reply=reply, is_kept=_says_something(response))

    def _cleaned(self, request: Request) -> Mapping[str, Any]:
        return self.shelf.clean(self.inner.identity(request))


def _says_something(response: Response) -> bool:
    """Return whether a reply is one, and not the trace of an outage."""
    return bool(
        response.text.strip()
        or response.tool_calls
        or response.refusal
        or response.likelihood is not None
        or response.embeddings
        or not response.is_from_model
    )

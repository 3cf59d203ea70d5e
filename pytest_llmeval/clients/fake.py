"""Scripted replies for tests of a suite: ``fake:PATH``. `_script` says how one looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_llmeval.clients._base import Ability, GivenText, Request
from pytest_llmeval.clients._script import Line, load_script
from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.types import Response

__all__ = ["FakeBackend", "Line", "load_script"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeBackend:
    """Answers from a script."""

    name: str
    script: tuple[Line, ...]
    sends_prompt: bool = True

    @property
    def abilities(self) -> frozenset[Ability]:
        """What the script has rows for."""
        found: set[Ability] = set()
        for line in self.script:
            found |= {"likelihood"} if line.likelihood is not None else set()
            found |= {"embedding"} if line.embedding is not None else set()
        return frozenset(found)

    def identity(self, request: Request) -> dict[str, Any]:
        """Return the script's name and the prompt."""
        return {"provider": "fake", "model": self.name, **request.asked({})}

    async def answer(self, request: Request) -> Response:
        """Return the reply of the first row whose `match` stands in the prompt."""
        if request.given is not None:
            return await self.likelihood(request.given)
        if request.texts:
            return await self.embeddings(request.texts)
        text = request.prompt.text
        line = await self._first(
            (one for one in self.script if one.replies(text)), text
        )
        return Response(
            text=line.said(text, request.sample),
            messages=request.prompt.messages,
            model="fake",
            provider="fake",
            finish_reason=line.finish_reason,
            latency_seconds=line.delay,
        )

    async def likelihood(self, given: GivenText) -> Response:
        """Return the likelihood in the first row with one that fits the text."""
        rows = (one for one in self.script if one.scores(given))
        line = await self._first(rows, f"{given.context or ''}{given.text}")
        return Response(
            text="",
            model="fake",
            provider="fake",
            likelihood=line.likelihood,
            latency_seconds=line.delay,
        )

    async def embeddings(self, texts: Sequence[str]) -> Response:
        """Return the vectors in the first rows with one that fit the texts."""
        lines = []
        for text in texts:
            rows = (one for one in self.script if one.embeds(text))
            lines.append(await self._first(rows, text))
        return Response(
            text="",
            model="fake",
            provider="fake",
            embeddings=tuple(line.embedding or "" for line in lines),
            latency_seconds=sum(line.delay for line in lines),
        )

    async def close(self) -> None:
        """Hold nothing."""

    async def _first(self, lines: Iterator[Line], text: str) -> Line:
        """Return the first of the rows that fit, once its delay is over.

        Raises:
            UnscoredError: There is none, or it is an error.
        """
        import asyncio

        line = next(lines, None)
        if line is None:
            shown = text if len(text) <= 200 else text[:197] + "..."
            message = f"no row of {self.name} fits the prompt {shown!r}"
            raise UnscoredError(message, cause="provider")
        if line.delay:
            await asyncio.sleep(line.delay)
        if line.error is not None:
            raise UnscoredError(line.error, cause="provider")
        return line

"""Replies that stand in the dataset: ``column:NAME``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_llmeval.clients._base import Request
from pytest_llmeval.errors import UnscoredError, did_you_mean
from pytest_llmeval.types import Response, as_text

__all__ = ["ColumnBackend"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBackend:
    """Answers each case with the text of one of its columns."""

    never_waits: ClassVar[bool] = True

    name: str
    column: str
    sends_prompt: bool = False

    def identity(self, request: Request) -> dict[str, Any]:
        """Return the column and the row."""
        return {"provider": "column", "model": self.column, "case": request.case}

    async def answer(self, request: Request) -> Response:
        """Return the column's text; an empty one is a reply, a missing one is not."""
        case = request.case
        if case is None:
            message = (
                f"{self.name} reads the reply from a dataset row, and there is no "
                f"case here: call generator(case)"
            )
            raise UnscoredError(message, cause="suite")
        if self.column not in case.fields:
            columns = list(map(str, case.fields))
            message = (
                f"case {case.id!r} has no column {self.column!r} to take the reply "
                f"from{did_you_mean(self.column, columns)}; "
                f"columns: {', '.join(columns) or 'none'}"
            )
            raise UnscoredError(message, cause="data")
        value = case.fields[self.column]
        if value is None:
            message = f"case {case.id!r} has no reply: its {self.column!r} is empty"
            raise UnscoredError(message, cause="data")
        return Response(
            text=as_text(value),
            messages=request.prompt.messages,
            provider="column",
            origin="column",
        )

    async def close(self) -> None:
        """Hold nothing."""

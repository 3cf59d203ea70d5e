"""Chat completions as OpenAI defined them and dozens of servers speak them.

https://platform.openai.com/docs/api-reference/chat; fields that other servers add
(``reasoning_content``, ``reasoning``) are read where they stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_llmeval.clients._base import Request
from pytest_llmeval.clients._completion import first_choice, read_choice
from pytest_llmeval.clients._dialect import NoAnswerError
from pytest_llmeval.types import Response

__all__ = ["DEFAULT_BASE_URL", "OpenAIDialect"]

DEFAULT_BASE_URL = "https://api.openai.com/v1"

_PATHS = {"chat": "/chat/completions", "completions": "/completions"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIDialect:
    """Chat completions, and plain ones."""

    provider: ClassVar[str] = "openai"
    wanted: ClassVar[str] = "completion"
    speaks: ClassVar[str] = "an OpenAI-compatible interface (.../v1)"

    api: str = "chat"
    """chat, or completions: the plain continuation of the prompt's text."""

    def identity(self) -> Mapping[str, Any]:
        """Return which of the two it is."""
        return {"api": self.api}

    def path(self, model: str) -> str:
        """Return where a request goes, below the address."""
        return _PATHS[self.api]

    def body(self, model: str, request: Request) -> Mapping[str, Any]:
        """Return what is sent: the model, the messages, the parameters."""
        asked: dict[str, Any] = (
            {"prompt": request.prompt.text}
            if self.api == "completions"
            else {"messages": request.prompt.to_json()}
        )
        return {"model": model, **asked, **request.params}

    def read(self, data: Mapping[str, Any]) -> Response:
        """Return the first choice.

        Raises:
            NoAnswerError: There is none.
        """
        choice = first_choice(data)
        if choice is None:
            what = "has no choices"
            if "choices" in data:
                what += ": servers send that when a filter took the answer out"
            raise NoAnswerError(what)
        return read_choice(choice, data)

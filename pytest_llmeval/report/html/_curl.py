"""The request of a call as a curl command, the key a variable of the shell."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any, Final

from pytest_llmeval.clients import Request
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.types import Prompt

__all__ = ["curl_command"]

_HEADERS: Final = {
    "openai": '-H "Authorization: Bearer $OPENAI_API_KEY"',
    "openai-responses": '-H "Authorization: Bearer $OPENAI_API_KEY"',
    "anthropic": (
        '-H "x-api-key: $ANTHROPIC_API_KEY" -H "anthropic-version: 2023-06-01"'
    ),
    "gemini": '-H "x-goog-api-key: $GEMINI_API_KEY"',
}


def curl_command(call: Mapping[str, Any]) -> str | None:
    """Return a command that asks the same, None for what is not asked over a wire.

    Headers of the entry in llmeval.yaml are not kept with a call, and are missing.
    """
    settings = call["settings"]
    provider, address = settings.get("provider"), settings.get("base_url")
    if provider not in _HEADERS or not address or not call["prompt"]:
        return None
    dialect = _dialect(provider, settings)
    model = str(settings.get("model", ""))
    request = Request(
        prompt=Prompt.from_json(call["prompt"]), params=settings.get("params") or {}
    )
    try:
        body = json.dumps(dialect.body(model, request), ensure_ascii=False)
    except (LLMEvalError, TypeError, ValueError):
        return None  # an odd parameter was refused: there never was a request
    url = f"{str(address).rstrip('/')}{dialect.path(model)}"
    return (
        f"curl {shlex.quote(url)} \\\n  {_HEADERS[provider]} \\\n"
        f"  -H 'Content-Type: application/json' \\\n  -d {shlex.quote(body)}"
    )


def _dialect(provider: str, settings: Mapping[str, Any]) -> Any:
    """Return the dialect of a provider; each is loaded when it is needed."""
    if provider == "anthropic":
        from pytest_llmeval.clients.anthropic import AnthropicDialect

        return AnthropicDialect()
    if provider == "gemini":
        from pytest_llmeval.clients.gemini import GeminiDialect

        return GeminiDialect()
    if provider == "openai-responses":
        from pytest_llmeval.clients.responses import ResponsesDialect

        return ResponsesDialect()
    from pytest_llmeval.clients.openai import OpenAIDialect

    return OpenAIDialect(api=str(settings.get("api", "chat")))

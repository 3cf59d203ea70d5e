"""From an entry to its backend: one builder a provider."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_llmeval.clients._base import Backend, Owner
from pytest_llmeval.clients._dialect import Dialect, DialectBackend, check_params
from pytest_llmeval.clients._servers import server_of
from pytest_llmeval.clients._switches import Switches
from pytest_llmeval.clients.column import ColumnBackend
from pytest_llmeval.config import Limits, ModelEntry
from pytest_llmeval.errors import ConfigError

__all__ = ["Surroundings", "build"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a backend is built with, besides its entry."""

    root: Path
    limits: Limits
    owner: Owner


def build(entry: ModelEntry, around: Surroundings) -> Backend:
    """Return the backend of an entry. Only what its provider needs is loaded.

    Raises:
        ConfigError: There is no such provider, or it can't be built.
    """
    if entry.provider not in _PROVIDERS:
        message = (
            f"{entry.name!r}: the provider {entry.provider!r} is not in this version; "
            f"there are: {', '.join(_PROVIDERS)}"
        )
        raise ConfigError(message)
    return _PROVIDERS[entry.provider](entry, around)


def _column(entry: ModelEntry, around: Surroundings) -> Backend:
    return ColumnBackend(name=entry.name, column=entry.model)


def _fake(entry: ModelEntry, around: Surroundings) -> Backend:
    from pytest_llmeval.clients.fake import FakeBackend, load_script

    return FakeBackend(name=entry.name, script=load_script(around.root / entry.model))


def _python(entry: ModelEntry, around: Surroundings) -> Backend:
    from pytest_llmeval.clients.callable import CallableBackend, import_target

    return CallableBackend(
        name=entry.name,
        target=import_target(entry.model, root=around.root),
        passes=entry.pass_,
        reply=entry.reply,
        params=entry.params,
    )


def _openai(entry: ModelEntry, around: Surroundings) -> Backend:
    from pytest_llmeval.clients._stream import joined
    from pytest_llmeval.clients.openai import OpenAIDialect
    from pytest_llmeval.clients.openai_texts import OpenAIBackend

    api = _api(entry, "embeddings")
    inner = _speaking(
        OpenAIDialect(api=api, stream=bool(entry.options.get("stream"))), entry, around
    )
    inner = replace(inner, joined=joined)
    return OpenAIBackend.of(inner, only_embeds=api == "embeddings")


def _responses(entry: ModelEntry, around: Surroundings) -> Backend:
    from pytest_llmeval.clients.responses import ResponsesDialect

    return _speaking(ResponsesDialect(), entry, around)


def _anthropic(entry: ModelEntry, around: Surroundings) -> Backend:
    from pytest_llmeval.clients.anthropic import AnthropicDialect

    return _speaking(AnthropicDialect(), entry, around)


def _gemini(entry: ModelEntry, around: Surroundings) -> Backend:
    from pytest_llmeval.clients.gemini import GeminiDialect

    return _speaking(GeminiDialect(), entry, around)


def _speaking(
    dialect: Dialect, entry: ModelEntry, around: Surroundings
) -> DialectBackend:
    check_params(entry.name, entry.params)
    return DialectBackend(
        name=entry.name,
        model=entry.model,
        server=server_of(entry, root=around.root, limits=around.limits),
        dialect=dialect,
        params=entry.params,
        switches=_switches(entry),
    )


def _switches(entry: ModelEntry) -> Switches:
    given = entry.options
    return Switches(
        omit=tuple(given.get("omit", ())),
        max_tokens_key=given.get("max_tokens_key", "max_tokens"),
        system_role=given.get("system_role", "system"),
        takes_schema=bool(given.get("json_schema")),
    )


def _http(entry: ModelEntry, around: Surroundings) -> Backend:
    from pytest_llmeval.clients._bodies import Body
    from pytest_llmeval.clients.http import HttpBackend, Paths

    given = entry.options
    body = Body(entry.name, given.get("body"), root=around.root)
    body.check_params(entry.params)
    return HttpBackend(
        name=entry.name,
        server=server_of(entry, root=around.root, limits=around.limits),
        body=body,
        paths=Paths(
            reply=entry.reply,
            usage=given.get("usage"),
            cost=given.get("cost"),
            served_model=given.get("served_model"),
            system_fingerprint=given.get("system_fingerprint"),
            sources=given.get("sources"),
            error=given.get("error"),
        ),
        method=given.get("method", "POST"),
        params=entry.params,
    )


def _local(entry: ModelEntry, around: Surroundings) -> Backend:
    from pytest_llmeval.clients._launch import Launch
    from pytest_llmeval.clients.local import LocalBackend
    from pytest_llmeval.clients.models import weights_path

    check_params(entry.name, entry.params)
    model = entry.model or "smollm2"
    weights_path(model)  # an unknown model is told now, not with the first question
    return LocalBackend(
        name=entry.name,
        model=model,
        launch=Launch(
            name=entry.name,
            model=model,
            home=around.root / ".llmeval",
            owner=around.owner,
        ),
        limits=around.limits,
        params=entry.params,
        api=_api(entry),
        switches=_switches(entry),
    )


def _api(entry: ModelEntry, *further: str) -> str:
    api = entry.options.get("api", "chat")
    known = ["chat", "completions", *further]
    if api not in known:
        listed = f"{', '.join(known[:-1])} or {known[-1]}"
        message = f"{entry.name!r}: api is {listed}, not {api!r}"
        raise ConfigError(message)
    return str(api)


_Builder = Callable[[ModelEntry, Surroundings], Backend]
_PROVIDERS: Mapping[str, _Builder] = {
    "openai": _openai,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "http": _http,
    "local": _local,
    "column": _column,
    "fake": _fake,
    "python": _python,
}

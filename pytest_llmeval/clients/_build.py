"""From an entry to its backend: one builder a provider, and the entry's secrets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_llmeval.clients._address import Address
from pytest_llmeval.clients._base import Backend, Owner
from pytest_llmeval.clients._dialect import DialectBackend, check_params
from pytest_llmeval.clients._http import Wire
from pytest_llmeval.clients._keys import Keys
from pytest_llmeval.clients._launch import Launch
from pytest_llmeval.clients._logs import CleanLog
from pytest_llmeval.clients._server import Server
from pytest_llmeval.clients.column import ColumnBackend
from pytest_llmeval.clients.local import LocalBackend
from pytest_llmeval.clients.models import weights_path
from pytest_llmeval.clients.openai import DEFAULT_BASE_URL, OpenAIDialect
from pytest_llmeval.clients.openai_texts import OpenAIBackend
from pytest_llmeval.config import Limits, ModelEntry
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.redact import Redactor

__all__ = ["Surroundings", "build", "host_of", "secrets_of"]

#: Providers without a server that would refuse or limit anything.
_WITHOUT_SERVER = frozenset({"column", "fake", "python"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a backend is built with, besides its entry."""

    root: Path
    limits: Limits
    owner: Owner


def build(entry: ModelEntry, around: Surroundings) -> Backend:
    """Return the backend of an entry.

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


def secrets_of(entry: ModelEntry) -> Iterable[str]:
    """Yield the secrets an entry names, whether it can be built or not."""
    yield from _keys(entry).secrets()
    with suppress(ConfigError):
        yield from _address(entry).secrets()


def host_of(entry: ModelEntry) -> str | None:
    """Return what names an entry's server and key, as its limits are counted by them.

    None for what has no server. The key itself is not in it.
    """
    if entry.provider in _WITHOUT_SERVER:
        return None
    if entry.provider == "local":
        return f"local:{entry.model}"
    digest = hashlib.sha256("\n".join(sorted(_keys(entry).secrets())).encode())
    return f"{_address(entry)} {digest.hexdigest()[:16]}"


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
    check_params(entry.name, entry.params)
    return OpenAIBackend.of(
        DialectBackend(
            name=entry.name,
            model=entry.model,
            server=_server(entry, around),
            dialect=OpenAIDialect(api=_api(entry)),
            params=entry.params,
        )
    )


def _server(entry: ModelEntry, around: Surroundings) -> Server:
    keys = _keys(entry)
    keys.check()
    return Server(
        name=entry.name,
        model=entry.model,
        address=_address(entry),
        keys=keys,
        wire=Wire(
            width=around.limits.concurrency,
            timeout_seconds=around.limits.timeout_seconds,
            deadline_seconds=around.limits.deadline_seconds,
            ca_bundle=str(around.root / entry.ca_bundle) if entry.ca_bundle else None,
            log=CleanLog(lambda text: Redactor(secrets_of(entry)).text(text)),
        ),
    )


def _address(entry: ModelEntry) -> Address:
    return Address.of(entry.base_url or DEFAULT_BASE_URL, model=entry.name)


def _keys(entry: ModelEntry) -> Keys:
    return Keys(
        model=entry.name,
        variable=entry.api_key_env or "OPENAI_API_KEY",
        headers=entry.headers,
        # A server of one's own often takes none, unless the entry names one.
        is_required=entry.base_url is None or entry.api_key_env is not None,
    )


def _local(entry: ModelEntry, around: Surroundings) -> Backend:
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
    )


def _api(entry: ModelEntry) -> str:
    api = entry.options.get("api", "chat")
    if api not in ("chat", "completions"):
        message = f"{entry.name!r}: api is chat or completions, not {api!r}"
        raise ConfigError(message)
    return str(api)


_Builder = Callable[[ModelEntry, Surroundings], Backend]
_PROVIDERS: Mapping[str, _Builder] = {
    "openai": _openai,
    "local": _local,
    "column": _column,
    "fake": _fake,
    "python": _python,
}

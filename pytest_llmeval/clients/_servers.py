"""The server of an entry: its address, what signs its requests, its connections."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pytest_llmeval.clients._address import Address
from pytest_llmeval.clients._azure import azure_base_url, is_azure
from pytest_llmeval.clients._http import Wire
from pytest_llmeval.clients._keys import Keys
from pytest_llmeval.clients._logs import CleanLog
from pytest_llmeval.clients._server import Server
from pytest_llmeval.config import Limits, ModelEntry
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.redact import Redactor

__all__ = ["host_of", "secrets_of", "server_of"]

#: Providers without a server that would refuse or limit anything.
_WITHOUT_SERVER = frozenset({"column", "fake", "python"})

_VERSION = re.compile(r"/v\d+[a-z0-9]*/?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What is known of a provider's servers."""

    base_url: str = ""
    version: str = ""
    """What a base URL ends in; it may be left out. Empty where it may not."""
    variable: str = ""
    """The environment variable with the key, by default."""
    key_header: str = "authorization"
    headers: Mapping[str, str] = field(default_factory=dict)
    models_path: str | None = "/models"


_OPENAI = _Known(base_url="https://api.openai.com/v1", variable="OPENAI_API_KEY")
_AZURE = _Known(variable="AZURE_OPENAI_API_KEY", key_header="api-key", models_path=None)
_KNOWN: Mapping[str, _Known] = {
    "openai": _OPENAI,
    "openai-responses": _OPENAI,
    "anthropic": _Known(
        base_url="https://api.anthropic.com",
        version="/v1",
        variable="ANTHROPIC_API_KEY",
        key_header="x-api-key",
        headers={"anthropic-version": "2023-06-01"},
    ),
    "gemini": _Known(
        base_url="https://generativelanguage.googleapis.com",
        version="/v1beta",
        variable="GEMINI_API_KEY",
        key_header="x-goog-api-key",
    ),
    "http": _Known(models_path=None),
}


def server_of(entry: ModelEntry, *, root: Path, limits: Limits) -> Server:
    """Return the server of an entry.

    Args:
        entry: One whose provider has servers.
        root: Root directory of the suite.
        limits: How hard a server may be pressed.

    Raises:
        ConfigError: Its address or headers can't be used.
    """
    keys = _keys(entry)
    keys.check()
    known = _known(entry)
    named = secrets_of(entry)
    return Server(
        name=entry.name,
        model=entry.model,
        address=_address(entry),
        keys=keys,
        wire=Wire(
            width=limits.concurrency,
            timeout_seconds=limits.timeout_seconds,
            deadline_seconds=limits.deadline_seconds,
            ca_bundle=str(root / entry.ca_bundle) if entry.ca_bundle else None,
            log=CleanLog(lambda text: Redactor(named()).text(text)),
        ),
        key_header=known.key_header,
        headers=known.headers,
        models_path=known.models_path,
    )


def secrets_of(entry: ModelEntry) -> Callable[[], list[str]]:
    """Return what gives the secrets an entry names, whether it can be built or not.

    The environment is read at each call, and a run asks it for every case.
    """
    sources = [_keys(entry).secrets]
    with suppress(ConfigError):
        sources.append(_address(entry).secrets)
    return lambda: [secret for source in sources for secret in source()]


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


def _known(entry: ModelEntry) -> _Known:
    if is_azure(entry):
        return _AZURE
    return _KNOWN.get(entry.provider, _OPENAI)


def _address(entry: ModelEntry) -> Address:
    known = _known(entry)
    given = entry.base_url or known.base_url
    if is_azure(entry):
        given = azure_base_url(entry)
    base, mark, query = given.partition("?")
    if known.version and _VERSION.search(base) is None:
        base = base.rstrip("/") + known.version
    return Address.of(f"{base}{mark}{query}", model=entry.name)


def _keys(entry: ModelEntry) -> Keys:
    return Keys(
        model=entry.name,
        variable=entry.api_key_env or _known(entry).variable,
        headers=entry.headers,
        # A server of one's own often takes none, unless the entry names one.
        is_required=entry.base_url is None or entry.api_key_env is not None,
    )

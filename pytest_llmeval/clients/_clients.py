"""The backends of a session: built from specs, each once."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_llmeval.clients._base import Backend, Owner
from pytest_llmeval.clients._http import Wire
from pytest_llmeval.clients._keys import Keys
from pytest_llmeval.clients.column import ColumnBackend
from pytest_llmeval.clients.local import LocalBackend
from pytest_llmeval.clients.openai import DEFAULT_BASE_URL, OpenAIBackend
from pytest_llmeval.clients.recorded import RecordedBackend
from pytest_llmeval.clients.shelf import Shelf
from pytest_llmeval.config import Config, Limits, ModelEntry, parse_spec
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.types import Mode

__all__ = ["Clients"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a backend is built with, besides its entry."""

    root: Path
    limits: Limits
    owner: Owner


class Clients:
    """The backends of a session, each built once.

    Args:
        config: What llmeval.yaml says.
        root: Root directory of the suite.
        mode: Whether recordings are read and written.
        owner: The run that processes started here belong to; by default this process.
    """

    def __init__(
        self,
        config: Config,
        root: Path,
        mode: Mode = "auto",
        owner: Owner | None = None,
    ) -> None:
        self._config = config
        self._root = root
        self._mode: Mode = mode
        self._owner = owner or Owner(run=secrets.token_hex(8), process=os.getpid())
        self.shelf = Shelf(root)
        # With the spec beside it: an id is only unique while its object lives.
        self._built: dict[Any, tuple[Any, Backend]] = {}

    def backend(self, spec: Any, *, name: str | None = None) -> Backend:
        """Return the backend of a spec, a mapping or a callable.

        Raises:
            ConfigError: There is no such model or provider, or it can't be built.
        """
        key = spec if isinstance(spec, str) else id(spec)
        if key not in self._built:
            self._built[key] = (spec, self._build(spec, name))
        return self._built[key][1]

    async def close(self) -> None:
        """Close every backend."""
        for _, backend in self._built.values():
            await backend.close()
        self._built.clear()

    def _build(self, spec: Any, name: str | None) -> Backend:
        if isinstance(spec, str | Mapping):
            return self._of_entry(parse_spec(spec, self._config))
        if callable(spec) or hasattr(spec, "generate"):
            from pytest_llmeval.clients.callable import CallableBackend

            shown = str(name or getattr(spec, "__name__", type(spec).__name__))
            backend = CallableBackend(name=shown, target=spec)
            return self._recorded(backend, is_stable=False)
        message = (
            f"{spec!r} is not a model: give a spec ('python:package.module:name'), "
            f"a name from llmeval.yaml, a mapping or a callable"
        )
        raise ConfigError(message)

    def _of_entry(self, entry: ModelEntry) -> Backend:
        backend = _provider(entry)(
            entry,
            Surroundings(
                root=self._root, limits=self._config.limits, owner=self._owner
            ),
        )
        if isinstance(backend, ColumnBackend):
            return backend  # its replies stand in the dataset already
        if isinstance(backend, OpenAIBackend):
            self.shelf.hide(backend.keys.secrets)
        is_stable = entry.provider != "python" if entry.cache is None else entry.cache
        return self._recorded(backend, is_stable=is_stable)

    def _recorded(self, backend: Backend, *, is_stable: bool) -> Backend:
        if self._mode == "live":
            return backend
        return RecordedBackend(
            inner=backend, shelf=self.shelf, mode=self._mode, is_stable=is_stable
        )


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
    base_url = entry.base_url or DEFAULT_BASE_URL
    return OpenAIBackend(
        name=entry.name,
        model=entry.model,
        base_url=base_url,
        keys=Keys(
            model=entry.name,
            variable=entry.api_key_env or "OPENAI_API_KEY",
            headers=entry.headers,
            # A server of one's own often takes none, unless the entry names one.
            is_required=entry.base_url is None or entry.api_key_env is not None,
        ),
        wire=Wire(
            width=around.limits.concurrency,
            timeout_seconds=around.limits.timeout_seconds,
            ca_bundle=str(around.root / entry.ca_bundle) if entry.ca_bundle else None,
        ),
        params=entry.params,
        api=_api(entry),
        takes_schema=bool(entry.options.get("json_schema")),
        deadline_seconds=around.limits.deadline_seconds,
    )


def _local(entry: ModelEntry, around: Surroundings) -> Backend:
    return LocalBackend(
        name=entry.name,
        model=entry.model or "smollm2",
        home=around.root / ".llmeval",
        owner=around.owner,
        limits=around.limits,
        params=entry.params,
        api=_api(entry),
    )


def _api(entry: ModelEntry) -> str:
    api = str(entry.options.get("api", "chat"))
    if api not in {"chat", "completions"}:
        message = f"{entry.name!r}: api is chat or completions, not {api!r}"
        raise ConfigError(message)
    return api


_Builder = Callable[[ModelEntry, Surroundings], Backend]
_PROVIDERS: Mapping[str, _Builder] = {
    "openai": _openai,
    "local": _local,
    "column": _column,
    "fake": _fake,
    "python": _python,
}


def _provider(entry: ModelEntry) -> _Builder:
    if entry.provider not in _PROVIDERS:
        message = (
            f"{entry.name!r}: the provider {entry.provider!r} is not in this version; "
            f"there are: {', '.join(_PROVIDERS)}"
        )
        raise ConfigError(message)
    return _PROVIDERS[entry.provider]

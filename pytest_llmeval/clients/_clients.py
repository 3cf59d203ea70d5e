"""The backends of a session: built from specs, each once."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.clients._base import Backend, Owner
from pytest_llmeval.clients._build import Surroundings, build
from pytest_llmeval.clients._cut import CutAccepted
from pytest_llmeval.clients._servers import host_of, secrets_of
from pytest_llmeval.clients._shared_file import SharedFile
from pytest_llmeval.clients._target import is_client
from pytest_llmeval.clients._transport import proxy_secrets, system_proxy_secrets
from pytest_llmeval.clients.cached import CachedBackend
from pytest_llmeval.clients.column import ColumnBackend
from pytest_llmeval.clients.flights import Flights
from pytest_llmeval.clients.forecast import Forecast, Setting
from pytest_llmeval.clients.limits import Limiters
from pytest_llmeval.clients.panel import Panel
from pytest_llmeval.clients.prices import PricedBackend, PriceList
from pytest_llmeval.clients.recorded import RecordedBackend, setup_of
from pytest_llmeval.clients.retry import RetryBackend
from pytest_llmeval.clients.shelf import Shelf
from pytest_llmeval.clients.spending import MeteredBackend, Spending
from pytest_llmeval.config import Config, Limits, ModelEntry, parse_spec
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.store.safecache import SafeCache
from pytest_llmeval.types import Mode

__all__ = ["Clients"]

#: Code and scripts that no key can know.
_UNKNOWABLE: Final = frozenset({"python", "http", "fake"})
_DAY_SECONDS: Final = 86_400.0


class Clients:
    """The backends of a session, each built once.

    Args:
        config: What llmeval.yaml says.
        root: Root directory of the suite.
        mode: Whether recordings are read and written.
        owner: The run that processes started here belong to; by default this process.
        spending: Told what live replies cost, where there is a budget.
    """

    def __init__(
        self,
        config: Config,
        root: Path,
        mode: Mode = "auto",
        owner: Owner | None = None,
        spending: Spending | None = None,
    ) -> None:
        self._spending = spending
        self._config = config
        self._mode: Mode = mode
        self._around = Surroundings(
            root=root,
            limits=config.limits,
            owner=owner or Owner(run=secrets.token_hex(8), process=os.getpid()),
        )
        self._limiters = Limiters(self._shared_file())
        self.shelf = Shelf(root)
        self._listed = PriceList()
        self._flights = Flights(SafeCache(root / ".llmeval"))
        self.shelf.hide(proxy_secrets)
        self.shelf.hide(system_proxy_secrets().copy)
        for entry in config.models.values():
            # Also of those that no test asks: an application may print their keys.
            self.shelf.hide(secrets_of(entry))
        # With the spec beside it: an id is only unique while its object lives.
        self._built: dict[Any, tuple[Any, Backend]] = {}
        self._setups: dict[str, str] = {}

    def backend(self, spec: Any, *, name: str | None = None) -> Backend:
        """Return the backend of a spec, a mapping or a callable.

        Raises:
            ConfigError: There is no such model or provider, or it can't be built.
        """
        key = spec if isinstance(spec, str) else id(spec)
        if key not in self._built:
            self._built[key] = (spec, self._build(spec, name))
        return self._built[key][1]

    def forecast(self) -> Forecast:
        """Return what tells where replies would come from."""
        return Forecast(
            mode=self._mode,
            shelf=self.shelf,
            cache=self._flights.cache,
            setting=self._setting,
        )

    def _setting(self, client: str) -> Setting | None:
        """Return how a model is set that was asked by this name, None if unknown."""
        try:
            entry = parse_spec(client, self._config)
        except ConfigError:  # a callable, known once a test has named it
            setup = self._setups.get(client)
            return None if setup is None else Setting(setup=setup, is_stable=False)
        if client not in self._setups and entry.provider not in _UNKNOWABLE:
            try:
                self.backend(client)
            except ConfigError:
                return None
        days = replace(self._config.limits, **entry.limits).cache_days
        return Setting(
            setup=self._setups.get(client, ""),
            is_stable=_is_stable(entry),
            max_age_seconds=None if days is None else days * _DAY_SECONDS,
        )

    async def close(self) -> None:
        """Close every backend."""
        for _, backend in self._built.values():
            await backend.close()
        self._built.clear()
        self._flights.close()
        self._limiters.close()

    def settle(self) -> list[str]:
        """Write down what was asked; return what went wrong on the way."""
        self._flights.close()
        return self.trouble()

    def trouble(self) -> list[str]:
        """Return a line for each thing that went wrong with cache or limits."""
        notes = self._flights.cache.notes
        found = [notes.pop(0) for _ in range(len(notes))]
        return [*found, self._limiters.trouble] if self._limiters.trouble else found

    def _shared_file(self) -> SharedFile | None:
        """Return what workers of xdist share; None in the run's only process."""
        owner = self._around.owner
        if owner.process == os.getpid():
            return None
        return SharedFile(home=self._around.root / ".llmeval", owner=owner)

    def _build(self, spec: Any, name: str | None) -> Backend:
        if isinstance(spec, str | Mapping):
            return self._of_entry(parse_spec(spec, self._config))
        if is_client(spec):
            from pytest_llmeval.clients.callable import CallableBackend

            shown = str(name or getattr(spec, "__name__", type(spec).__name__))
            backend = CallableBackend(name=shown, target=spec)
            limits = self._config.limits
            return self._metered(
                self._recorded(backend, is_stable=False, limits=limits)
            )
        message = (
            f"{spec!r} is not a model: give a spec ('python:package.module:name'), "
            f"a name from llmeval.yaml, a mapping or a callable"
        )
        raise ConfigError(message)

    def _of_entry(self, entry: ModelEntry) -> Backend:
        if entry.panel:
            members = tuple(self.backend(member) for member in entry.panel)
            return Panel(name=entry.name, members=members)
        if self._config.models.get(entry.name) is not entry:
            self.shelf.hide(secrets_of(entry))
        limits = replace(self._config.limits, **entry.limits)
        backend = build(entry, replace(self._around, limits=limits))
        if isinstance(backend, ColumnBackend):
            return backend  # its replies stand in the dataset already
        if (host := host_of(entry)) is not None:
            limiter = self._limiters.of(host, limits)
            backend = RetryBackend(inner=backend, limiter=limiter, limits=limits)
        backend = self._recorded(backend, is_stable=_is_stable(entry), limits=limits)
        backend = PricedBackend(inner=backend, entry=entry, listed=self._listed)
        backend = self._metered(backend)
        return backend if entry.on_length != "score" else CutAccepted(inner=backend)

    def _metered(self, backend: Backend) -> Backend:
        if self._spending is None:
            return backend
        return MeteredBackend(inner=backend, spending=self._spending)

    def _recorded(
        self, backend: Backend, *, is_stable: bool, limits: Limits
    ) -> Backend:
        if self._mode == "live":
            return backend
        setup = self._setups[backend.name] = setup_of(backend, self.shelf)
        if is_stable and self._mode != "replay":
            backend = self._cached(backend, limits)
        return RecordedBackend(
            inner=backend,
            shelf=self.shelf,
            mode=self._mode,
            is_stable=is_stable,
            setup=setup,
        )

    def _cached(self, backend: Backend, limits: Limits) -> Backend:
        days = limits.cache_days
        return CachedBackend(
            inner=backend,
            flights=self._flights,
            shelf=self.shelf,
            run=self._around.owner.run,
            is_this_run_only=self._mode == "rerecord",
            max_age_seconds=None if days is None else days * _DAY_SECONDS,
            patience_seconds=limits.deadline_seconds,
        )


def _is_stable(entry: ModelEntry) -> bool:
    """Return whether a reply on file stands for one that would be asked for."""
    return entry.provider not in _UNKNOWABLE if entry.cache is None else entry.cache

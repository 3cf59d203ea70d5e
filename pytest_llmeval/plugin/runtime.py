"""What a session shares: settings, llmeval.yaml, clients, the loop thread.

Built on first need, from the pytest config alone, so that fixtures and whatever else
needs a client use the same one.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import pytest

from pytest_llmeval.clients import (
    Clients,
    Owner,
    Spending,
    remove_shared,
)
from pytest_llmeval.conclusion import Collected
from pytest_llmeval.config import Config, load_config
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.gates import scoped_gate
from pytest_llmeval.loop import LoopThread
from pytest_llmeval.metrics import register_all
from pytest_llmeval.plugin.basis import Basis
from pytest_llmeval.plugin.facades import Facades
from pytest_llmeval.plugin.places import Rerun, looked_at
from pytest_llmeval.plugin.plans import Plans
from pytest_llmeval.plugin.read_tasks import ReadTasks
from pytest_llmeval.plugin.settings import Settings, settings_of
from pytest_llmeval.recorder import CaseRun
from pytest_llmeval.redact import Redactor
from pytest_llmeval.store.answers import Answers

__all__ = ["Runtime", "runtime_of"]

_KEY = pytest.StashKey["Runtime"]()


class Runtime:
    """The session's shared parts.

    Args:
        config: The pytest config.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.pytest_config = config
        self.root = config.rootpath
        self.settings: Settings = settings_of(config)
        self.loop = LoopThread()
        self.collected = Collected(
            looked_at=tuple(looked_at(config)),
            only_failed=bool(getattr(config.option, "lf", False)),
        )
        self.basis = Basis(self)
        self.tasks = ReadTasks(config, self.settings)
        self.rerun = Rerun(config)
        self.facades = Facades(self)
        self.cases: dict[pytest.Item, CaseRun] = {}
        """What items are about to run, until they are done."""

    @cached_property
    def config(self) -> Config:
        """What llmeval.yaml says, empty when there is none; options outweigh it."""
        config = self._read_config()
        if self.settings.concurrency is None:
            return config
        limits = replace(config.limits, concurrency=self.settings.concurrency)
        return replace(config, limits=limits)

    def _read_config(self) -> Config:
        if self.settings.config is not None:
            base = self.pytest_config.invocation_params.dir
            return _checked(load_config(base / self.settings.config))
        path = self.root / "llmeval.yaml"
        return _checked(load_config(path if path.exists() else None))

    @cached_property
    def plans(self) -> Plans:
        """What holds for the cases of each test."""
        return Plans(self.root, self.settings, self.config)

    @cached_property
    def clients(self) -> Clients:
        """The clients, built as they are first used."""
        owner = _owner(self.pytest_config)
        mode = self.settings.mode
        clients = Clients(self.config, self.root, mode, owner, self.spending)
        clients.shelf.answers = self.answers
        return clients

    @cached_property
    def answers(self) -> Answers | None:
        """What a failure was answered, where one is run again.

        Raises:
            UserError: They can't be read.
        """
        path = self.settings.replay
        return None if path is None else Answers.read(path)

    @cached_property
    def spending(self) -> Spending | None:
        """What live replies cost, None where there is no budget."""
        budget = self.settings.budget
        if budget is None:
            return None
        owner = _owner(self.pytest_config)
        if owner.process == os.getpid():
            return Spending(budget)
        # Named as what workers share of limits, and removed with it.
        name = f"limits-{owner.process}-{owner.run}.spent"
        return Spending(budget, self.root / ".llmeval" / name)

    def is_spent(self) -> bool:
        """Return whether the budget is spent: nothing more begins."""
        return self.spending is not None and self.spending.is_over

    @property
    def redactor(self) -> Redactor:
        """Takes the secrets of every model that was built out of a text."""
        return self.clients.shelf.redactor

    def recorded_outside(self) -> list[dict[str, Any]]:
        """Return, once, the replies to be kept that were asked outside of a case."""
        found = list(self.clients.shelf.outside)
        self.clients.shelf.outside.clear()
        return found

    def close(self) -> None:
        """Close clients and end the loop thread."""
        if "clients" in self.__dict__:
            # A body that hangs on the loop must not keep pytest from ending.
            with suppress(TimeoutError):
                self.loop.run(self.clients.close(), instead="", seconds=2)
        self.loop.close()
        if not hasattr(self.pytest_config, "workerinput"):
            remove_shared(self.root / ".llmeval")


def _checked(config: Config) -> Config:
    """Return the configuration, its gates read.

    Raises:
        ConfigError: One is none.
    """
    for text in config.gates:
        try:
            scoped_gate(text)
        except ConfigError as exc:
            raise ConfigError(f"{config.path}: gates: {exc}") from exc
    return config


def _owner(config: pytest.Config) -> Owner:
    """Return the run: on an xdist worker, that of the process that started it."""
    given = getattr(config, "workerinput", None)
    if given is None:
        return Owner(run=secrets.token_hex(8), process=os.getpid())
    return Owner(run=given["testrunuid"], process=os.getppid())


def runtime_of(config: pytest.Config) -> Runtime:
    """Return the session's runtime, made on first need.

    Raises:
        UserError: An option, an ini key or llmeval.yaml is wrong.
    """
    if _KEY not in config.stash:
        runtime = Runtime(config)
        _ = runtime.config  # llmeval.yaml is read, and refused, at once
        _ = runtime.answers
        for given in config.hook.pytest_llmeval_metrics(config=config):
            register_all(given, "pytest_llmeval_metrics")
        config.stash[_KEY] = runtime
    return config.stash[_KEY]


def close_runtime(config: pytest.Config) -> None:
    """Close the session's runtime, if there is one."""
    if _KEY in config.stash:
        config.stash[_KEY].close()
        del config.stash[_KEY]

"""What a session shares: settings, llmeval.yaml, clients, the loop thread.

Built on first need, from the pytest config alone, so that fixtures and whatever else
needs a client use the same one.
"""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval import tasks
from pytest_llmeval.clients import (
    Backend,
    Clients,
    Owner,
    Spending,
    never_waits,
    remove_shared,
)
from pytest_llmeval.conclusion import Collected
from pytest_llmeval.config import Config, load_config
from pytest_llmeval.errors import ConfigError, UnscoredError, UserError
from pytest_llmeval.evaluate import Generator, Judge, StoredReplies
from pytest_llmeval.gates import asks_for_estimate, scoped_gate
from pytest_llmeval.kinds import kind_use
from pytest_llmeval.loop import LoopThread
from pytest_llmeval.metrics import register_all
from pytest_llmeval.plugin.basis import Basis
from pytest_llmeval.plugin.marker import (
    Marker,
    gates_of,
    llmeval_marks,
    read_marker,
)
from pytest_llmeval.plugin.options import as_option_arguments
from pytest_llmeval.plugin.settings import Settings, settings_of
from pytest_llmeval.plugin.task_paths import task_paths
from pytest_llmeval.prompts import Template
from pytest_llmeval.recorder import Plan, SampleRun, current_sample
from pytest_llmeval.redact import Redactor
from pytest_llmeval.store.answers import Answers

__all__ = ["Runtime", "runtime_of"]

_KEY = pytest.StashKey["Runtime"]()

_THREE_WAYS = (
    "give it in the marker, @pytest.mark.llmeval({role}='python:package.module:name'), "
    "on the command line, --llmeval-{role}=SPEC, or in llmeval.yaml, {role}: NAME"
)


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
            looked_at=tuple(_looked_at(config)),
            only_failed=bool(getattr(config.option, "lf", False)),
        )
        self.basis = Basis(self)
        self.tasks: dict[str, tasks.Task] = {}
        """YAML tasks, by file and name."""
        self.on_asked: Callable[[SampleRun | None, str, Any], None] | None = None
        """Told who asks which model, in which role."""
        self.stored: StoredReplies | None = None
        """Replies of an earlier run that stand in the place of asking."""
        self._templates: dict[Any, Template] = {}
        self._plans: dict[tuple[Any, ...], tuple[Plan, tuple[pytest.Mark, ...]]] = {}
        self._files_from_here: dict[str, str] = {}

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

    def answers_at_once(self, plan: Plan, fixtures: Collection[str]) -> bool:
        """Return whether the models of a test answer without being waited for.

        Recordings do, and columns of the dataset.

        Args:
            plan: What holds for the test's cases.
            fixtures: Those of ours it uses; none of a task, which says no more.
        """
        roles = {"generator": plan.generator, "judge": plan.judge}
        used = roles.keys() & fixtures if fixtures else roles.keys()
        specs = [roles[role] for role in used if roles[role] is not None]
        try:
            return bool(specs) and all(
                never_waits(self.clients.backend(spec)) for spec in specs
            )
        except UserError:
            return False  # told where it is asked

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

    @cached_property
    def generator(self) -> Generator:
        """The façade behind the `generator` fixture."""
        return self._facade("generator", lambda plan: plan.generator)

    @cached_property
    def judge(self) -> Judge:
        """The façade behind the `judge` fixture."""
        return Judge(client=self._facade("judge", lambda plan: plan.judge))

    def client(self, spec: Any, *, name: str | None = None) -> Generator:
        """Return a further client with the same loop and limits.

        Raises:
            ConfigError: A callable without a name, or no such model.
        """
        if not isinstance(spec, str) and callable(spec) and name is None:
            message = f"llm_client({spec!r}) needs a name=: reports tell it apart by it"
            raise ConfigError(message)
        backend = self.clients.backend(spec, name=name)

        def lookup(sample: SampleRun | None) -> Backend:
            _refuse_if_over(sample)
            return backend

        return Generator(
            role=name or str(spec),
            lookup=lookup,
            loop=self.loop,
            load=self._load,
            stored=self.stored,
        )

    def generators(self, marker: Marker | None) -> tuple[Any, ...]:
        """Return the models a test runs against; one pinned in its marker stays."""
        pinned = marker.generator if marker else None
        if pinned is not None:
            return tuple(pinned) if isinstance(pinned, list | tuple) else (pinned,)
        if self.settings.generators:
            return self.settings.generators
        return (self.config.generator,) if self.config.generator else ()

    def judge_spec(self, marker: Marker | None) -> Any:
        """Return the model a test is judged by, None when there is none."""
        pinned = marker.judge if marker else None
        return pinned or self.settings.judge or self.config.judge

    def width(self, marker: Marker | None) -> int:
        """Return how many bodies of a test may run at once.

        A marker can ask for more than llmeval.yaml, and for less than the command line,
        which is the most there is.
        """
        limit = self.config.limits.concurrency
        asked = marker.concurrency if marker else None
        if asked is None:
            return limit
        return asked if self.settings.concurrency is None else min(asked, limit)

    def plan(self, marker: Marker | None, base: Path) -> Plan:
        """Return what holds for a test's cases; templates are read once.

        Raises:
            UserError: A template can't be read.
        """
        generators = self.generators(marker)
        own = marker.prompt if marker else None
        use = kind_use(marker.kind) if marker and marker.kind is not None else None
        default = use.kind.prompt if use else None
        asked = marker or Marker()
        gates = gates_of(asked.gate)
        return Plan(
            prompt=self.template(default if own is None else own, base),
            system=self.template(marker.system if marker else None, base),
            generator=generators[0] if generators else None,
            judge=self.judge_spec(marker),
            kind=use,
            has_own_prompt=own is not None,
            gates=gates,
            repeat=1
            if asked.is_calibration
            else self.settings.repeat or asked.repeat or 1,
            min_sample_rate=asked.min_sample_rate or 1.0,
            stops_early=not (
                self.settings.fail_on_unstable
                or any(map(asks_for_estimate, (*gates, *self.config.gates)))
            ),
        )

    def plan_of(self, item: pytest.Item) -> Plan:
        """Return the plan of an item; made once for all with the same markers.

        Raises:
            UserError: A marker or template can't be used.
        """
        marks = tuple(llmeval_marks(item))
        key = (item.nodeid.partition("::")[0], *map(id, marks))
        if key not in self._plans:
            plan = self.plan(read_marker(item), item.path.parent)
            # With the marks beside it: an id is only unique while its object lives.
            self._plans[key] = (plan, marks)
        return self._plans[key][0]

    def template(self, source: Any, base: Path) -> Template | None:
        """Return the template of a marker's prompt or system keyword."""
        if source is None:
            return None
        key = (source, base)
        if key not in self._templates:
            self._templates[key] = Template.of(source, base=base, root=self.root)
        return self._templates[key]

    @cached_property
    def task_options(self) -> tasks.TaskOptions:
        """What holds for all YAML tasks."""
        return tasks.TaskOptions(
            root=self.root,
            task_paths=tuple(task_paths(self.pytest_config)),
            allow_functions=bool(self.pytest_config.getini("llmeval_allow_functions")),
            logs_samples=self.settings.log_samples is not None,
            num_fewshot=self.settings.num_fewshot,
            system_instruction=self.settings.system_instruction,
            apply_chat_template=self.settings.apply_chat_template,
            fewshot_as_multiturn=self.settings.fewshot_as_multiturn,
            gen_kwargs=self.settings.gen_kwargs,
        )

    def task(self, test: str) -> tasks.Task:
        """Return a YAML task; an xdist controller, which collects nothing, reads it.

        Raises:
            UserError: Its file can't be used any more.
        """
        if test not in self.tasks:
            path = self.root / test.partition("::")[0]
            found = tasks.load_task(path, self.task_options)
            self.tasks[test] = self._task(found, test)
        return self.tasks[test]

    def _task(self, found: tasks.Task | tasks.TaskGroup, test: str) -> tasks.Task:
        if isinstance(found, tasks.Task):
            return found
        name = test.partition("::")[2]
        member = next(one for one in found.members if one.name == name)
        return tasks.load_member(member, self.task_options)

    def rerun_command(self, item: pytest.Item) -> str:
        """Return the command that runs one item, to be pasted where pytest began."""
        file, separator, rest = item.nodeid.partition("::")
        if file not in self._files_from_here:
            self._files_from_here[file] = nodeid_from_here(self.pytest_config, file)
        nodeid = f"{self._files_from_here[file]}{separator}{rest}"
        return " ".join(["pytest", shlex.quote(nodeid), *self._rerun_options])

    @cached_property
    def _rerun_options(self) -> list[str]:
        return [shlex.quote(a) for a in as_option_arguments(self.pytest_config)]

    def close(self) -> None:
        """Close clients and end the loop thread."""
        if "clients" in self.__dict__:
            # A body that hangs on the loop must not keep pytest from ending.
            with suppress(TimeoutError):
                self.loop.run(self.clients.close(), instead="", seconds=2)
        self.loop.close()
        if not hasattr(self.pytest_config, "workerinput"):
            remove_shared(self.root / ".llmeval")

    def _facade(self, role: str, pick: Callable[[Plan], Any]) -> Generator:
        def lookup(sample: SampleRun | None) -> Backend:
            _refuse_if_over(sample)
            spec = pick(sample.run.plan) if sample else self._session_wide(role)
            if spec is None:
                raise ConfigError(no_model_text(role))
            if self.on_asked is not None:
                self.on_asked(sample, role, spec)
            return self.clients.backend(spec)

        return Generator(
            role=role,
            lookup=lookup,
            loop=self.loop,
            load=self._load,
            stored=self.stored,
        )

    def _session_wide(self, role: str) -> Any:
        if role == "judge":
            return self.judge_spec(None)
        return next(iter(self.generators(None)), None)

    def _load(self, source: Any) -> Template:
        """Return a template given in a call; paths stand beside the test's file."""
        sample = current_sample()
        path = sample.run.nodeid.partition("::")[0] if sample else ""
        template = self.template(source, (self.root / path).parent)
        assert template is not None
        return template


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


def _refuse_if_over(sample: SampleRun | None) -> None:
    """Ask nothing for a body that nobody waits for any more.

    Raises:
        UnscoredError: It timed out, or the run is over; its thread went on.
    """
    if sample is not None and sample.is_over:
        message = "the case is over: nothing more is asked for it"
        raise UnscoredError(message, cause="interrupted")


def nodeid_from_here(config: pytest.Config, nodeid: str) -> str:
    """Return a node id with its file as seen from where pytest began."""
    path, separator, rest = nodeid.partition("::")
    where = config.rootpath / path
    begun = config.invocation_params.dir
    if where.is_relative_to(begun):
        where = where.relative_to(begun)
    return f"{where.as_posix()}{separator}{rest}"


def _owner(config: pytest.Config) -> Owner:
    """Return the run: on an xdist worker, that of the process that started it."""
    given = getattr(config, "workerinput", None)
    if given is None:
        return Owner(run=secrets.token_hex(8), process=os.getpid())
    return Owner(run=given["testrunuid"], process=os.getppid())


def _looked_at(config: pytest.Config) -> Iterator[str]:
    """Yield where pytest looks for tests, as seen from the root directory."""
    for argument in config.args:
        path, separator, rest = str(argument).partition("::")
        target = Path(os.path.abspath(config.invocation_params.dir / path))
        if target.is_relative_to(config.rootpath):
            name = target.relative_to(config.rootpath).as_posix()
            yield f"{name}{separator}{rest}"
        elif config.rootpath.is_relative_to(target):
            yield "."


def no_model_text(role: str) -> str:
    """Return the error of a test that uses a fixture with no model behind it."""
    return f"no {role} is configured: {_THREE_WAYS.format(role=role)}"


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

"""What the fixtures give to tests: the models of the running case, to be asked."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_llmeval.clients import Backend, never_waits
from pytest_llmeval.errors import ConfigError, UnscoredError, UserError
from pytest_llmeval.evaluate import Generator, Judge, StoredReplies
from pytest_llmeval.prompts import Template
from pytest_llmeval.recorder import Plan, SampleRun, current_sample

if TYPE_CHECKING:
    from pytest_llmeval.plugin.runtime import Runtime

__all__ = ["Facades", "no_model_text"]

_THREE_WAYS = (
    "give it in the marker, @pytest.mark.llmeval({role}='python:package.module:name'), "
    "at the top of a YAML task, {role}: NAME, on the command line, --llmeval-{role}=SPEC, or in llmeval.yaml, {role}: NAME"
)


class Facades:
    """Made once a session; each call looks up which case is running.

    Args:
        runtime: The session's shared parts.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.on_asked: Callable[[SampleRun | None, str, Any], None] | None = None
        """Told who asks which model, in which role."""
        self.stored: StoredReplies | None = None
        """Replies of an earlier run that stand in the place of asking."""

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
                never_waits(self._runtime.clients.backend(spec)) for spec in specs
            )
        except UserError:
            return False  # told where it is asked

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
        backend = self._runtime.clients.backend(spec, name=name)

        def lookup(sample: SampleRun | None) -> Backend:
            _refuse_if_over(sample)
            return backend

        return Generator(
            role=name or str(spec),
            lookup=lookup,
            loop=self._runtime.loop,
            load=self._load,
            stored=self.stored,
        )

    def _facade(self, role: str, pick: Callable[[Plan], Any]) -> Generator:
        def lookup(sample: SampleRun | None) -> Backend:
            _refuse_if_over(sample)
            spec = pick(sample.run.plan) if sample else self._session_wide(role)
            if spec is None:
                raise ConfigError(no_model_text(role))
            if self.on_asked is not None:
                self.on_asked(sample, role, spec)
            return self._runtime.clients.backend(spec)

        return Generator(
            role=role,
            lookup=lookup,
            loop=self._runtime.loop,
            load=self._load,
            stored=self.stored,
        )

    def _session_wide(self, role: str) -> Any:
        if role == "judge":
            return self._runtime.plans.judge_spec(None)
        return next(iter(self._runtime.plans.generators(None)), None)

    def _load(self, source: Any) -> Template:
        """Return a template given in a call; paths stand beside the test's file."""
        sample = current_sample()
        path = sample.run.nodeid.partition("::")[0] if sample else ""
        template = self._runtime.plans.template(
            source, (self._runtime.root / path).parent
        )
        assert template is not None
        return template


def _refuse_if_over(sample: SampleRun | None) -> None:
    """Ask nothing for a body that nobody waits for any more.

    Raises:
        UnscoredError: It timed out, or the run is over; its thread went on.
    """
    if sample is not None and sample.is_over:
        message = "the case is over: nothing more is asked for it"
        raise UnscoredError(message, cause="interrupted")


def no_model_text(role: str) -> str:
    """Return the error of a test that uses a fixture with no model behind it."""
    return f"no {role} is configured: {_THREE_WAYS.format(role=role)}"

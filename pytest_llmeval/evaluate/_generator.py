"""The model under test, or any other: from a case, a text or messages to a reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_llmeval.clients import Backend, CutAccepted, Request
from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.evaluate._literal import literal_prompt
from pytest_llmeval.loop import LoopThread
from pytest_llmeval.prompts import Template, render
from pytest_llmeval.recorder import SampleRun, current_sample
from pytest_llmeval.types import Call, Case, Prompt, Response

__all__ = ["Generator"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Generator:
    """The model or application under test; also any further client.

    Called with a case, it renders the test's prompt, asks and returns the Response.
    """

    role: str
    """generator, judge, or the name of a further client."""
    lookup: Callable[[SampleRun | None], Backend]
    """Returns the backend for the case that is running."""
    loop: LoopThread
    load: Callable[[Any], Template] = field(default=Template.of)
    """Reads a template given in the call (a text, a path, a callable)."""

    def __call__(
        self,
        what: Case | str | Prompt | Sequence[Any],
        *,
        prompt: Any = None,
        system: Any = None,
        params: Mapping[str, Any] | None = None,
        sample: int | None = None,
    ) -> Response:
        """Return the reply to a case, a text or chat messages.

        Args:
            what: A case (its test's prompt is rendered), or what to send as it is.
            prompt: A template to use instead of the marker's, for a case.
            system: A system message: for a case a template to use instead of the
                marker's, for a text or messages a text to send before them.
            params: Further parameters of the model, over those of its entry.
            sample: Index of the repeat; by default that of the running sample.

        Raises:
            ConfigError: It can't be asked this.
            UnscoredError: There is no usable reply; the case is unscored.
        """
        __tracebackhide__ = True
        question = self.acall(
            what, prompt=prompt, system=system, params=params, sample=sample
        )
        name = self.role if self.role.isidentifier() else "client"
        return self.loop.run(question, instead=f"await {name}.acall(...)")

    async def acall(
        self,
        what: Case | str | Prompt | Sequence[Any],
        *,
        prompt: Any = None,
        system: Any = None,
        params: Mapping[str, Any] | None = None,
        sample: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Response:
        """Return the reply, awaited: the same as a call, for ``async def`` bodies.

        `schema` is sent where the model's entry says ``json_schema: true``.
        """
        __tracebackhide__ = True
        running = current_sample()
        backend = self.lookup(running)
        current = running.run.case if running else None
        request = Request(
            prompt=self._prompt(what, prompt, system, running, backend),
            case=what if isinstance(what, Case) else current,
            params=_checked_params(params),
            sample=_checked_sample(sample, running),
            schema=schema,
        )
        return await self.loop.bridge(_ask(backend, request, self.role, running))

    def generate(self, prompt: Any, **params: Any) -> Response:
        """Return the reply to `prompt`: the method of the `Client` Protocol."""
        __tracebackhide__ = True
        return self(prompt, params=params)

    def __repr__(self) -> str:
        return f"<{self.role}>"

    def _prompt(
        self,
        what: Any,
        prompt: Any,
        system: Any,
        running: SampleRun | None,
        backend: Backend,
    ) -> Prompt:
        if not isinstance(what, Case):
            if prompt is not None:
                message = f"prompt= renders a case, and {what!r} is not one"
                raise ConfigError(message)
            return literal_prompt(what, system)
        plan = running.run.plan if running else None
        template = plan.prompt if plan and prompt is None else self._loaded(prompt)
        if template is None and what.input is None and not backend.sends_prompt:
            return Prompt(messages=())
        system = plan.system if plan and system is None else self._loaded(system)
        return render(template, what, system=system)

    def _loaded(self, source: Any) -> Template | None:
        return None if source is None else self.load(source)


def _checked_params(params: Any) -> Mapping[str, Any]:
    if params is None:
        return {}
    if isinstance(params, Mapping) and all(isinstance(name, str) for name in params):
        return params
    message = f"params are a mapping, {{'temperature': 0}}, not {params!r}"
    raise ConfigError(message)


def _checked_sample(sample: Any, running: SampleRun | None) -> int:
    if sample is None:
        return running.index if running else 0
    if isinstance(sample, int) and not isinstance(sample, bool) and sample >= 0:
        return sample
    message = f"sample is the index of a repeat, 0 or more, not {sample!r}"
    raise ConfigError(message)


async def _ask(
    backend: Backend, request: Request, role: str, running: SampleRun | None
) -> Response:
    """Ask, and keep the question and its answer or error with the case."""
    __tracebackhide__ = True
    response, problem = None, None
    try:
        response = await backend.answer(request)
    except UnscoredError as exc:
        problem = exc
    # A judge's cut reply is the judging room's to report, beside its undecidable ones.
    if response is not None and role != "judge":
        problem = _cut(response, backend)
    if running is not None:
        running.add_call(
            Call(
                role=role,
                client=backend.name,
                prompt=request.prompt,
                response=response,
                error=problem.reason if problem else None,
                cause=problem.cause if problem else None,
            )
        )
    if problem is not None:
        raise problem
    assert response is not None
    return response


def _cut(response: Response, backend: Backend) -> UnscoredError | None:
    """Return the error of a reply that was cut off, if its entry does not accept it."""
    if response.finish_reason != "length" or isinstance(backend, CutAccepted):
        return None
    end = response.text[-60:]
    shown = f"it ends {end!r}" if end else "nothing of it was text"
    message = (
        f"the reply of {response.model or response.provider} was cut off at its token "
        f"limit (finish_reason length); {shown}; raise max_tokens in its params, or "
        f"say on_length: score in its entry"
    )
    return UnscoredError(message, cause="cut")

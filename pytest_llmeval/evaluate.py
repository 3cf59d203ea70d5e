"""The one path from a case to a response, and from a response to a judge's word.

`Generator` and `Judge` are the façades that fixtures give to tests. They are made once
a session and look up, call by call, which case is running and what its marker says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_llmeval import judging
from pytest_llmeval.clients import Backend, Request
from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.loop import LoopThread
from pytest_llmeval.prompts import Template, render
from pytest_llmeval.recorder import SampleRun, current_sample
from pytest_llmeval.types import (
    Call,
    Case,
    Message,
    Pairwise,
    Prompt,
    Response,
    Verdict,
    as_text,
)

__all__ = ["Generator", "Judge", "as_judge", "question_of"]

_Lookup = Callable[[SampleRun | None], Backend]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Generator:
    """The model or application under test; also any further client.

    Called with a case, it renders the test's prompt, asks and returns the Response.
    """

    role: str
    lookup: _Lookup
    """Returns the backend for the case that is running."""
    loop: LoopThread
    load: Callable[[Any], Template] = field(default=Template.of)
    """Reads a prompt given in the call (a text, a path, a callable)."""

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
            what: A case (its test's prompt is rendered), or what to send.
            prompt: A template to use instead of the marker's, for a case.
            system: A system message (template) to use instead of the marker's.
            params: Further parameters of the model, over those of its entry.
            sample: Index of the repeat; by default that of the running sample.

        Raises:
            UnscoredError: There is no usable reply; the case is unscored.
        """
        __tracebackhide__ = True
        question = self.acall(
            what, prompt=prompt, system=system, params=params, sample=sample
        )
        return self.loop.run(question, instead=f"await {self.role}.acall(...)")

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
        request = Request(
            prompt=self._prompt(what, prompt, system, running, backend),
            case=what if isinstance(what, Case) else _case_of(running),
            params=params or {},
            sample=sample if sample is not None else running.index if running else 0,
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
        plan = running.run.plan if running else None
        if system is None:
            system = plan.system if plan else None
        elif not isinstance(system, Template) and isinstance(what, Case):
            system = self.load(system)
        if isinstance(what, Case):
            template = self.load(prompt) if prompt is not None else None
            if template is None and plan is not None:
                template = plan.prompt
            if template is None and what.input is None and not backend.sends_prompt:
                return Prompt(messages=())
            return render(template, what, system=system)
        if prompt is not None:
            message = f"prompt= renders a case, and {what!r} is not one"
            raise ConfigError(message)
        return _literal_prompt(what, system)


def _case_of(running: SampleRun | None) -> Case | None:
    return running.run.case if running else None


def _literal_prompt(what: Any, system: Any) -> Prompt:
    """Return what was given as it is: no text of a caller is ever a template."""
    if isinstance(what, Prompt):
        return what
    if isinstance(what, str):
        return Prompt.of(what, system=system if isinstance(system, str) else None)
    if isinstance(what, Sequence) and what:
        return Prompt(messages=tuple(_message(item) for item in what))
    message = f"a model is asked a case, a text or chat messages, not {what!r}"
    raise ConfigError(message)


def _message(item: Any) -> Message:
    if isinstance(item, Message):
        return item
    if isinstance(item, Mapping) and {"role", "content"} <= item.keys():
        return Prompt.from_json([item]).messages[0]
    message = f"a chat message has a role and a content, and {item!r} has not"
    raise ConfigError(message)


async def _ask(
    backend: Backend, request: Request, role: str, running: SampleRun | None
) -> Response:
    """Ask, and keep the question and its answer or error with the case."""
    __tracebackhide__ = True
    try:
        response = await backend.answer(request)
        problem = None
    except UnscoredError as exc:
        response, problem = None, exc
    if response is not None and response.finish_reason == "length":
        problem = UnscoredError(_cut_text(response), cause="cut")
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
    # A judge's cut reply is the judging room's to report, beside its undecidable ones.
    if problem is not None and not (role == "judge" and response is not None):
        raise problem
    assert response is not None
    return response


def _cut_text(response: Response) -> str:
    end = response.text[-60:]
    shown = f"; it ends {end!r}" if end else "; nothing of it was text"
    return (
        f"the reply of {response.model or response.provider} was cut off at its token "
        f"limit (finish_reason length){shown}; raise max_tokens in its params"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Judge:
    """Gives verdicts on replies, asking a model."""

    client: Generator

    def __call__(self, response: Any, case: Case, **options: Any) -> Verdict:
        """Return the verdict on a reply.

        Args:
            response: The reply under test.
            case: Its row: question, context and reference come from it.
            **options: ``rubric``, ``template``, ``inputs`` of `judging.judge_reply`.

        Raises:
            UnscoredError: The judge could not be asked.
        """
        __tracebackhide__ = True
        question = self.acall(response, case, **options)
        return self.client.loop.run(question, instead="await judge.acall(...)")

    async def acall(self, response: Any, case: Case, **options: Any) -> Verdict:
        """Return the verdict, awaited."""
        __tracebackhide__ = True
        return await judging.judge_reply(
            self._ask,
            response=str(response),
            question=question_of(case),
            reference=_reference_of(case),
            context=_context_of(case),
            **self._loaded(options),
        )

    def compare(
        self, response: Any, case: Case, *, against: Any, **options: Any
    ) -> Pairwise:
        """Return how a reply stands against another, asked in both orders.

        Args:
            response: The reply under test.
            case: Its row.
            against: The other reply, a text or a Response.
            **options: Those of `judging.compare_replies`.
        """
        __tracebackhide__ = True
        question = self.acompare(response, case, against=against, **options)
        return self.client.loop.run(question, instead="await judge.acompare(...)")

    async def acompare(
        self, response: Any, case: Case, *, against: Any, **options: Any
    ) -> Pairwise:
        """Return how a reply stands against another, awaited."""
        __tracebackhide__ = True
        return await judging.compare_replies(
            self._ask,
            response=str(response),
            against=str(against),
            question=question_of(case),
            reference=_reference_of(case),
            context=_context_of(case),
            **self._loaded(options),
        )

    def _loaded(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options with the template read, if there is one."""
        template = options.get("template")
        if template is None:
            return dict(options)
        return {**options, "template": self.client.load(template)}

    async def _ask(self, prompt: Prompt, schema: Mapping[str, Any]) -> Response:
        try:
            return await self.client.acall(prompt, sample=0, schema=schema)
        except UnscoredError as exc:
            # Whoever failed, it was on the judge's side: the reply is not to blame.
            message = f"the judge could not be asked: {exc.reason}"
            raise UnscoredError(message, cause="judge") from exc

    def __repr__(self) -> str:
        return "<judge>"


def as_judge(judge: Any) -> Judge:
    """Return a judge that asks `judge`: one already, or any client of ours.

    Raises:
        ConfigError: It can't be asked.
    """
    if isinstance(judge, Judge):
        return judge
    if isinstance(judge, Generator):
        return Judge(client=judge)
    message = (
        f"{judge!r} can't judge: give the judge fixture, a client made by "
        f"llm_client(...), or a Verdict that was awaited before"
    )
    raise ConfigError(message)


def question_of(case: Case) -> str:
    """Return a case's input as text: chat messages with their roles named."""
    value = case.input
    if isinstance(value, list) and value and all(isinstance(m, Mapping) for m in value):
        return "\n\n".join(
            f"{m.get('role', 'message')}: {as_text(m.get('content'))}" for m in value
        )
    return as_text(value)


def _reference_of(case: Case) -> str | None:
    if case.expected is None:
        return None
    if isinstance(case.expected, list):
        return "\n".join(as_text(item) for item in case.expected)
    return as_text(case.expected)


def _context_of(case: Case) -> str | None:
    if case.context is None:
        return None
    if isinstance(case.context, list):
        return "\n".join(as_text(item) for item in case.context)
    return as_text(case.context)

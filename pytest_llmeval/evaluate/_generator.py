"""The model under test, or any other: from a case, a text or messages to a reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_llmeval.clients import Backend, GivenText, Request, never_waits
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.evaluate._ask import ask
from pytest_llmeval.evaluate._awaited import awaited
from pytest_llmeval.evaluate._literal import literal_prompt
from pytest_llmeval.evaluate._stored import StoredReplies
from pytest_llmeval.evaluate._texts import (
    ask_embeddings,
    ask_likelihood,
    checked_text,
    checked_texts,
)
from pytest_llmeval.loop import LoopThread
from pytest_llmeval.prompts import Template, render
from pytest_llmeval.recorder import SampleRun, current_sample
from pytest_llmeval.types import Case, Likelihood, Prompt, Response

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
    stored: StoredReplies | None = None
    """Replies of an earlier run that stand in the place of asking."""

    def __call__(
        self,
        what: Case | str | Prompt | Sequence[Any],
        *,
        prompt: Any = None,
        system: Any = None,
        params: Mapping[str, Any] | None = None,
        sample: int | None = None,
        optional: Mapping[str, Any] | None = None,
    ) -> Response:
        """Return the reply to a case, a text or chat messages.

        Args:
            what: A case (its test's prompt is rendered), or what to send as it is.
            prompt: A template to use instead of the marker's, for a case.
            system: A system message: for a case a template to use instead of the
                marker's, for a text or messages a text to send before them.
            params: Further parameters of the model, over those of its entry.
            sample: Index of the repeat; by default that of the running sample.
            optional: Parameters that an application goes without if it takes none.

        Raises:
            ConfigError: It can't be asked this.
            UnscoredError: There is no usable reply; the case is unscored.
        """
        __tracebackhide__ = True
        # First: it may refuse, and a coroutine that is made has to be awaited.
        is_there = never_waits(self.lookup(current_sample()))
        question = self.acall(
            what,
            prompt=prompt,
            system=system,
            params=params,
            sample=sample,
            optional=optional,
        )
        run = self.loop.run_at_once if is_there else self.loop.run
        return run(question, instead=self._awaited("acall"))

    @awaited
    async def acall(
        self,
        what: Case | str | Prompt | Sequence[Any],
        *,
        prompt: Any = None,
        system: Any = None,
        params: Mapping[str, Any] | None = None,
        sample: int | None = None,
        schema: Mapping[str, Any] | None = None,
        optional: Mapping[str, Any] | None = None,
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
            params={**_checked_params(optional), **_checked_params(params)},
            optional=frozenset(optional or ()),
            sample=_checked_sample(sample, running),
            schema=schema,
        )
        asked = ask(backend, request, self.role, running, self.stored)
        return await (asked if never_waits(backend) else self.loop.bridge(asked))

    def generate(self, prompt: Any, **params: Any) -> Response:
        """Return the reply to `prompt`: the method of the `Client` Protocol."""
        __tracebackhide__ = True
        return self(prompt, params=params)

    def loglikelihood(self, context: str, continuation: str) -> Likelihood:
        """Return how likely the model holds a text to be after another.

        Args:
            context: What stands before; it may be empty.
            continuation: The text whose log-probability is asked for, most often with
                the white space that parts it from the context.

        Raises:
            ConfigError: One of them is no text.
            UnscoredError: The model gives no log-probabilities, or gave none of this.
        """
        __tracebackhide__ = True
        question = self.aloglikelihood(context, continuation)
        return self.loop.run(question, instead=self._awaited("aloglikelihood"))

    @awaited
    async def aloglikelihood(self, context: str, continuation: str) -> Likelihood:
        """Return it, awaited: the same as `loglikelihood`."""
        __tracebackhide__ = True
        given = GivenText(
            text=checked_text(continuation, "continuation"),
            context=checked_text(context, "context"),
        )
        return await self._likelihood(given)

    def loglikelihoods(self, pairs: Sequence[tuple[str, str]]) -> list[Likelihood]:
        """Return how likely each text is after its context, asked at the same time.

        Args:
            pairs: Contexts and continuations, as for `loglikelihood`.

        Raises:
            ConfigError: One of them is no text.
            UnscoredError: The first that could not be had.
        """
        __tracebackhide__ = True
        questions = self.aloglikelihoods(pairs)
        return self.loop.run(questions, instead=self._awaited("aloglikelihoods"))

    @awaited
    async def aloglikelihoods(
        self, pairs: Sequence[tuple[str, str]]
    ) -> list[Likelihood]:
        """Return them, awaited: the same as `loglikelihoods`."""
        __tracebackhide__ = True
        import asyncio

        asked = [self.aloglikelihood(context, text) for context, text in pairs]
        found = await asyncio.gather(*asked, return_exceptions=True)
        for answer in found:
            if isinstance(answer, BaseException):
                raise answer  # when all have ended: none is noted after the case
        return [answer for answer in found if isinstance(answer, Likelihood)]

    def loglikelihood_rolling(self, text: str) -> Likelihood:
        """Return how likely the model holds a whole text to be: its perplexity's base.

        Raises:
            ConfigError: It is no text.
            UnscoredError: The model gives no log-probabilities, or gave none of this.
        """
        __tracebackhide__ = True
        question = self.aloglikelihood_rolling(text)
        return self.loop.run(question, instead=self._awaited("aloglikelihood_rolling"))

    @awaited
    async def aloglikelihood_rolling(self, text: str) -> Likelihood:
        """Return it, awaited: the same as `loglikelihood_rolling`."""
        __tracebackhide__ = True
        return await self._likelihood(GivenText(text=checked_text(text, "text")))

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors that the model gives texts, in their order.

        Args:
            texts: As many as you like: they go out in batches, the same text once.

        Raises:
            ConfigError: They are no texts.
            UnscoredError: The model gives no vectors, or gave none of these.
        """
        __tracebackhide__ = True
        return self.loop.run(self.aembed(texts), instead=self._awaited("aembed"))

    @awaited
    async def aembed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return them, awaited: the same as `embed`."""
        __tracebackhide__ = True
        checked = checked_texts(texts)
        running = current_sample()
        asked = ask_embeddings(
            self.lookup(running), checked, self.role, running, self.stored
        )
        return await self.loop.bridge(asked)

    def __repr__(self) -> str:
        return f"<{self.role}>"

    async def _likelihood(self, given: GivenText) -> Likelihood:
        running = current_sample()
        asked = ask_likelihood(
            self.lookup(running), given, self.role, running, self.stored
        )
        return await self.loop.bridge(asked)

    def _awaited(self, method: str) -> str:
        """Return the awaitable form of a call, for who may not block."""
        name = self.role if self.role.isidentifier() else "client"
        return f"await {name}.{method}(...)"

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

"""Code under test as the model: ``python:package.module:name``, or a callable.

A function, plain or async, gets the prompt's text (the `Case` with ``pass: case``) and
returns a text, a ``(text, cost)`` pair, a mapping with the entry's ``reply`` path, or a
`Response`. An object with ``generate(prompt, **params)`` is a `Client` and gets the
`Prompt`; with ``loglikelihood(context, continuation)`` and ``loglikelihood_rolling(text)``
it also says how likely a given text is, and with ``embed(texts)`` gives vectors.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pytest_llmeval.clients._base import Ability, GivenText, Request
from pytest_llmeval.clients._embeddings import read_vectors, without_embeddings
from pytest_llmeval.clients._given import read_likelihood, without_likelihoods
from pytest_llmeval.clients._target import import_target
from pytest_llmeval.clients._values import at_path, what_is_there
from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.loop import in_daemon_thread, maybe_await
from pytest_llmeval.types import Response

__all__ = ["CallableBackend", "import_target"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallableBackend:
    """Asks a callable or a `Client` object of the user's."""

    name: str
    target: Any
    passes: Literal["prompt", "case"] = "prompt"
    reply: str | None = None
    """Dotted path of the text in a mapping that is returned."""
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def abilities(self) -> frozenset[Ability]:
        """What the object has further methods for."""
        methods: dict[str, Ability] = {
            "loglikelihood": "likelihood",
            "loglikelihood_rolling": "likelihood",
            "embed": "embedding",
        }
        return frozenset(
            methods[name] for name in methods if hasattr(self.target, name)
        )

    @property
    def sends_prompt(self) -> bool:
        """Whether the code gets the prompt, and not the case."""
        return self.passes == "prompt"

    def identity(self, request: Request) -> dict[str, Any]:
        """Return the code's name and what it gets; what it does, no key can know."""
        is_reply = request.given is None and not request.texts
        identity: dict[str, Any] = {
            "provider": "python",
            "model": self.name,
            **request.asked(self.params),
        }
        if self.passes == "case" and request.case is not None and is_reply:
            identity["case"] = dict(request.case.fields)
        return identity

    async def answer(self, request: Request) -> Response:
        """Return the reply.

        Raises:
            UnscoredError: The code raised (its exception is the cause of this one),
                or returned what is not a reply.
        """
        if request.given is not None:
            return await self.likelihood(request.given)
        if request.texts:
            return await self.embeddings(request.texts)
        call, arguments, keywords = self._call(request)
        started = time.perf_counter()
        value = await self._guarded(call, arguments, keywords)
        seconds = time.perf_counter() - started
        response = self._response(value)
        return replace(
            response,
            messages=response.messages or request.prompt.messages,
            provider=response.provider or "python",
            latency_seconds=response.latency_seconds or seconds,
        )

    async def likelihood(self, given: GivenText) -> Response:
        """Return the likelihood that the object gives a text.

        Raises:
            UnscoredError: It has no such method, raised, or returned something else.
        """
        method = "loglikelihood_rolling"
        texts: tuple[str, ...] = (given.text,)
        if given.context is not None:
            method, texts = "loglikelihood", (given.context, given.text)
        call = getattr(self.target, method, None)
        if call is None:
            raise without_likelihoods(self.name, f"it has no {method}")
        started = time.perf_counter()
        value = await self._guarded(call, texts, {})
        return Response(
            text="",
            provider="python",
            likelihood=read_likelihood(value, f"{self.name}.{method}"),
            latency_seconds=time.perf_counter() - started,
        )

    async def embeddings(self, texts: Sequence[str]) -> Response:
        """Return the vectors that the object gives texts.

        Raises:
            UnscoredError: It has no method ``embed``, raised, or returned something else.
        """
        if not hasattr(self.target, "embed"):
            raise without_embeddings(self.name, "it has no embed")
        started = time.perf_counter()
        value = await self._guarded(self.target.embed, (list(texts),), {})
        return Response(
            text="",
            provider="python",
            embeddings=read_vectors(value, len(texts), f"{self.name}.embed"),
            latency_seconds=time.perf_counter() - started,
        )

    async def close(self) -> None:
        """Hold nothing."""

    def _call(
        self, request: Request
    ) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        target = getattr(self.target, "generate", self.target)
        params = {**self.params, **_taken(target, request)}
        if hasattr(self.target, "generate"):
            return self.target.generate, (request.prompt,), params
        if not callable(self.target):
            message = f"{self.name} gives no replies: it has no generate(prompt)"
            raise UnscoredError(message, cause="suite")
        if self.passes == "prompt":
            return self.target, (request.prompt.text,), params
        if request.case is None:
            message = f"{self.name} gets the case, and there is none: generator(case)"
            raise UnscoredError(message, cause="suite")
        return self.target, (request.case,), params

    async def _guarded(
        self,
        call: Callable[..., Any],
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
    ) -> Any:
        import asyncio
        import inspect

        stops = (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError)
        try:
            if inspect.iscoroutinefunction(call):
                return await call(*arguments, **keywords)
            # On a thread: a plain function may wait for a network, and the loop
            # thread waits for nobody.
            return await maybe_await(
                await in_daemon_thread(_without_stop(call), arguments, keywords)
            )
        except UnscoredError:
            raise
        except stops:
            raise
        except BaseException as exc:  # noqa: BLE001
            # Code under test may raise anything, pytest.fail and skip too, which are no
            # exceptions by class: none of it is an answer.
            message = f"{self.name} raised {type(exc).__name__}"
            message += f": {exc}" if str(exc) else ""
            raise UnscoredError(message, cause="application") from _without_us(exc)

    def _response(self, value: Any) -> Response:
        if isinstance(value, Response):
            return value
        cost = None
        if isinstance(value, tuple) and len(value) == 2:
            value, cost = value
            cost = self._cost(cost)
        if isinstance(value, Mapping):
            value = self._from_mapping(value)
        if isinstance(value, Response):
            return replace(value, cost=cost)
        if not isinstance(value, str):
            message = (
                f"{self.name} returned {_short(value)}, and a "
                f"reply is a text, a (text, cost) pair, a mapping with `reply: path` "
                f"in its entry, or a Response"
            )
            raise UnscoredError(message, cause="application")
        return Response(text=value, provider="python", cost=cost)

    def _cost(self, cost: Any) -> float | None:
        if cost is None:
            return None
        if isinstance(cost, bool) or not isinstance(cost, int | float) or cost < 0:
            message = f"{self.name} returned the cost {_short(cost)}, not US dollars"
            raise UnscoredError(message, cause="application")
        return float(cost)

    def _from_mapping(self, value: Mapping[str, Any]) -> Any:
        keys = ", ".join(map(str, value)) or "none"
        if self.reply is None:
            message = (
                f"{self.name} returned a mapping (keys: {keys}): say in its entry "
                f"where the text is, `reply: dotted.path`"
            )
            raise UnscoredError(message, cause="application")
        found = at_path(value, self.reply)
        if found is None:
            message = (
                f"{self.name} returned a mapping without {self.reply!r}; "
                f"{what_is_there(value, self.reply)}"
            )
            raise UnscoredError(message, cause="application")
        return found


def _without_us(exc: BaseException) -> BaseException:
    """Return an exception whose traceback begins in the code under test.

    It has none where that code was never entered: a call that its signature refuses.
    """
    here = str(Path(__file__).parents[1])
    trace = exc.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(here):
        trace = trace.tb_next
    return exc.with_traceback(trace)


def _taken(call: Any, request: Request) -> dict[str, Any]:
    """Return the parameters of a request, but for optional ones that `call` lacks."""
    import inspect

    if not request.optional:
        return dict(request.params)
    try:
        known = inspect.signature(call).parameters
    except (TypeError, ValueError):
        return dict(request.params)
    if any(p.kind is p.VAR_KEYWORD for p in known.values()):
        return dict(request.params)
    return {
        name: value
        for name, value in request.params.items()
        if name in known or name not in request.optional
    }


def _without_stop(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return `call` with StopIteration wrapped: a future can't carry one."""

    def wrapped(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        try:
            return call(*arguments, **keywords)
        except StopIteration as exc:
            message = "StopIteration left the function"
            raise RuntimeError(message) from exc

    return wrapped


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."

"""Asking a model, with the question and its answer kept with the running case."""

from __future__ import annotations

from typing import Any

from pytest_llmeval.clients import (
    Backend,
    CutAccepted,
    GivenText,
    Request,
    is_able,
    without_likelihoods,
)
from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.recorder import SampleRun
from pytest_llmeval.types import Call, Likelihood, Message, Prompt, Response

__all__ = ["ask", "ask_likelihood", "checked_text"]


async def ask(
    backend: Backend, request: Request, role: str, running: SampleRun | None
) -> Response:
    """Ask, and keep the question and its answer or error with the case."""
    __tracebackhide__ = True
    if running is not None and running.stand_in is not None and role != "judge":
        return running.stand_in(role)
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
                settings=_settings(backend, request),
                attempts=request.trail.attempts,
                waits=tuple(request.trail.waits),
            )
        )
    if problem is not None:
        raise problem
    assert response is not None
    return response


#: What of a request's identity is the question itself.
_QUESTION = frozenset({"messages", "likelihood_of", "case"})


def _settings(backend: Backend, request: Request) -> dict[str, Any]:
    """Return what answers and how it is asked, without the question."""
    identity = backend.identity(request)
    return {name: identity[name] for name in identity.keys() - _QUESTION}


def _cut(response: Response, backend: Backend) -> UnscoredError | None:
    """Return the error of a reply that is not whole, if its entry does not accept it."""
    who = f"the reply of {response.model or response.provider}"
    end = response.text[-60:]
    shown = f"it ends {end!r}" if end else "nothing of it was text"
    match response.finish_reason:
        case "length" if not isinstance(backend, CutAccepted):
            message = (
                f"{who} was cut off at its token limit (finish_reason length); {shown}; "
                f"raise max_tokens in its params, or say on_length: score in its entry"
            )
            return UnscoredError(message, cause="cut")
        case "content_filter":
            message = (
                f"a content filter took {who}, or its end, out (finish_reason "
                f"content_filter); {shown}"
            )
            return UnscoredError(message, cause="cut")
        case "error":
            message = f"{who} broke off (finish_reason error); {shown}"
            return UnscoredError(message, cause="provider")
    return None


async def ask_likelihood(
    backend: Backend, given: GivenText, role: str, running: SampleRun | None
) -> Likelihood:
    """Ask how likely a text is; what is kept shows it as an assistant's message."""
    __tracebackhide__ = True
    if not is_able(backend, "likelihood"):
        raise without_likelihoods(backend.name)
    messages = [Message(role="assistant", content=given.text)]
    if given.context:
        messages.insert(0, Message(role="user", content=given.context))
    # No index of a repeat: the same text is as likely the next time.
    request = Request(prompt=Prompt(messages=tuple(messages)), given=given)
    response = await ask(backend, request, role, running)
    if response.likelihood is None:  # a recording edited by hand
        raise without_likelihoods(backend.name, "its reply has none")
    return response.likelihood


def checked_text(value: object, name: str) -> str:
    """Return a text that a call names.

    Raises:
        ConfigError: It is none.
        UnscoredError: It is an empty text, of which nothing can be said.
    """
    if not isinstance(value, str):
        message = f"the likelihood is that of a text: {name} is {value!r:.80}"
        raise ConfigError(message)
    if not value and name != "context":
        message = f"there is no likelihood of an empty text: {name} is empty"
        raise UnscoredError(message, cause="data")
    return value

"""Asking a model, with the question and its answer kept with the running case."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pytest_llmeval.clients import Backend, CutAccepted, Request, sent_by
from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.evaluate._stored import StoredReplies
from pytest_llmeval.recorder import SampleRun
from pytest_llmeval.store.answers import Answer
from pytest_llmeval.types import Call, Response, Sent, clean_text

__all__ = ["ask"]


async def ask(
    backend: Backend,
    request: Request,
    role: str,
    running: SampleRun | None,
    stored: StoredReplies | None = None,
) -> Response:
    """Ask, and keep the question and its answer or error with the case.

    Args:
        backend: Who is asked.
        request: What is asked.
        role: As whom.
        running: The case that asks; None outside of one.
        stored: Replies of an earlier run that stand in the place of asking.
    """
    __tracebackhide__ = True
    if running is not None and running.stand_in is not None and role != "judge":
        return running.stand_in(role)
    response, problem = None, None
    try:
        answer = (
            backend.answer(request)
            if stored is None
            else stored.answer(backend, request, role, running)
        )
        response = _writable(await answer)
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
                key=request.trail.key,
                setup=request.trail.setup,
                attempts=request.trail.attempts,
                waits=tuple(request.trail.waits),
                evidence=_Evidence(
                    backend=backend, request=request, response=response, problem=problem
                ),
            )
        )
    if problem is not None:
        raise problem
    assert response is not None
    return response


def _writable(response: Response) -> Response:
    """Return a reply with the text it is kept with: no file holds half a character.

    A judge shown another text than the one that is replayed would be another question.
    One of the dataset is never kept.
    """
    if response.origin == "column":
        return response
    text = clean_text(response.text)
    return response if text == response.text else replace(response, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """What is made of a call only when its case did not pass."""

    backend: Backend
    request: Request
    response: Response | None
    problem: UnscoredError | None

    def sent(self) -> Sent | None:
        """Return what went over the wire."""
        return sent_by(self.backend, self.request)

    def answer(self) -> dict[str, Any]:
        """Return question and answer, to be replayed."""
        identity = self.backend.identity(self.request)
        sample = self.request.sample
        return Answer.of(identity, sample, self.response, self.problem).to_json()


#: What of a request's identity is the question itself.
_QUESTION = frozenset({"messages", "likelihood_of", "embeddings_of", "case"})


def _settings(backend: Backend, request: Request) -> dict[str, Any]:
    """Return what answers and how it is asked, without the question."""
    identity = backend.identity(request)
    return {name: identity[name] for name in identity if name not in _QUESTION}


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

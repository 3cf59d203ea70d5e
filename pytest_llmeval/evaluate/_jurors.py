"""The judges behind a client: one model, or those of a panel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_llmeval import judging
from pytest_llmeval.clients import Backend, Request, members_of
from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.evaluate._generator import Generator
from pytest_llmeval.recorder import current_sample
from pytest_llmeval.types import Prompt, Response

__all__ = ["jurors_of"]


def jurors_of(client: Generator) -> tuple[judging.Juror, ...]:
    """Return the judges that a client stands for, in the case that is running."""
    backend = client.lookup(current_sample())
    return tuple(_juror(client, member) for member in members_of(backend))


def _juror(client: Generator, backend: Backend) -> judging.Juror:
    own = replace(client, lookup=lambda sample: backend)

    async def ask(prompt: Prompt, schema: Mapping[str, Any], vote: int) -> Response:
        try:
            # Its vote alone tells two questions apart: the same reply in another
            # repeat is judged once.
            return await own.acall(prompt, sample=vote, schema=schema)
        except UnscoredError as exc:
            # Whoever failed, it was on the judge's side: the reply is not to blame.
            message = f"the judge could not be asked: {exc.reason}"
            cause = "recording" if exc.cause == "recording" else "judge"
            raise UnscoredError(message, cause=cause) from exc

    identity = backend.identity(Request(prompt=Prompt(messages=())))
    return judging.Juror(ask=ask, name=backend.name, identity=identity)

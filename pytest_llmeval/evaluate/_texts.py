"""What a model says of texts that it is given: how likely they are, their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_llmeval.clients import (
    Backend,
    GivenText,
    Request,
    is_able,
    without_embeddings,
    without_likelihoods,
)
from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.evaluate._ask import ask
from pytest_llmeval.evaluate._stored import StoredReplies
from pytest_llmeval.recorder import SampleRun
from pytest_llmeval.types import Likelihood, Message, Prompt, unpacked_vector

__all__ = ["ask_embeddings", "ask_likelihood", "checked_text", "checked_texts"]

#: Texts of one request: servers take some hundreds, and a long list takes long to read.
_BATCH = 64


async def ask_likelihood(
    backend: Backend,
    given: GivenText,
    role: str,
    running: SampleRun | None,
    stored: StoredReplies | None = None,
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
    response = await ask(backend, request, role, running, stored)
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
        message = f"a text is asked about, and {name} is {value!r:.80}"
        raise ConfigError(message)
    if not value and name != "context":
        message = f"nothing can be said of an empty text: {name} is empty"
        raise UnscoredError(message, cause="data")
    return value


def checked_texts(values: Any) -> tuple[str, ...]:
    """Return the texts that a call names.

    Raises:
        ConfigError: They are no texts.
        UnscoredError: One is empty.
    """
    if isinstance(values, str) or not isinstance(values, Sequence):
        message = f"vectors are those of a list of texts, not of {values!r:.80}"
        raise ConfigError(message)
    return tuple(checked_text(one, f"text {n}") for n, one in enumerate(values, 1))


async def ask_embeddings(
    backend: Backend,
    texts: Sequence[str],
    role: str,
    running: SampleRun | None,
    stored: StoredReplies | None = None,
) -> list[list[float]]:
    """Return the vectors of texts, in their order; the same text is asked once."""
    import asyncio

    __tracebackhide__ = True
    if not is_able(backend, "embedding"):
        raise without_embeddings(backend.name)

    async def vectors_of(batch: tuple[str, ...]) -> tuple[list[float], ...]:
        prompt = Prompt(messages=tuple(Message(role="user", content=t) for t in batch))
        request = Request(prompt=prompt, texts=batch)
        response = await ask(backend, request, role, running, stored)
        if len(response.embeddings) != len(batch):  # a recording edited by hand
            raise without_embeddings(backend.name, "its reply has none")
        return tuple(map(unpacked_vector, response.embeddings))

    each = list(dict.fromkeys(texts))
    batches = [tuple(each[i : i + _BATCH]) for i in range(0, len(each), _BATCH)]
    # All have ended before the first error is raised: none goes on behind the case.
    found = await asyncio.gather(*map(vectors_of, batches), return_exceptions=True)
    vectors: dict[str, list[float]] = {}
    for batch, result in zip(batches, found, strict=True):
        if isinstance(result, BaseException):
            raise result
        vectors |= zip(batch, result, strict=True)
    return [vectors[text] for text in texts]

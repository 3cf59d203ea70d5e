"""Judges outside of pytest: from a spec, a callable or an object to one that is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_llmeval.clients import Backend, Clients, Request, members_of
from pytest_llmeval.config import load_config
from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.judging._ask import Juror
from pytest_llmeval.loop import LoopThread
from pytest_llmeval.types import Prompt, Response

__all__ = ["asking", "juror_of"]


@contextmanager
def asking(client: Any) -> Iterator[tuple[list[Juror], LoopThread]]:
    """Give the judges that a client stands for, and the loop they run on, for a while.

    Args:
        client: A spec, a mapping, a callable, an object with ``generate`` or a backend;
            of several in a list, each.

    Raises:
        ConfigError: There is no such model.
    """
    found = Path("llmeval.yaml")
    config = load_config(found if found.exists() else None)
    clients, loop = Clients(config, Path.cwd(), "live"), LoopThread()
    given = client if isinstance(client, list | tuple) else [client]
    try:
        backends = [b for one in given for b in members_of(_backend(one, clients))]
        yield [juror_of(backend) for backend in backends], loop
    finally:
        loop.run(clients.close(), instead="")
        loop.close()


def juror_of(backend: Backend) -> Juror:
    """Return the judge that asks a backend."""

    async def ask(prompt: Prompt, schema: Mapping[str, Any], vote: int) -> Response:
        request = Request(prompt=prompt, sample=vote, schema=schema)
        try:
            return await backend.answer(request)
        except UnscoredError as exc:
            message = f"the judge could not be asked: {exc.reason}"
            raise UnscoredError(message, cause="judge") from exc

    identity = backend.identity(Request(prompt=Prompt(messages=())))
    return Juror(ask=ask, name=backend.name, identity=identity)


def _backend(client: Any, clients: Clients) -> Backend:
    if hasattr(client, "answer") and hasattr(client, "identity"):
        backend: Backend = client
        return backend
    return clients.backend(client)

"""The seam of the room: one request in, one response out.

Every provider is a `Backend`, and so is whatever wraps one (retry, limits, cache,
recordings): the same method inside and outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.types import Case, Prompt, Response, Sent

__all__ = [
    "Ability",
    "Able",
    "Backend",
    "GivenText",
    "Owner",
    "Request",
    "Sender",
    "Trail",
    "never_waits",
    "sent_by",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenText:
    """A text whose log-probability is asked for."""

    text: str
    context: str | None = None
    """What stands before it and is not counted; None for a text of its own."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        context = {} if self.context is None else {"context": self.context}
        return {**context, "text": self.text}


@dataclass(slots=True, eq=False)
class Trail:
    """What a call went through on its way to a reply, filled while it goes."""

    attempts: int = 0
    """Requests that were sent: none for a reply that was on file."""
    waits: list[float] = field(default_factory=list)
    """Seconds between an attempt and the next one."""
    key: str = ""
    """Under which the reply is kept on file, empty where none is looked for."""
    setup: str = ""
    """Fingerprint of the model's settings: the key is another where it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All that a reply may depend on."""

    prompt: Prompt
    case: Case | None = None
    """The row asked about; what reads a column or is passed the case needs it."""
    params: Mapping[str, Any] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    """Names of parameters that an application which takes none goes without."""
    sample: int = 0
    """Index of the repeat: two samples of one prompt are two requests."""
    schema: Mapping[str, Any] | None = None
    """A JSON schema for the reply; sent where the entry says the model takes one."""
    given: GivenText | None = None
    """Its likelihood is asked for instead of a reply."""
    texts: tuple[str, ...] = ()
    """Their vectors are asked for instead of a reply."""
    trail: Trail = field(default_factory=Trail, compare=False)
    key: str = ""
    """Of the reply, once a wrapper has made it; those inside need not make it again."""

    def asked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is asked, as a part of a backend's identity.

        Args:
            params: Those of the backend's entry. How likely a given text is does not
                depend on them.
        """
        if self.texts:
            return {"embeddings_of": list(self.texts), "params": dict(params)}
        if self.given is not None:
            return {"likelihood_of": self.given.to_json()}
        return {
            "messages": self.prompt.to_json(),
            "params": {**params, **self.params},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The pytest run that a started process belongs to."""

    run: str
    """Unique to the run, and the same on all of its workers."""
    process: int
    """Id of its main process: when that is gone, so is the run."""


class Backend(Protocol):
    """What answers a request."""

    @property
    def name(self) -> str:
        """The configured name or spec, as shown in reports."""

    @property
    def sends_prompt(self) -> bool:
        """Whether a reply depends on the prompt; a row without input needs none."""

    def identity(self, request: Request) -> dict[str, Any]:
        """Return everything that changes the answer, the repeat's index apart."""

    async def answer(self, request: Request) -> Response:
        """Return the reply.

        Raises:
            UnscoredError: There is none; its cause says whose fault it is.
        """

    async def close(self) -> None:
        """Give back what it holds (connections, processes)."""


def never_waits(backend: Backend) -> bool:
    """Return whether a backend answers at once, so that no event loop is needed."""
    return bool(getattr(backend, "never_waits", False))


Ability = Literal["likelihood", "embedding"]


@runtime_checkable
class Able(Protocol):
    """A backend that can be asked for more than replies."""

    @property
    def abilities(self) -> frozenset[Ability]:
        """What its `answer` also takes: requests with a `given` text, or with `texts`."""


@runtime_checkable
class Sender(Protocol):
    """A backend that can say what it sends."""

    def sent(self, request: Request) -> Sent | None:
        """Return what goes over the wire for a request, None where it can't be said.

        Raises:
            LLMEvalError: Nothing does: it can't be asked like this.
        """


def sent_by(backend: Backend, request: Request) -> Sent | None:
    """Return what a backend, or the one it wraps, sends; None when nothing is sent."""
    layer: Any = backend
    while not (layer is None or isinstance(layer, Sender)):
        layer = getattr(layer, "inner", None)
    try:
        return None if layer is None else layer.sent(request)
    except LLMEvalError:
        return None

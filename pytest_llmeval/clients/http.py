"""A URL as the model: any JSON endpoint, usually the application under test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from pytest_llmeval.clients import anthropic, gemini, responses
from pytest_llmeval.clients._base import Request
from pytest_llmeval.clients._bodies import Body
from pytest_llmeval.clients._completion import usage_of
from pytest_llmeval.clients._http import HttpReply
from pytest_llmeval.clients._problem import Problem, body_text, problem_of
from pytest_llmeval.clients._server import Server
from pytest_llmeval.clients._values import at_path, what_is_there
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.types import Response, Sent, Usage, as_text, clean_text

__all__ = ["HttpBackend", "Paths"]

#: Usage is read in the words of any provider: applications pass it on.
_USAGE_READERS = (
    usage_of,
    anthropic.usage_of,
    responses.usage_of,
    gemini.usage_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Where things stand in a reply, as dotted paths; None for what it has not."""

    reply: str | None = None
    """None: the reply is a JSON text, or a body that is not JSON."""
    usage: str | None = None
    cost: str | None = None
    served_model: str | None = None
    system_fingerprint: str | None = None
    sources: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpBackend:
    """Asks a URL."""

    name: str
    server: Server
    body: Body
    paths: Paths
    method: str = "POST"
    """With GET the body's keys go into the query."""
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sends_prompt(self) -> bool:
        """Whether any of the prompt is sent; a body may take the row's columns."""
        return self.body.takes_prompt

    def identity(self, request: Request) -> dict[str, Any]:
        """Return the address and all that is sent."""
        return {
            "provider": "http",
            "base_url": str(self.server.address),
            "method": self.method,
            "body": self.body.filled(self._whole(request)),
            "reply": self.paths.reply,
        }

    async def answer(self, request: Request) -> Response:
        """Return the reply.

        Raises:
            ProviderError: There is none; the server's own words are in the text.
            UnscoredError: The row lacks what the body takes from it.
        """
        reply = await self.server.send(*self._said(request))
        if (problem := self._problem(reply)) is not None:
            raise await self.server.refused(problem)
        return Response(
            text=self._text(reply),
            messages=request.prompt.messages,
            model=self._word(reply, self.paths.served_model),
            system_fingerprint=self._word(reply, self.paths.system_fingerprint),
            provider="http",
            usage=_usage(self._at(reply, self.paths.usage)),
            cost=self._cost(reply),
            sources=_sources(self._at(reply, self.paths.sources)),
            latency_seconds=reply.seconds,
            raw=reply.data,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self.server.close()

    def sent(self, request: Request) -> Sent:
        """Return what goes over the wire.

        Raises:
            LLMEvalError: The body can't be filled from this row.
        """
        return self.server.shown(*self._said(request))

    def _said(self, request: Request) -> tuple[str, str, Any]:
        """Return method, path and body of a request."""
        body = self.body.filled(self._whole(request))
        if self.method == "GET":
            return "GET", _query(body), None
        return self.method, "", body

    def _whole(self, request: Request) -> Request:
        return replace(request, params={**self.params, **request.params})

    def _problem(self, reply: HttpReply) -> Problem | None:
        """Return what is wrong: by the status, or by what stands at the error's path."""
        if reply.status >= 300:
            return problem_of(reply)
        error = self._at(reply, self.paths.error)
        if error in (None, False, "", [], {}):
            return None
        said = error.get("message") if isinstance(error, Mapping) else None
        return Problem(status=reply.status, said=as_text(said or error))

    def _text(self, reply: HttpReply) -> str:
        if self.paths.reply is not None:
            found = self._at(reply, self.paths.reply)
            if found is None:
                raise self.server.unread(reply, self._nothing(reply))
            return as_text(found)
        if reply.data is None or isinstance(reply.data, str):
            return reply.text if reply.data is None else str(reply.data)
        what = f"say in its entry where the text is, reply: dotted.path, in {body_text(reply)}"
        raise self.server.unread(reply, what)

    def _nothing(self, reply: HttpReply) -> str:
        """Return what is said of a reply without a text at its path."""
        path = str(self.paths.reply)
        if reply.data is None:
            return f"the reply is not JSON, and has no {path!r}: {body_text(reply)}"
        there = what_is_there(reply.data, path)
        return f"the reply has nothing at {path!r}; {there}; it is {body_text(reply)}"

    def _cost(self, reply: HttpReply) -> float | None:
        cost = self._at(reply, self.paths.cost)
        is_number = isinstance(cost, int | float) and not isinstance(cost, bool)
        if cost is None or (is_number and 0 <= cost < float("inf")):
            return None if cost is None else float(cost)
        what = f"the reply has {cost!r} at {self.paths.cost!r} (cost): not US dollars"
        raise self.server.unread(reply, what)

    def _word(self, reply: HttpReply, path: str | None) -> str | None:
        found = self._at(reply, path)
        return as_text(found) or None if found is not None else None

    @staticmethod
    def _at(reply: HttpReply, path: str | None) -> Any:
        return None if path is None else at_path(reply.data, path)


def _query(body: Any) -> str:
    """Return a body as the query of an address.

    Raises:
        ConfigError: It has no names.
    """
    if not isinstance(body, Mapping):
        message = (
            f"with method GET the body is a mapping, for the query, not {body!r:.80}"
        )
        raise ConfigError(message)
    if not body:
        return ""
    return "?" + urlencode(
        {clean_text(name): clean_text(as_text(value)) for name, value in body.items()}
    )


def _usage(data: Any) -> Usage | None:
    found = [usage for read in _USAGE_READERS if (usage := read(data)) is not None]
    # The one that finds most has the words that were used.
    return max(
        found,
        key=lambda u: sum(v is not None for v in u.to_json().values()),
        default=None,
    )


def _sources(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    items = value if isinstance(value, list) else [value]
    return tuple(as_text(item) for item in items)

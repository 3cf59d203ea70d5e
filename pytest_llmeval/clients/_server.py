"""A server that is asked with JSON over HTTP: what all such providers share.

Signing, sending, the server's refusals in its own words, the models it has, and secrets
out of every error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from pytest_llmeval.clients._address import Address
from pytest_llmeval.clients._http import HttpReply, Wire, encoded
from pytest_llmeval.clients._keys import Keys, with_scheme
from pytest_llmeval.clients._problem import Problem, body_text, problem_of
from pytest_llmeval.clients._stream import BrokenStreamError
from pytest_llmeval.clients._transport import proxy_secrets
from pytest_llmeval.errors import ProviderError, did_you_mean
from pytest_llmeval.redact import Redactor
from pytest_llmeval.types import Sent

if TYPE_CHECKING:
    import httpx

__all__ = ["Server"]

_MOST_MODELS = 20
#: Of every request.
_HEADERS: Final = {
    "accept": "application/json",
    "accept-encoding": "gzip, deflate",
    "content-type": "application/json",
    "user-agent": "pytest-llmeval",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One entry's server."""

    name: str
    """The entry's name, for error texts."""
    model: str
    """The entry's model, for error texts."""
    address: Address
    keys: Keys
    wire: Wire
    key_header: str = "authorization"
    """The header the key goes into; after the word Bearer where it is this one."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Those that every request of the provider has; the entry's own come after."""
    models_path: str | None = "/models"
    """Where it lists its models; None where it has none."""

    async def ask(
        self,
        path: str,
        body: Any,
        *,
        hint: Callable[[str, Any], str] | None = None,
        joined: Callable[[bytes], Any] | None = None,
    ) -> HttpReply:
        """Return the reply to a request.

        Args:
            path: Below the address, with its slash.
            body: Sent as JSON.
            hint: Returns what to do about a request that was refused, from the
                server's sentence and the body; it ends the error's text.
            joined: Returns the data of a stream of events, if one may come.

        Raises:
            ProviderError: There is none, or the server says that something is wrong.
            ConfigError: The body can't be sent.
        """
        reply = await self.send("POST", path, body)
        if joined is not None and _is_stream(reply):
            reply = self._whole(reply, joined)
        if (problem := problem_of(reply)) is not None:
            is_refusal = problem.status in {400, 422}
            raise await self.refused(
                problem, hint(problem.said, body) if hint and is_refusal else ""
            )
        return reply

    def _whole(self, reply: HttpReply, joined: Callable[[bytes], Any]) -> HttpReply:
        """Return a reply with the data of its stream."""
        try:
            return replace(reply, data=joined(reply.content))
        except BrokenStreamError as exc:
            # Another time it may come whole.
            raise self.clean(
                ProviderError(
                    f"{self.name}: {exc}", status=reply.status, is_transient=True
                )
            ) from None

    async def send(self, method: str, path: str, body: Any = None) -> HttpReply:
        """Return whatever the server replies to a request, refusals too.

        Raises:
            ProviderError: There is no reply.
            ConfigError: The body can't be sent.
        """
        try:
            return await self.wire.send(
                method, self.address.url(path), body=body, sign=self._sign
            )
        except ProviderError as exc:
            raise self.clean(exc) from None

    def shown(self, method: str, path: str, body: Any = None) -> Sent:
        """Return what `send` sends, without its secrets.

        Raises:
            ConfigError: The body can't be sent.
        """
        signed = self.keys.shown(self.key_header)
        names = {name.lower() for name in signed}
        own = {**_HEADERS, **self.headers}
        return Sent(
            method=method,
            url=self.address.shown_url(path),
            headers={**{k: v for k, v in own.items() if k not in names}, **signed},
            body=None if body is None else encoded(body).decode(),
        )

    async def refused(self, problem: Problem, hint: str = "") -> ProviderError:
        """Return the error of a reply that is no answer."""
        text = f"{self.name}: {problem}{hint}"
        if problem.status in {401, 403}:
            text += f" ({self.keys.origin})"
        if problem.status == 404:
            text += await self._models_there_are()
        return self.clean(
            ProviderError(
                text,
                status=problem.status,
                retry_after_seconds=problem.retry_after_seconds,
                is_transient=problem.is_transient,
            )
        )

    def unread(self, reply: HttpReply, what: str) -> ProviderError:
        """Return the error of a reply that does not hold what was asked for.

        Args:
            reply: What came.
            what: What is wrong with it.
        """
        return self.clean(ProviderError(f"{self.name}: {what}", status=reply.status))

    def no_object(self, reply: HttpReply, *, wanted: str, speaks: str) -> ProviderError:
        """Return the error of a reply that is no JSON object.

        Args:
            reply: What came.
            wanted: What it should have been: ``completion``.
            speaks: What the address should be of: ``an X interface (.../v1)``.
        """
        kind = reply.headers.get("content-type", "no content-type")
        if reply.data is not None:
            what = f"the reply is JSON, but no {wanted}: {body_text(reply)}"
            return self.unread(reply, what)
        try:
            reply.content.decode("utf-8")
        except UnicodeDecodeError as exc:
            where = f"{exc.reason} at byte {exc.start}; {kind}"
            return self.unread(reply, f"the reply is not UTF-8 ({where})")
        what = f"the reply is not JSON ({kind}): {body_text(reply)}"
        return self.unread(reply, f"{what}; is base_url the address of {speaks}?")

    def clean(self, error: ProviderError) -> ProviderError:
        """Return the error without any secret: servers like to echo a wrong key."""
        error.reason = Redactor(self.secrets()).text(error.reason)
        error.args = (error.reason,)
        return error

    def secrets(self) -> Iterable[str]:
        """Yield all that must be shown nowhere."""
        yield from self.keys.secrets()
        yield from self.address.secrets()
        yield from proxy_secrets()

    async def close(self) -> None:
        """Close the connections."""
        await self.wire.close()

    def _sign(self, request: httpx.Request) -> httpx.Request:
        request.headers.update({**_HEADERS, **self.headers})
        if (key := self.keys.key) is not None:
            request.headers[self.key_header] = with_scheme(
                self.key_header, key.reveal()
            )
        for name, value in self.keys.headers.items():
            request.headers[name] = value.reveal()
        if (query := self.address.query()) is not None:
            parts = [query.reveal().encode(), request.url.query]
            request.url = request.url.copy_with(query=b"&".join(filter(None, parts)))
        return request

    async def _models_there_are(self) -> str:
        """Return the models the server lists, as the end of an error text."""
        lists_none = f"; it lists no models: is base_url right? It is {self.address}"
        if self.models_path is None:
            return f"; is base_url right? It is {self.address}"
        try:
            reply = await self.send("GET", self.models_path)
        except ProviderError:
            return lists_none
        names = None if reply.status >= 300 else _model_names(reply.data)
        if names is None:
            return lists_none
        listed = ", ".join(names[:_MOST_MODELS]) or "none"
        if len(names) > _MOST_MODELS:
            listed += f" and {len(names) - _MOST_MODELS} more"
        return f"{did_you_mean(self.model, names)}; models there are: {listed}"


def _is_stream(reply: HttpReply) -> bool:
    return reply.headers.get("content-type", "").startswith("text/event-stream")


def _model_names(data: Any) -> list[str] | None:
    """Return the models of a list: ``data[].id``, or Gemini's ``models[].name``."""
    if not isinstance(data, Mapping):
        return None
    key, field_name = ("data", "id") if "data" in data else ("models", "name")
    items = data.get(key)
    if not isinstance(items, list):
        return None
    names = (item.get(field_name) for item in items if isinstance(item, Mapping))
    return [name.removeprefix("models/") for name in names if isinstance(name, str)]

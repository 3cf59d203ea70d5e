"""Chat completions as OpenAI defined them and dozens of servers speak them.

https://platform.openai.com/docs/api-reference/chat; fields that other servers add
(``reasoning_content``, ``reasoning``) are read where they stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_llmeval.clients._address import Address
from pytest_llmeval.clients._base import Request
from pytest_llmeval.clients._completion import first_choice, read_choice
from pytest_llmeval.clients._http import HttpReply, Wire
from pytest_llmeval.clients._keys import Keys
from pytest_llmeval.clients._problem import Problem, body_text, problem_of
from pytest_llmeval.clients._transport import proxy_secrets
from pytest_llmeval.errors import ConfigError, ProviderError, did_you_mean
from pytest_llmeval.redact import Redactor
from pytest_llmeval.types import Response

if TYPE_CHECKING:
    import httpx

__all__ = ["DEFAULT_BASE_URL", "OpenAIBackend", "check_params"]

DEFAULT_BASE_URL = "https://api.openai.com/v1"

_PATHS = {"chat": "/chat/completions", "completions": "/completions"}
_MOST_MODELS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIBackend:
    """Asks a server for a chat completion."""

    name: str
    model: str
    address: Address
    keys: Keys
    wire: Wire
    params: Mapping[str, Any] = field(default_factory=dict)
    api: str = "chat"
    """chat, or completions: the plain continuation of the prompt's text."""
    sends_prompt: bool = True

    def identity(self, request: Request) -> dict[str, Any]:
        """Return address, model, messages and parameters."""
        return {
            "provider": "openai",
            "base_url": str(self.address),
            "model": self.model,
            "api": self.api,
            "messages": request.prompt.to_json(),
            "params": {**self.params, **request.params},
        }

    async def answer(self, request: Request) -> Response:
        """Return the reply.

        Raises:
            ProviderError: There is none; the server's own words are in the text.
            ConfigError: A parameter can't be sent.
        """
        reply = await self._send("POST", _PATHS[self.api], self.body(request))
        if (problem := problem_of(reply)) is not None:
            raise await self._refused(problem)
        return self._response(reply, request)

    async def close(self) -> None:
        """Close the connections."""
        await self.wire.close()

    def body(self, request: Request) -> dict[str, Any]:
        """Return what is sent: the model, the messages, the parameters.

        Raises:
            ConfigError: A parameter of the call is none.
        """
        check_params(self.name, request.params)
        asked: dict[str, Any] = (
            {"prompt": request.prompt.text}
            if self.api == "completions"
            else {"messages": request.prompt.to_json()}
        )
        return {"model": self.model, **asked, **self.params, **request.params}

    def secrets(self) -> Iterable[str]:
        """Yield all that must be shown nowhere."""
        yield from self.keys.secrets()
        yield from self.address.secrets()
        yield from proxy_secrets()

    async def _send(self, method: str, path: str, body: Any = None) -> HttpReply:
        try:
            return await self.wire.send(
                method, self.address.url(path), body=body, sign=self._sign
            )
        except ProviderError as exc:
            raise self._clean(exc) from None

    def _sign(self, request: httpx.Request) -> httpx.Request:
        request.headers["accept"] = "application/json"
        request.headers["accept-encoding"] = "gzip, deflate"
        request.headers["content-type"] = "application/json"
        request.headers["user-agent"] = "pytest-llmeval"
        if (key := self.keys.key) is not None:
            request.headers["authorization"] = f"Bearer {key.reveal()}"
        for name, value in self.keys.headers.items():
            request.headers[name] = value.reveal()
        if (query := self.address.query()) is not None:
            request.url = request.url.copy_with(query=query.reveal().encode())
        return request

    async def _refused(self, problem: Problem) -> ProviderError:
        """Return the error of a reply that is no answer."""
        text = f"{self.name}: {problem}"
        if problem.status in {401, 403}:
            text += f" ({self.keys.origin})"
        if problem.status == 404:
            text += await self._models_there_are()
        return self._clean(
            ProviderError(
                text, status=problem.status, is_transient=problem.is_transient
            )
        )

    async def _models_there_are(self) -> str:
        """Return the models the server lists, as the end of an error text."""
        lists_none = f"; it lists no models: is base_url right? It is {self.address}"
        try:
            reply = await self._send("GET", "/models")
        except ProviderError:
            return lists_none
        data = reply.data.get("data") if isinstance(reply.data, Mapping) else None
        if reply.status >= 300 or not isinstance(data, list):
            return lists_none
        ids = (item.get("id") for item in data if isinstance(item, Mapping))
        names = [name for name in ids if isinstance(name, str)]
        listed = ", ".join(names[:_MOST_MODELS]) or "none"
        if len(names) > _MOST_MODELS:
            listed += f" and {len(names) - _MOST_MODELS} more"
        return f"{did_you_mean(self.model, names)}; models there are: {listed}"

    def _response(self, reply: HttpReply, request: Request) -> Response:
        if not isinstance(reply.data, Mapping):
            raise self._no_completion(reply, _unread(reply))
        choice = first_choice(reply.data)
        if choice is None:
            model = reply.data.get("model") or self.model
            what = f"the reply of {model!r} has no choices"
            if "choices" in reply.data:
                what += ": servers send that when a filter took the answer out"
            raise self._no_completion(reply, f"{what}; it is {body_text(reply)}")
        response = read_choice(choice, reply.data)
        return replace(
            response,
            model=response.model or self.model,
            messages=request.prompt.messages,
            provider="openai",
            latency_seconds=reply.seconds,
        )

    def _no_completion(self, reply: HttpReply, what: str) -> ProviderError:
        return self._clean(ProviderError(f"{self.name}: {what}", status=reply.status))

    def _clean(self, error: ProviderError) -> ProviderError:
        """Return the error without any secret: servers like to echo a wrong key."""
        error.reason = Redactor(self.secrets()).text(error.reason)
        error.args = (error.reason,)
        return error


def check_params(name: str, params: Mapping[str, Any]) -> None:
    """Refuse parameters that are not the model's.

    Args:
        name: The entry's name, for error texts.
        params: Those of the entry or of a call.

    Raises:
        ConfigError: One names what is said elsewhere, or asks for pieces.
    """
    for key in ("messages", "model", "prompt"):
        if key in params:
            message = f"{name!r}: params can't hold {key!r}, which is said elsewhere"
            raise ConfigError(message)
    if params.get("stream"):
        message = f"{name!r}: params can't hold stream: replies are read whole"
        raise ConfigError(message)


def _unread(reply: HttpReply) -> str:
    """Return why a body is not what was asked for."""
    kind = reply.headers.get("content-type", "no content-type")
    if reply.data is not None:
        return f"the reply is JSON, but no completion: {body_text(reply)}"
    try:
        reply.content.decode("utf-8")
    except UnicodeDecodeError as exc:
        return f"the reply is not UTF-8 ({exc.reason} at byte {exc.start}; {kind})"
    return (
        f"the reply is not JSON ({kind}): {body_text(reply)}; is base_url the address "
        f"of an OpenAI-compatible interface (.../v1)?"
    )

"""Chat completions as OpenAI defined them and dozens of servers speak them.

https://platform.openai.com/docs/api-reference/chat; fields that other servers add
(``reasoning_content``, ``reasoning``) are read where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_llmeval.clients._base import Request
from pytest_llmeval.clients._http import HttpReply, Wire
from pytest_llmeval.clients._keys import Keys
from pytest_llmeval.errors import ProviderError, did_you_mean
from pytest_llmeval.types import Response, Usage, as_text

if TYPE_CHECKING:
    import httpx

__all__ = ["DEFAULT_BASE_URL", "OpenAIBackend"]

DEFAULT_BASE_URL = "https://api.openai.com/v1"

_PATHS = {"chat": "/chat/completions", "completions": "/completions"}
_TRANSIENT = frozenset({408, 409, 429})
_FINISH = {"function_call": "tool_calls", "max_tokens": "length", "eos": "stop"}
#: Some models think aloud at the start of the text itself.
_THINKING = re.compile(r"\s*<think(?:ing)?>(.*?)</think(?:ing)?>\s*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIBackend:
    """Asks a server for a chat completion."""

    name: str
    model: str
    base_url: str
    keys: Keys
    wire: Wire
    params: Mapping[str, Any] = field(default_factory=dict)
    api: str = "chat"
    """chat, or completions: the plain continuation of the prompt's text."""
    takes_schema: bool = False
    """Whether the model is known to obey a JSON schema (``json_schema: true``)."""
    deadline_seconds: float = 300.0
    sends_prompt: bool = True

    def identity(self, request: Request) -> dict[str, Any]:
        """Return address, model, messages and parameters."""
        return {
            "provider": "openai",
            "base_url": self.base_url,
            "model": self.model,
            "api": self.api,
            "messages": request.prompt.to_json(),
            "params": self._params(request),
        }

    async def answer(self, request: Request) -> Response:
        """Return the reply.

        Raises:
            ProviderError: There is none; the server's own words are in the text.
        """
        import asyncio

        body = self.body(request)
        try:
            async with asyncio.timeout(self.deadline_seconds):
                reply = await self._send("POST", _PATHS[self.api], body)
                await self._raise_for(reply)
        except TimeoutError:
            message = (
                f"{self.base_url}: no reply within {self.deadline_seconds:g} s, all "
                f"attempts together (limits: deadline_seconds)"
            )
            raise ProviderError(message, is_transient=True) from None
        return self._response(reply, request)

    async def close(self) -> None:
        """Close the connections."""
        await self.wire.close()

    def body(self, request: Request) -> dict[str, Any]:
        """Return what is sent: the model, the messages, the parameters."""
        asked: dict[str, Any] = (
            {"prompt": request.prompt.text}
            if self.api == "completions"
            else {"messages": request.prompt.to_json()}
        )
        return {"model": self.model, **asked, **self._params(request)}

    def _params(self, request: Request) -> dict[str, Any]:
        """Return the parameters, a schema among them where the model takes one."""
        params = {**self.params, **request.params}
        if self.takes_schema and request.schema is not None:
            schema = {"name": "reply", "strict": True, "schema": request.schema}
            params["response_format"] = {"type": "json_schema", "json_schema": schema}
        return params

    async def _send(self, method: str, path: str, body: Any = None) -> HttpReply:
        url = self.base_url.rstrip("/") + path
        try:
            return await self.wire.send(method, url, body=body, sign=self._sign)
        except ProviderError as exc:
            raise self._clean(exc) from None

    def _sign(self, request: httpx.Request) -> httpx.Request:
        request.headers["content-type"] = "application/json"
        if (key := self.keys.key) is not None:
            request.headers["authorization"] = f"Bearer {key.reveal()}"
        for name, value in self.keys.headers.items():
            request.headers[name] = value.reveal()
        return request

    async def _raise_for(self, reply: HttpReply) -> None:
        """Raise what a reply that is no completion says."""
        problem = _error_of(reply.data)
        if reply.status < 400 and problem is None:
            return
        status = reply.status if reply.status >= 400 else _status_in(problem)
        said = _sentence(problem) or _body_text(reply)
        text = f"{self.name}: {_headline(status)}: {said}"
        if status in {401, 403}:
            text += f" ({self.keys.origin})"
        if status == 404:
            text += await self._models_there_are()
        raise self._clean(
            ProviderError(
                text, status=status, is_transient=status in _TRANSIENT or status >= 500
            )
        )

    async def _models_there_are(self) -> str:
        """Return the models the server lists, as the end of an error text."""
        try:
            reply = await self._send("GET", "/models")
        except ProviderError:
            return ""
        data = reply.data.get("data") if isinstance(reply.data, Mapping) else None
        if reply.status >= 400 or not isinstance(data, list):
            return f"; is {self.base_url!r} the right base_url? It lists no models"
        names = [str(item["id"]) for item in data if _has(item, "id")]
        listed = ", ".join(names[:20]) or "none"
        return f"{did_you_mean(self.model, names)}; models there are: {listed}"

    def _response(self, reply: HttpReply, request: Request) -> Response:
        data = reply.data
        if not isinstance(data, Mapping):
            text = f"{self.name}: the reply is not JSON: {_body_text(reply)}"
            raise self._clean(ProviderError(text, status=reply.status))
        choices = data.get("choices")
        if not isinstance(choices, list) or not choices or not _has(choices[0]):
            model = data.get("model") or self.model
            text = f"{self.name}: the reply of {model!r} has no choices"
            raise self._clean(ProviderError(text, status=reply.status))
        choice = choices[0]
        message = choice.get("message")
        if not isinstance(message, Mapping):
            message = {"content": choice.get("text")}  # a plain completion
        text, reasoning = _text_and_reasoning(message)
        finish = choice.get("finish_reason")
        calls = message.get("tool_calls")
        return Response(
            text=text,
            messages=request.prompt.messages,
            model=str(data.get("model") or self.model),
            provider="openai",
            finish_reason=_FINISH.get(finish, finish) if finish else None,
            usage=usage_of(data.get("usage")),
            latency_seconds=reply.seconds,
            tool_calls=tuple(calls) if isinstance(calls, list) else (),
            refusal=message.get("refusal"),
            reasoning=reasoning,
            logprobs=choice.get("logprobs"),
            raw=data,
        )

    def _clean(self, error: ProviderError) -> ProviderError:
        """Return the error without any secret: servers like to echo a wrong key."""
        reason = self.keys.redactor.text(error.reason)
        error.reason = reason
        error.args = (reason,)
        return error


def usage_of(data: Any) -> Usage | None:
    """Return the tokens a reply reports, None when it reports none."""
    if not isinstance(data, Mapping):
        return None
    prompt = data.get("prompt_tokens_details") or {}
    completion = data.get("completion_tokens_details") or {}
    return Usage(
        input_tokens=_count(data.get("prompt_tokens")),
        output_tokens=_count(data.get("completion_tokens")),
        cached_tokens=_count(prompt.get("cached_tokens")),
        reasoning_tokens=_count(completion.get("reasoning_tokens")),
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _has(value: Any, key: str | None = None) -> bool:
    return isinstance(value, Mapping) and (key is None or key in value)


def _text_and_reasoning(message: Mapping[str, Any]) -> tuple[str, str | None]:
    content = message.get("content")
    if isinstance(content, list):  # parts: texts, and what is not ours to read
        parts = [part.get("text") for part in content if _has(part)]
        content = "".join(part for part in parts if isinstance(part, str))
    text = as_text(content)
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    if reasoning is None and (match := _THINKING.match(text)):
        return text[match.end() :], match[1].strip()
    return text, as_text(reasoning) if reasoning is not None else None


def _error_of(data: Any) -> Any:
    """Return the error object of a body; gateways send one with status 200 too."""
    if not isinstance(data, Mapping):
        return None
    return data.get("error") or (data.get("detail") if "choices" not in data else None)


def _sentence(problem: Any) -> str:
    if isinstance(problem, Mapping):
        message = problem.get("message") or problem.get("type") or problem
        return as_text(message)
    return as_text(problem)


def _status_in(problem: Any) -> int:
    """Return the status an error object names, 500 when it names none."""
    code = problem.get("code") if isinstance(problem, Mapping) else None
    if isinstance(code, str) and code.isdigit():
        code = int(code)
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def _body_text(reply: HttpReply) -> str:
    text = " ".join(reply.text.split())
    return repr(text if len(text) <= 200 else text[:197] + "...") if text else "nothing"


def _headline(status: int) -> str:
    return {
        400: "the server refused the request (400)",
        401: "the server refused the key (401)",
        403: "the key may not do this (403)",
        404: "no such model or address (404)",
        429: "too many requests (429)",
    }.get(status, f"the server answered {status}")

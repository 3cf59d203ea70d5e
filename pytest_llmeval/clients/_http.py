"""The wire: JSON over HTTP, one connection a slot.

One shared ``httpx.AsyncClient`` is a trap: its pool looks at every connection on each
request (2,070 calls a second at 10 in flight, 231 at 200). A transport with a single
connection for each slot, all over one TLS context, is as fast at any width. And below
the client there is nothing that logs addresses or keeps cookies.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pytest_llmeval.clients._failures import failure, too_late, too_long
from pytest_llmeval.clients._logs import CleanLog
from pytest_llmeval.clients._transport import proxy_of, tls_context, transport
from pytest_llmeval.errors import ConfigError

if TYPE_CHECKING:
    import asyncio
    import ssl

    import httpx

    from pytest_llmeval.clients._transport import Transport

__all__ = ["HttpReply", "Wire", "encoded"]

#: Bytes of a body, decompressed: a large batch of vectors has a tenth of it.
LONGEST: Final = 128 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """What came back: the status, headers in lower case, the body read as JSON."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    data: Any
    """None when the body is not JSON."""
    seconds: float

    @property
    def text(self) -> str:
        """The body as text, for people."""
        return self.content.decode("utf-8", "backslashreplace")


@dataclass(slots=True, kw_only=True)
class Wire:
    """Sends requests over at most `width` connections to one server.

    Made anywhere, used on one event loop until it is closed.
    """

    width: int = 10
    timeout_seconds: float = 60.0
    """Between any two bytes."""
    deadline_seconds: float = 300.0
    """Of a request; waiting for a free connection is no part of it."""
    ca_bundle: str | None = None
    uses_proxy: bool = True
    """Whether the environment's proxies count."""
    log: CleanLog | None = None
    """Cleans what the library below logs."""
    _idle: list[Transport] = field(default_factory=list)
    _all: list[Transport] = field(default_factory=list)
    _free: asyncio.Semaphore | None = None
    _tls: ssl.SSLContext | None = None
    _proxy: str | None = field(default=None, repr=False)
    """Looked for with the first connection: all environment variables are read."""

    async def send(
        self,
        method: str,
        url: str,
        *,
        body: Any = None,
        sign: Callable[[httpx.Request], httpx.Request],
    ) -> HttpReply:
        """Return the reply, whatever its status.

        Args:
            method: GET, POST, …
            url: Absolute address.
            body: Sent as JSON, None for no body.
            sign: Returns the request with keys and headers on it: they never stand in
                a local variable that a traceback could show.

        Raises:
            ProviderError: No reply: no connection, no answer in time, TLS trouble.
            ConfigError: The body is no JSON, or the environment's proxy or the CA
                bundle can't be used.
        """
        import asyncio

        import httpx

        content = b"" if body is None else encoded(body)
        async with self._slot(url) as slot:
            try:
                async with asyncio.timeout(self.deadline_seconds):
                    return await self._exchanged(slot, method, url, content, sign)
            except TimeoutError:
                raise too_late(url, self.deadline_seconds) from None
            except httpx.HTTPError as exc:
                raise failure(exc, url, wire=self) from None

    async def _exchanged(
        self,
        slot: Transport,
        method: str,
        url: str,
        content: bytes,
        sign: Callable[[httpx.Request], httpx.Request],
    ) -> HttpReply:
        """Return the reply, read whole.

        A server may close a connection it had promised to keep. When one that was in
        use before dies before the first byte, the request had not been read: it goes
        out anew, once, at once.
        """
        import httpx

        def request() -> httpx.Request:
            timeout = httpx.Timeout(self.timeout_seconds).as_dict()
            extensions = {"timeout": timeout}
            return sign(
                httpx.Request(
                    method, _parsed(url), content=content, extensions=extensions
                )
            )

        started = time.perf_counter()
        try:
            reply = await slot.handle_async_request(request())
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            if slot.is_new:
                raise
            started = time.perf_counter()
            reply = await slot.handle_async_request(request())
        try:
            content = await _content(reply, url)
        finally:
            # Also when its compression was broken: the connection would stay taken.
            await reply.aclose()
        return _read(reply, content, time.perf_counter() - started)

    async def close(self) -> None:
        """Close every connection."""
        for slot in self._all:
            await slot.aclose()
        if self.log is not None:
            self.log.remove()
        self._all.clear()
        self._idle.clear()
        self._free = None

    @asynccontextmanager
    async def _slot(self, url: str) -> AsyncIterator[Transport]:
        import asyncio

        if self._free is None:
            self._free = asyncio.Semaphore(self.width)
        async with self._free:
            slot = self._idle.pop() if self._idle else self._new_slot(url)
            try:
                yield slot
            finally:
                self._idle.append(slot)

    def _new_slot(self, url: str) -> Transport:
        if self.log is not None:
            self.log.install()
        if not self._all and self.uses_proxy:
            self._proxy = proxy_of(url)
        is_plain = self._proxy is None and urlsplit(url).scheme == "http"
        # To make one takes its time; a file that is named is read in any case.
        if self._tls is None and not (is_plain and self.ca_bundle is None):
            self._tls = tls_context(self.ca_bundle)
        self._all.append(transport(self._tls, self._proxy))
        return self._all[-1]


@lru_cache(maxsize=64)
def _parsed(url: str) -> httpx.URL:
    """Return an address taken apart: the same few, again and again."""
    import httpx

    return httpx.URL(url)


def encoded(body: Any) -> bytes:
    """Return a body as it is sent.

    Raises:
        ConfigError: It is no JSON.
    """
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as exc:
        message = f"what is to be sent is not JSON ({exc}): look at the model's params"
        raise ConfigError(message) from exc


async def _content(reply: httpx.Response, url: str) -> bytes:
    """Return a body whole: a few compressed bytes may stand for more than fits."""
    pieces, size = [], 0
    async for piece in reply.aiter_bytes():
        pieces.append(piece)
        size += len(piece)
        if size > LONGEST:
            raise too_long(url, LONGEST)
    return b"".join(pieces)


def _read(reply: httpx.Response, content: bytes, seconds: float) -> HttpReply:
    return HttpReply(
        status=reply.status_code,
        headers={name.lower(): value for name, value in reply.headers.items()},
        content=content,
        data=_json(content, reply.charset_encoding),
        seconds=seconds,
    )


def _json(content: bytes, charset: str | None) -> Any:
    """Return a body's value: UTF-8 or -16 by itself, else as its header says."""
    try:
        return json.loads(content)
    except UnicodeDecodeError:
        if charset is None:
            return None
    except (ValueError, RecursionError):
        return None
    try:
        return json.loads(content.decode(charset))
    except (ValueError, LookupError, RecursionError):
        return None

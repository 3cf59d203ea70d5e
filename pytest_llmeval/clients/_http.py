"""The wire: JSON over HTTP, one connection a slot.

One shared ``httpx.AsyncClient`` is a trap: its pool looks at every connection on each
request (2,070 calls a second at 10 in flight, 231 at 200). A client with a single
connection for each slot, all over one TLS context, gives 2,600 at any width.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_llmeval.errors import ConfigError, ProviderError

if TYPE_CHECKING:
    import asyncio
    import ssl

    import httpx

__all__ = ["HttpReply", "Wire"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """What came back: the status, headers in lower case, the body read as JSON."""

    status: int
    headers: Mapping[str, str]
    text: str
    data: Any
    """None when the body is not JSON."""
    seconds: float


@dataclass(slots=True)
class _Slot:
    """A client with one connection, and whether that has been used."""

    client: httpx.AsyncClient
    is_used: bool = False


@dataclass(slots=True, kw_only=True)
class Wire:
    """Sends requests over at most `width` connections.

    Made on the loop thread and used there alone.
    """

    width: int = 10
    timeout_seconds: float = 60.0
    """Of one attempt, between any two bytes."""
    ca_bundle: str | None = None
    _idle: list[_Slot] = field(default_factory=list)
    _all: list[_Slot] = field(default_factory=list)
    _free: asyncio.Semaphore | None = None
    _tls: ssl.SSLContext | None = None

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
            sign: Puts keys and headers on the request: they never stand in a local
                variable that a traceback could show.

        Raises:
            ProviderError: No reply: no connection, no answer in time, TLS trouble.
        """
        import httpx

        content = None if body is None else json.dumps(body).encode()
        async with self._slot() as slot:
            request = slot.client.build_request(method, url, content=content)
            started = time.perf_counter()
            try:
                reply = await self._begun(slot, request, sign)
                await reply.aread()
            except httpx.HTTPError as exc:
                raise self._translated(exc, url) from None
            return _read(reply, time.perf_counter() - started)

    async def _begun(
        self,
        slot: _Slot,
        request: httpx.Request,
        sign: Callable[[httpx.Request], httpx.Request],
    ) -> httpx.Response:
        """Return the reply with its headers read.

        A server may close a connection it had promised to keep. When one that was in
        use before dies before the first byte, the request had not been read: it goes
        out anew, once, at once.
        """
        import httpx

        was_used, slot.is_used = slot.is_used, True
        try:
            return await slot.client.send(request, auth=sign, stream=True)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            if not was_used:
                raise
        return await slot.client.send(request, auth=sign, stream=True)

    async def close(self) -> None:
        """Close every connection."""
        for slot in self._all:
            await slot.client.aclose()
        self._all.clear()
        self._idle.clear()

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[_Slot]:
        import asyncio

        if self._free is None:
            self._free = asyncio.Semaphore(self.width)
        async with self._free:
            slot = self._idle.pop() if self._idle else self._new_slot()
            try:
                yield slot
            finally:
                self._idle.append(slot)

    def _new_slot(self) -> _Slot:
        import httpx

        if self._tls is None:
            self._tls = self._context()
        client = httpx.AsyncClient(
            verify=self._tls,
            timeout=self.timeout_seconds,
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1),
            follow_redirects=False,
        )
        self._all.append(_Slot(client))
        return self._all[-1]

    def _context(self) -> ssl.SSLContext:
        import ssl

        import httpx

        if self.ca_bundle is None:
            return httpx.create_ssl_context()
        try:
            return ssl.create_default_context(cafile=self.ca_bundle)
        except (OSError, ssl.SSLError) as exc:
            message = f"ca_bundle {self.ca_bundle!r} can't be read: {exc}"
            raise ConfigError(message) from exc

    def _translated(self, exc: httpx.HTTPError, url: str) -> ProviderError:
        import httpx

        if isinstance(exc, httpx.ConnectTimeout):
            return _no_reply(url, f"no connection within {self.timeout_seconds:g} s")
        if isinstance(exc, httpx.TimeoutException):
            what = f"no reply within {self.timeout_seconds:g} s (timeout_seconds)"
            return _no_reply(url, what)
        if "CERTIFICATE" in str(exc).upper():
            hint = "for a company's own authority give the entry ca_bundle: PATH"
            return _no_reply(url, f"the certificate is not trusted ({exc}); {hint}")
        if isinstance(exc, httpx.RemoteProtocolError | httpx.ReadError):
            return _no_reply(url, f"the server closed the connection ({exc})")
        if isinstance(exc, httpx.ConnectError):
            hint = "is the server running, and base_url right?"
            return _no_reply(url, f"could not connect ({exc}); {hint}")
        return _no_reply(url, f"{type(exc).__name__}: {exc}")


def _no_reply(url: str, what: str) -> ProviderError:
    return ProviderError(f"{url.partition('?')[0]}: {what}", is_transient=True)


def _read(reply: httpx.Response, seconds: float) -> HttpReply:
    # JSON is UTF-8 whatever a header says; bad bytes must not raise far from here.
    text = reply.content.decode("utf-8", "backslashreplace")
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    return HttpReply(
        status=reply.status_code,
        headers={name.lower(): value for name, value in reply.headers.items()},
        text=text,
        data=data,
        seconds=seconds,
    )

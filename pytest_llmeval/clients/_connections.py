"""httpx's transports with one connection each, which tell whether they opened it anew."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import httpcore
import httpx

from pytest_llmeval.clients._network import Network

__all__ = ["Direct", "Proxied"]

#: A connection that has not been used for so long is not used any more: servers close
#: theirs, mostly later. httpx does so too.
_KEPT_SECONDS: Final = 5.0


class Direct(httpx.AsyncBaseTransport):
    """One connection to one server, opened when it is needed.

    Args:
        tls: For an address of https.
    """

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self._tls = tls
        self._connection: httpcore.AsyncHTTPConnection | None = None
        self.is_new = False
        """Whether the connection was opened for the last request."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the reply, its body still to be read."""
        at = request.url
        url = httpcore.URL(
            scheme=at.raw_scheme, host=at.raw_host, port=at.port, target=at.raw_path
        )
        connection = await self._opened(url.origin)
        asked = httpcore.Request(
            request.method,
            url,
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _told():
            reply = await connection.handle_async_request(asked)
        return httpx.Response(
            reply.status,
            headers=reply.headers,
            stream=_Body(reply),
            extensions=reply.extensions,
        )

    async def aclose(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.aclose()
            self._connection = None

    async def _opened(self, origin: httpcore.Origin) -> httpcore.AsyncHTTPConnection:
        kept = self._connection
        self.is_new = kept is None or not _is_good(kept, origin)
        if kept is not None and not self.is_new:
            return kept
        await self.aclose()
        self._connection = httpcore.AsyncHTTPConnection(
            origin,
            ssl_context=self._tls,
            keepalive_expiry=_KEPT_SECONDS,
            network_backend=Network(),
        )
        return self._connection


class Proxied(httpx.AsyncHTTPTransport):
    """One connection to a server behind a proxy, as httpx makes it.

    Args:
        tls: For an address of https.
        proxy: Address of the proxy.
    """

    def __init__(self, tls: ssl.SSLContext | None, proxy: str) -> None:
        super().__init__(
            verify=tls or True,
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1),
            trust_env=False,
            proxy=httpx.Proxy(proxy),
        )
        self.is_new = False
        """Whether the connection was opened for the last request."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the reply, its body still to be read."""
        self.is_new = False
        request.extensions = {**request.extensions, "trace": self._hear}
        return await super().handle_async_request(request)

    async def _hear(self, event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.started":
            self.is_new = True


def _is_good(kept: httpcore.AsyncHTTPConnection, origin: httpcore.Origin) -> bool:
    """Return whether a connection can take a further request."""
    is_its = kept.can_handle_request(origin)
    return is_its and kept.is_available() and not kept.has_expired()


class _Body(httpx.AsyncByteStream):
    """The body of a reply, with httpx's exceptions."""

    def __init__(self, reply: httpcore.Response) -> None:
        self._reply = reply

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _told():
            async for piece in self._reply.aiter_stream():
                yield piece

    async def aclose(self) -> None:
        with _told():
            await self._reply.aclose()


@contextmanager
def _told() -> Iterator[None]:
    """Tell exceptions of httpcore as httpx does: by the same names."""
    try:
        yield
    except (
        httpcore.TimeoutException,
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.UnsupportedProtocol,
    ) as exc:
        raise getattr(httpx, type(exc).__name__)(str(exc)) from exc

"""TCP for httpcore, over asyncio itself.

httpcore's own network goes by anyio: twelve cancel scopes a request, a system call for
headers and another for the body, a third to see whether a kept connection still lives.
Here a request is one write, and a connection knows by itself that it has ended.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from collections.abc import Iterable
from typing import Any, Final

import httpcore

__all__ = ["Network"]

#: Bytes to be sent that wait for more, which mostly follow at once: headers for the body.
_HELD: Final = 64 << 10
#: Bytes received that nobody has read; then the server waits.
_MOST_UNREAD: Final = 1 << 20
#: Until the next address of a name is tried too (RFC 8305, section 5).
_NEXT_ADDRESS_SECONDS: Final = 0.25


class Network(httpcore.AsyncNetworkBackend):
    """Opens connections on the running loop of asyncio."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Return a new connection; see httpcore, which gives no further arguments.

        Raises:
            httpcore.ConnectTimeout: There was none in time.
            httpcore.ConnectError: There is none, by the OSError it comes from.
        """
        try:
            async with asyncio.timeout(timeout):
                stream = await _connected(host, port)
        except TimeoutError as exc:
            raise httpcore.ConnectTimeout(str(exc)) from exc
        except OSError as exc:
            raise httpcore.ConnectError(str(exc)) from _single(exc)
        return stream

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


async def _connected(host: str, port: int) -> _Stream:
    loop = asyncio.get_running_loop()
    # Loops of others, which a suite may have set as its own (uvloop), know no race.
    if isinstance(loop, asyncio.BaseEventLoop):
        try:
            _, stream = await loop.create_connection(
                _Stream, host, port, happy_eyeballs_delay=_NEXT_ADDRESS_SECONDS
            )
        except IndexError:
            # All that asyncio says after a race of addresses that ended in no OSError,
            # as where sockets are refused (pytest-socket). One by one, it is said.
            pass
        else:
            return stream
    _, stream = await loop.create_connection(_Stream, host, port)
    return stream


class _Stream(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """One connection: who reads or writes waits for what asyncio tells."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._held: list[bytes] = []
        self._held_size = 0
        self._unread = bytearray()
        self._is_paused = False
        """The server is to wait."""
        self._has_ended = False
        """Nothing more will come."""
        self._is_full = False
        """What was written has not gone out."""
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    # --- what asyncio tells ----------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Keep bytes for who reads."""
        self._unread += data
        if len(self._unread) > _MOST_UNREAD and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Note that the server says no more."""
        self._has_ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that there is no connection any more."""
        self._has_ended, self._is_full = True, False
        self._error = self._error or exc
        self._wake()

    def pause_writing(self) -> None:
        """Note that the server is slow to take what is sent."""
        self._is_full = True

    def resume_writing(self) -> None:
        """Note that it took it."""
        self._is_full = False
        self._wake()

    # --- what httpcore asks ----------------------------------------------------------

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what came, at most so many bytes; none when the server has ended.

        Raises:
            httpcore.ReadTimeout: Nothing came in time.
            httpcore.ReadError: The connection broke.
        """
        self._send()
        while not self._unread and not self._has_ended:
            await self._change(timeout, httpcore.ReadTimeout)
        if self._unread:
            data = bytes(self._unread[:max_bytes])
            del self._unread[:max_bytes]
            if self._is_paused and len(self._unread) <= _MOST_UNREAD:
                self._is_paused = False
                if not self._transport.is_closing():
                    self._transport.resume_reading()
            return data
        if self._error is not None:
            raise httpcore.ReadError(str(self._error)) from self._error
        return b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes, a few of them with the next ones, or before the next reading.

        Raises:
            httpcore.WriteTimeout: The server did not take them in time.
            httpcore.WriteError: The connection is lost.
        """
        if self._has_ended:
            raise httpcore.WriteError(str(self._error or "the connection is closed"))
        self._held.append(buffer)
        self._held_size += len(buffer)
        if self._held_size > _HELD:
            self._send()
            while self._is_full:
                await self._change(timeout, httpcore.WriteTimeout)

    async def aclose(self) -> None:
        """Close the connection, at once."""
        self._transport.abort()
        await asyncio.sleep(0)  # asyncio closes the socket in its next turn

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Speak TLS from here on.

        Raises:
            httpcore.ConnectTimeout: The server did not agree in time.
            httpcore.ConnectError: It can't be spoken, or not with this server.
        """
        try:
            async with asyncio.timeout(timeout):
                self._transport = await self._loop.start_tls(
                    self._transport, self, ssl_context, server_hostname=server_hostname
                )
        except BaseException as exc:
            await self.aclose()
            if isinstance(exc, TimeoutError):
                raise httpcore.ConnectTimeout(str(exc)) from exc
            if isinstance(exc, OSError):  # an SSLError is one
                raise httpcore.ConnectError(str(exc)) from exc
            raise
        return self

    def get_extra_info(self, info: str) -> Any:
        """Return what httpcore asks of a connection."""
        if info == "is_readable":
            return bool(self._unread) or self._has_ended
        name = {"client_addr": "sockname", "server_addr": "peername"}.get(info, info)
        return self._transport.get_extra_info(name)

    # --- what both come to -----------------------------------------------------------

    def _send(self) -> None:
        if self._held:
            data = self._held[0] if len(self._held) == 1 else b"".join(self._held)
            self._held.clear()
            self._held_size = 0
            self._transport.write(data)

    async def _change(
        self, seconds: float | None, late: type[httpcore.TimeoutException]
    ) -> None:
        """Wait until asyncio tells something."""
        waiter = self._waiter = self._loop.create_future()
        timer = None
        if seconds is not None:
            timer = self._loop.call_later(seconds, _fail, waiter, late)
        try:
            await waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _fail(waiter: asyncio.Future[None], late: type[Exception]) -> None:
    if not waiter.done():
        waiter.set_exception(late())


def _single(error: OSError) -> OSError:
    """Return what all addresses of a name failed with, where it is one and the same.

    asyncio, until Python 3.12, gives the errors of several addresses as one text.
    """
    codes = set(re.findall(r"\[(?:Errno|WinError) (\d+)\]", str(error)))
    if error.errno is None and len(codes) == 1:
        code = int(codes.pop())
        return OSError(code, os.strerror(code))
    return error

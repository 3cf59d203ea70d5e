"""No reply at all: what happened on the wire, in words."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from pytest_llmeval.clients._transport import proxy_of
from pytest_llmeval.errors import ProviderError

if TYPE_CHECKING:
    import httpx

__all__ = ["failure", "too_late", "too_long"]


class _Settings(Protocol):
    """What of a wire an error text speaks of."""

    timeout_seconds: float
    ca_bundle: str | None
    uses_proxy: bool


def too_late(url: str, seconds: float) -> ProviderError:
    """Return the error of a reply that was not whole at its deadline."""
    return _error(
        url, f"no whole reply within {seconds:g} s (limits: deadline_seconds)"
    )


def too_long(url: str, most: int) -> ProviderError:
    """Return the error of a body that does not end."""
    what = (
        f"the reply is longer than {most >> 20} MB, decompressed, and was not read on"
    )
    return _error(url, what, is_transient=False)


def failure(exc: httpx.HTTPError, url: str, *, wire: _Settings) -> ProviderError:
    """Return what a person should read of an exception of the HTTP library."""
    import httpx

    seconds = f"{wire.timeout_seconds:g} s (limits: timeout_seconds)"
    if isinstance(exc, httpx.ConnectTimeout):
        return _error(url, f"no connection within {seconds}{_by(url, wire)}")
    if isinstance(exc, httpx.TimeoutException):
        return _error(url, f"no reply within {seconds}")
    if isinstance(exc, httpx.ProxyError):
        return _error(url, f"the proxy refused ({exc}){_by(url, wire)}")
    if isinstance(exc, httpx.ConnectError):
        what = _unconnected(exc, url, wire) + _by(url, wire)
        # No certificate becomes trusted by asking again.
        return _error(url, what, is_transient="SSL" not in str(exc))
    if isinstance(exc, httpx.RemoteProtocolError):
        return _error(url, _broken(str(exc)))
    if isinstance(exc, httpx.DecodingError):
        what = f"the reply is not compressed as its content-encoding says ({exc})"
        return _error(url, what, is_transient=False)
    if isinstance(exc, httpx.NetworkError):
        return _error(url, f"the server closed the connection ({_cause(exc)})")
    return _error(url, f"the request can't be sent ({_cause(exc)})", is_transient=False)


def _error(url: str, what: str, *, is_transient: bool = True) -> ProviderError:
    return ProviderError(f"{url}: {what}", is_transient=is_transient)


def _unconnected(exc: httpx.HTTPError, url: str, wire: _Settings) -> str:
    said = str(exc)
    if "CERTIFICATE" in said.upper():
        hint = (
            f"it is not signed by an authority of ca_bundle {wire.ca_bundle!r}"
            if wire.ca_bundle
            else "for an authority of your own give the model's entry ca_bundle: PATH, "
            "a PEM file"
        )
        return f"the server's certificate is not trusted ({said}); {hint}"
    if "SSL" in said:
        return f"no TLS with this server ({said}); does it speak http:// alone?"
    causes = list(_causes(exc))
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return (
            "could not connect: the connection was refused, so nothing listens there; "
            "is the server running, and base_url right?"
        )
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        host = urlsplit(url).hostname
        return f"could not connect: the name {host!r} is not known; is base_url right?"
    hint = "is the server running, and base_url right?"
    return f"could not connect ({_cause(exc)}); {hint}"


def _broken(said: str) -> str:
    if "without sending a response" in said:
        return "the server closed the connection without a reply"
    if "incomplete" in said or "closed connection" in said:
        return f"the reply broke off ({said})"
    return f"what answers is no HTTP server ({said}); is base_url right?"


def _by(url: str, wire: _Settings) -> str:
    """Return that a proxy stood between, if one did."""
    proxy = proxy_of(url) if wire.uses_proxy else None
    if proxy is None:
        return ""
    host = urlsplit(proxy if "://" in proxy else f"//{proxy}").hostname
    return (
        f"; it goes by the environment's proxy, host {host!r} (NO_PROXY by-passes it)"
    )


def _cause(exc: BaseException) -> str:
    """Return what is said deepest: the outer exceptions repeat it, or say nothing."""
    said = [str(cause) for cause in _causes(exc) if str(cause)]
    return said[-1] if said else type(exc).__name__


def _causes(exc: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what led to it, groups opened."""
    found: Any = exc
    while found is not None:
        yield found
        if isinstance(found, BaseExceptionGroup):
            for inner in found.exceptions:
                yield from _causes(inner)
            return
        found = found.__cause__ or found.__context__

"""What a connection is made with: the TLS context, and the environment's proxy."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from pytest_llmeval.config.environment import steadily
from pytest_llmeval.errors import ConfigError

if TYPE_CHECKING:
    import ssl

    from pytest_llmeval.clients._connections import Direct, Proxied

    Transport = Direct | Proxied

__all__ = [
    "proxy_of",
    "proxy_secrets",
    "system_proxy_secrets",
    "tls_context",
    "transport",
]

_PROXY_VARIABLES: Final = tuple(
    name
    for scheme in ("http", "https", "all")
    for name in (f"{scheme}_proxy", f"{scheme}_proxy".upper())
)


def tls_context(ca_bundle: str | None) -> ssl.SSLContext:
    """Return a context that trusts the authorities of a file.

    Args:
        ca_bundle: The file; None for those everybody trusts, or the environment's
            own (SSL_CERT_FILE).

    Raises:
        ConfigError: The file can't be read.
    """
    import ssl

    import httpx

    try:
        if ca_bundle is not None:
            return ssl.create_default_context(cafile=ca_bundle)
        return httpx.create_ssl_context()
    except OSError as exc:  # an SSLError is one
        variables = [
            f"${v}" for v in ("SSL_CERT_FILE", "SSL_CERT_DIR") if v in os.environ
        ]
        whose = f"ca_bundle {ca_bundle!r}" if ca_bundle else " or ".join(variables)
        message = (
            f"{whose or 'the list of authorities'} can't be used ({exc}): it is a file "
            f"of certificates in PEM form"
        )
        raise ConfigError(message) from exc


def proxy_of(url: str) -> str | None:
    """Return the proxy that the environment names for an address.

    HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, in capitals or not.
    """
    parts = urlsplit(url)
    proxies = steadily(getproxies)
    if parts.hostname is None or steadily(lambda: proxy_bypass(parts.netloc)):
        return None
    return proxies.get(parts.scheme) or proxies.get("all")


def proxy_secrets() -> list[str]:
    """Return the passwords of the environment's proxies, also as they are written.

    Asked for every case, so it looks at the few variables there are, and not, as
    `getproxies` does, at the whole environment.
    """
    return _forms(os.environ.get(name, "") for name in _PROXY_VARIABLES)


def system_proxy_secrets() -> list[str]:
    """Return the passwords of all proxies there are now, those of the system too."""
    return _forms(steadily(getproxies).values())


def _forms(proxies: Iterable[str]) -> list[str]:
    passwords = map(_password, proxies)
    return [form for p in passwords if p for form in (p, unquote(p))]


def _password(proxy: str) -> str | None:
    try:
        return urlsplit(proxy).password
    except ValueError:
        return None


def transport(tls: ssl.SSLContext | None, proxy: str | None) -> Transport:
    """Return a transport with one connection.

    Args:
        tls: What it speaks TLS with; not needed for plain HTTP without a proxy.
        proxy: Address of a proxy before the server.

    Raises:
        ConfigError: The proxy is none that can be used.
    """
    import httpx

    from pytest_llmeval.clients._connections import Direct, Proxied

    if proxy is None:
        return Direct(tls)
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    try:
        return Proxied(tls, proxy)
    except (ImportError, ValueError, httpx.InvalidURL):
        # Its address may hold a password: neither it nor what httpx says is shown.
        scheme = proxy.partition("://")[0]
        hint = "; pip install 'httpx[socks]'" if scheme.startswith("socks") else ""
        message = (
            f"the proxy of scheme {scheme!r} that HTTPS_PROXY, HTTP_PROXY or ALL_PROXY "
            f"names can't be used{hint}; or name the server in NO_PROXY"
        )
        raise ConfigError(message) from None

"""Where an entry's requests go; what is secret of the address is put on last."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, unquote_plus, urlsplit

from pytest_llmeval.clients._keys import Secret, filled, variables_in
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.redact import MARK

__all__ = ["Address"]

#: Names of a query's parts that hold keys.
_KEY_NAMES = re.compile(
    r"(?:.*[-_])?(?:key|apikey|token|secret|password|sig|signature|code)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One ``name=value`` of a query."""

    name: str
    value: str

    @property
    def is_secret(self) -> bool:
        return bool(variables_in(self.value)) or bool(_KEY_NAMES.fullmatch(self.name))

    def shown(self) -> str:
        hides = self.is_secret and not variables_in(self.value)
        return f"{self.name}={MARK if hides else self.value}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Address:
    """A server's base URL. Made by `Address.of`."""

    model: str
    base: str
    """Up to the query, without a slash at its end."""
    _parts: tuple[_Part, ...] = ()

    @classmethod
    def of(cls, base_url: str, *, model: str) -> Self:
        """Return the address that an entry's base_url names.

        Args:
            base_url: ``https://host/v1``; its query may hold ``${ENV}``.
            model: The entry's name, for error texts.

        Raises:
            ConfigError: It is no address of a server.
        """
        base, _, query = base_url.partition("?")
        if problem := _problem(base):
            # Not shown whole: it may hold a key.
            message = f"{model!r}: base_url is no address of a server: {problem}"
            raise ConfigError(message)
        parts = [part.partition("=") for part in query.split("&") if part]
        return cls(
            model=model,
            base=base.rstrip("/"),
            _parts=tuple(_Part(name=name, value=value) for name, _, value in parts),
        )

    def __str__(self) -> str:
        """The address as it may be shown and written: no secret in it."""
        return self.shown_url("")

    __repr__ = __str__

    def url(self, path: str) -> str:
        """Return the address of a path below, as it may be shown."""
        return f"{self.base}{path}"

    def shown_url(self, path: str) -> str:
        """Return where a request goes, query and all, no secret in it."""
        path, _, own = path.partition("?")
        query = "&".join(filter(None, [*(part.shown() for part in self._parts), own]))
        return f"{self.base}{path}{'?' if query else ''}{query}"

    def query(self) -> Secret | None:
        """Return the query to send, None when there is none.

        Raises:
            ProviderError: A variable in it is not set.
        """
        if not self._parts:
            return None
        return Secret(
            "&".join(f"{p.name}={self._value(p).reveal()}" for p in self._parts)
        )

    def secrets(self) -> Iterable[str]:
        """Yield what is secret of the address, in the forms it may stand in."""
        import os

        for part in self._parts:
            for name in variables_in(part.value):
                yield os.environ.get(name, "")
            if part.is_secret and not variables_in(part.value):
                yield from (part.value, unquote_plus(part.value))

    def _value(self, part: _Part) -> Secret:
        """Return a part's value; what a variable holds is quoted, the rest is."""
        if not variables_in(part.value):
            return Secret(part.value)
        what = f"{self.model}: {part.name!r} in the query of base_url"
        return Secret(quote(filled(part.value, what=what).reveal(), safe=""))


def _problem(base: str) -> str | None:
    """Return what is wrong with an address up to its query, None when nothing is."""
    try:
        parts = urlsplit(base)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError as exc:  # a port that is no number, half a bracket
        return str(exc)
    if parts.username is not None:
        return (
            "it holds a user's name and password, which belong into headers: "
            '{Authorization: "Basic ${...}"}'
        )
    return _form_problem(base, parts.scheme, has_host=has_host)


def _form_problem(base: str, scheme: str, *, has_host: bool) -> str | None:
    if variables_in(base):
        return (
            f"in {base!r} a variable stands before the query; the address belongs to a "
            f"recording's key, so variables are filled in headers and the query alone"
        )
    if scheme not in {"http", "https"} or not has_host:
        return f"{base!r}; write http://HOST:PORT/v1 or https://HOST/v1"
    if any(character.isspace() or not character.isprintable() for character in base):
        return f"there is white space in {base!r}"
    if "#" in base:
        return f"{base!r} has a fragment (#), which no server gets"
    return None

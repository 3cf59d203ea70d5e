"""Keys and headers of an entry: read from the environment, never shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from pytest_llmeval.errors import ConfigError, ProviderError
from pytest_llmeval.redact import MARK, redact_headers

__all__ = ["Keys", "Secret", "filled", "variables_in", "with_scheme"]

_VARIABLE = re.compile(r"\$\{(\w+)\}")
#: What a header's name may be made of (RFC 9110, section 5.6.2).
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
#: Headers that a provider takes its key from.
_KEY_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "x-goog-api-key"})


class Secret:
    """A text that prints as stars: in a repr, a log, a traceback's local variables."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the text itself, for the request alone."""
        return self._value

    def __repr__(self) -> str:
        return "Secret('***')"


def with_scheme(header: str, key: str) -> str:
    """Return what a header says with a key: after the word Bearer, where it takes one."""
    return f"Bearer {key}" if header == "authorization" else key


def variables_in(text: str) -> list[str]:
    """Return the environment variables that a configured text names."""
    return _VARIABLE.findall(text)


def filled(text: str, *, what: str) -> Secret:
    """Return a configured text with its ``${ENV}`` filled in.

    Args:
        text: As configured.
        what: What it is, for error texts.

    Raises:
        ProviderError: A variable is not set.
    """
    for name in variables_in(text):
        if name not in os.environ:
            message = (
                f"{what} needs the environment variable {name}, which is not set "
                f"(.env files are not read)"
            )
            raise ProviderError(message)
    return Secret(_VARIABLE.sub(lambda match: os.environ[match[1]].strip(), text))


class Keys:
    """What signs the requests of one entry, read when the first one goes out.

    Not before: a run from recordings needs no key.

    Args:
        model: The entry's name, for error texts.
        variable: The environment variable that holds the key.
        headers: Header values as configured, with ``${ENV}`` in them.
        is_required: Whether there is no asking without a key.
    """

    def __init__(
        self,
        *,
        model: str,
        variable: str,
        headers: Mapping[str, str],
        is_required: bool,
    ) -> None:
        self._model = model
        self._variable = variable
        self._headers = dict(headers)
        self._is_required = is_required

    @classmethod
    def of(cls, value: str) -> Keys:
        """Return the keys of a server of ours, whose key never was a variable."""
        keys = cls(model="", variable="", headers={}, is_required=False)
        keys.key = Secret(value)
        return keys

    def check(self) -> None:
        """Refuse headers that no request could have.

        Raises:
            ConfigError: A header's name is none.
        """
        for name in self._headers:
            if not _TOKEN.fullmatch(name):
                message = (
                    f"{self._model!r}: {name!r} is no name of a header: letters, "
                    f"digits and hyphens"
                )
                raise ConfigError(message)

    @property
    def origin(self) -> str:
        """Where the key came from, for error texts."""
        if (name := self._own_header) is not None:
            return f"key from the entry's header {name}"
        if self.key is not None:
            made = "key made for this run"
            return f"key from ${self._variable}" if self._variable else made
        unset = f": ${self._variable} is not set" if self._variable else ""
        return (
            f"no key was sent{unset}; name the variable that holds it with api_key_env"
        )

    @cached_property
    def key(self) -> Secret | None:
        """The key, None when there is none and none is needed.

        Raises:
            ProviderError: There is none, or it can't be sent.
        """
        value = os.environ.get(self._variable, "").strip()
        if not value and self._is_required and self._own_header is None:
            message = (
                f"{self._model}: no key: the environment variable {self._variable} is "
                f"not set (.env files are not read); export it, name another one with "
                f"api_key_env, or give base_url for a server that needs none"
            )
            raise ProviderError(message)
        secret = Secret(value) if value else None
        self._refuse_unsendable(secret, f"the key in ${self._variable}")
        return secret

    @cached_property
    def headers(self) -> Mapping[str, Secret]:
        """The entry's own headers, their variables filled in.

        Raises:
            ProviderError: A variable is not set, or a value can't be sent.
        """
        found = {}
        for name, text in self._headers.items():
            what = f"the header {name!r}"
            found[name] = filled(text, what=f"{self._model}: {what}")
            self._refuse_unsendable(found[name], what)
        return found

    def shown(self, key_header: str) -> dict[str, str]:
        """Return the headers that sign a request, with the variables they are from.

        Args:
            key_header: The header the key goes into.
        """
        found = {}
        is_set = bool(self._variable) and bool(
            os.environ.get(self._variable, "").strip()
        )
        if is_set or (self._is_required and self._own_header is None):
            found[key_header] = with_scheme(key_header, f"${{{self._variable}}}")
        hidden = redact_headers(self._headers)
        for name, text in self._headers.items():
            shown = text if variables_in(text) else hidden[name]
            found = {k: v for k, v in found.items() if k.lower() != name.lower()}
            found[name] = shown
        return found

    def secrets(self) -> Iterable[str]:
        """Yield every secret of the entry, as far as they are set."""
        for name in (self._variable, *self._variables()):
            if value := os.environ.get(name):
                yield value
        shown = redact_headers(self._headers)
        for name, text in self._headers.items():
            if shown[name] == MARK and not variables_in(text):
                # Written into the file itself, perhaps after the word Bearer.
                yield from (text, text.split(" ")[-1])

    @property
    def _own_header(self) -> str | None:
        """The entry's own header that carries a key, None when there is none."""
        fitting = (name for name in self._headers if name.lower() in _KEY_HEADERS)
        return next(fitting, None)

    def _variables(self) -> Iterable[str]:
        for text in self._headers.values():
            yield from variables_in(text)

    def _refuse_unsendable(self, secret: Secret | None, what: str) -> None:
        """Refuse what a header can't carry: a line break, a curly quote from a page."""
        if secret is None:
            return
        bad = next((c for c in secret.reveal() if not " " <= c <= "~"), None)
        if bad is not None:
            message = (
                f"{self._model}: {what} holds the character {bad!r}, which no header "
                f"can carry: was it copied with quotes or a line break?"
            )
            raise ProviderError(message)

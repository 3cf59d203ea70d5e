"""Keys and headers of an entry: read from the environment, never shown."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cached_property

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.redact import Redactor

__all__ = ["Keys", "Secret"]

_VARIABLE = re.compile(r"\$\{(\w+)\}")


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

    @property
    def origin(self) -> str:
        """Where the key came from, for error texts."""
        if os.environ.get(self._variable, "").strip():
            return f"key from ${self._variable}"
        return f"no key: ${self._variable} is not set"

    @cached_property
    def key(self) -> Secret | None:
        """The key, None when there is none and none is needed.

        Raises:
            ProviderError: There is none.
        """
        value = os.environ.get(self._variable, "").strip()
        if not value and self._is_required:
            message = (
                f"{self._model}: no key: the environment variable {self._variable} is "
                f"not set (.env files are not read); export it, name another one with "
                f"api_key_env, or give base_url for a server that needs none"
            )
            raise ProviderError(message)
        return Secret(value) if value else None

    @cached_property
    def headers(self) -> Mapping[str, Secret]:
        """The entry's own headers, their variables filled in.

        Raises:
            ProviderError: A variable is not set.
        """
        return {name: self._filled(name, text) for name, text in self._headers.items()}

    @property
    def secrets(self) -> list[str]:
        """Every secret of the entry, as far as they are set."""
        names = [self._variable]
        for text in self._headers.values():
            names += _VARIABLE.findall(text)
        return [os.environ[name] for name in names if name in os.environ]

    @cached_property
    def redactor(self) -> Redactor:
        """Removes every secret of the entry."""
        return Redactor(self.secrets)

    def _filled(self, header: str, text: str) -> Secret:
        for name in _VARIABLE.findall(text):
            if name not in os.environ:
                message = (
                    f"{self._model}: the header {header!r} needs the environment "
                    f"variable {name}, which is not set (.env files are not read)"
                )
                raise ProviderError(message)
        return Secret(_VARIABLE.sub(lambda match: os.environ[match[1]], text))

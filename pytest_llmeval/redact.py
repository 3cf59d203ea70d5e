"""Secrets out of anything that is written or printed.

Only the values of configured secrets and of headers that carry keys: a prompt that
speaks of a password, or a parameter named ``max_tokens``, stays as it is.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, quote_plus

__all__ = ["MARK", "Redactor", "redact_headers"]

#: What stands where a secret stood.
MARK: Final = "[redacted]"

#: Shorter values ("test", "1234") also stand in texts that have nothing to hide.
_SHORTEST = 8
_KEY_HEADERS = frozenset(
    {
        "api-key",
        "authorization",
        "cookie",
        "proxy-authorization",
        "set-cookie",
        "x-api-key",
        "x-goog-api-key",
    }
)


class Redactor:
    """Removes the values of secrets, also where they stand quoted or encoded.

    Found are the value itself and its forms in URLs, JSON texts (twice encoded too),
    Python literals and base64, there also inside of a longer text (``user:secret``).

    Args:
        secrets: Values to remove; those under 8 characters are left alone.
    """

    __slots__ = ("_forms",)

    def __init__(self, secrets: Iterable[str]) -> None:
        # A key read from a file or a variable often ends in a newline, and is sent
        # without it.
        values = {form for secret in secrets for form in (secret, secret.strip())}
        found = {
            form
            for value in values
            if len(value) >= _SHORTEST
            for form in _forms_of(value)
        }
        self._forms = tuple(sorted(found, key=lambda form: (-len(form), form)))

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to remove."""
        return not self._forms

    def text(self, text: str) -> str:
        """Return `text` without the secrets."""
        spans = [
            span for form in self._forms if form in text for span in _places(text, form)
        ]
        return _without(text, spans) if spans else text

    def redact(self, value: Any) -> Any:
        """Return a JSON-like value without the secrets, in keys and values.

        Mappings come back as dicts, tuples as lists; what is not text stays.
        """
        return self._walk(value) if self._forms else value

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self._walk(key): self._walk(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._walk(item) for item in value]
        return value


def redact_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers without the values of those that carry keys."""
    return {
        name: MARK if name.strip().lower() in _KEY_HEADERS else value
        for name, value in headers.items()
    }


def _forms_of(secret: str) -> set[str]:
    """Return the texts a secret may stand as."""
    forms = {secret, *_base64_forms(secret.encode("utf-8", "surrogatepass"))}
    forms |= {quoted for form in forms for quoted in _url_forms(form)}
    for _ in range(2):  # arguments of a tool call are JSON within JSON
        forms |= {escaped for form in forms for escaped in _literal_forms(form)}
    return forms


def _url_forms(text: str) -> Iterator[str]:
    for safe in ("", "/", "/:@!$&'()*+,;="):
        quoted = quote(text, safe=safe, errors="surrogatepass")
        yield quoted
        yield _lower_hex(quoted)
    yield quote_plus(text, errors="surrogatepass")
    yield _lower_hex(quote_plus(text, errors="surrogatepass"))


def _lower_hex(quoted: str) -> str:
    first, *rest = quoted.split("%")
    return "%".join([first, *(part[:2].lower() + part[2:] for part in rest)])


def _literal_forms(text: str) -> Iterator[str]:
    for ascii_only in (True, False):
        escaped = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield escaped
        yield escaped.replace("/", "\\/")
    yield repr(text)[1:-1]


def _base64_forms(secret: bytes) -> Iterator[str]:
    """Yield the base64 of a secret alone, and what is fixed of it inside a longer one.

    Three bytes make four characters, so a secret inside has three forms; the characters
    at its ends that hold bits of its neighbours are left out.
    """
    for alphabet in (None, b"-_"):
        whole = b64encode(secret, alphabet).decode()
        yield whole
        yield whole.rstrip("=")
        for offset in range(3):
            shifted = b64encode(bytes(offset) + secret, alphabet).decode()
            first = (offset * 8 + 5) // 6
            yield shifted[first : (offset + len(secret)) * 8 // 6]


def _places(text: str, form: str) -> Iterator[tuple[int, int]]:
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        yield start, end
        start = text.find(form, end)


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """Return `text` with one mark for each stretch that spans cover.

    Two secrets may overlap: replacing one after the other would leave half a secret.
    """
    parts: list[str] = []
    kept_from = 0
    end_of_last = -1
    for start, end in sorted(spans):
        if start > end_of_last:
            parts += (text[kept_from:start], MARK)
        end_of_last = kept_from = max(end, end_of_last)
    return "".join([*parts, text[kept_from:]])

"""The fence around judged text: marker lines that nothing inside can forge.

Their token is a hash of the template and of every text in the prompt: the same prompt
has the same token, so that recordings replay, and a text that held it would change it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_llmeval.types import as_text

__all__ = ["Fenced", "are_whole", "fence_token", "fenced", "texts_in", "wrapped"]


def fence_token(template: str, texts: Iterable[str]) -> str:
    """Return a token of 16 hexadecimal digits that stands in none of the texts.

    Args:
        template: The judge's template.
        texts: Everything that comes from elsewhere: reply, question, reference, …
    """
    parts = [template, *texts]
    counter = 0
    while True:
        # Each text with its length: ("a", "b") and ("ab", "") are two prompts.
        digest = hashlib.sha256(str(counter).encode())
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(f"\0{len(data)}\0".encode())
            digest.update(data)
        token = digest.hexdigest()[:16]
        if not any(token in part for part in parts):
            return token
        counter += 1


def fenced(name: str, text: str, token: str) -> str:
    """Return `text` between marker lines, named by what it is."""
    return f"<<<{name} {token}>>>\n{text}\n<<<end of {name} {token}>>>"


class Fenced:
    """A text from elsewhere, as a variable of a template: prints in its fence.

    A template can ask whether there is anything and what it holds; it can't take a
    part of it, which would print without the marker lines.

    Args:
        name: What it is.
        text: The text.
        token: Of the prompt.
    """

    __slots__ = ("_name", "_text", "_token")

    def __init__(self, name: str, text: str, token: str) -> None:
        self._name = name
        self._text = text
        self._token = token

    def __str__(self) -> str:
        return fenced(self._name, self._text, self._token)

    def __repr__(self) -> str:
        return f"the {self._name}"

    def __bool__(self) -> bool:
        return bool(self._text)

    def __len__(self) -> int:
        return len(self._text)

    def __contains__(self, part: object) -> bool:
        return str(part) in self._text

    def __eq__(self, other: object) -> bool:
        return self._text == (other._text if isinstance(other, Fenced) else other)

    def __hash__(self) -> int:
        return hash(self._text)


class FencedItems:
    """A list or mapping of a caller's: its texts print in fences, one by one or as JSON.

    Args:
        name: What it is.
        items: The list or mapping.
        token: Of the prompt.
    """

    __slots__ = ("_items", "_name", "_token")

    def __init__(self, name: str, items: Any, token: str) -> None:
        self._name = name
        self._items = items
        self._token = token

    def __str__(self) -> str:
        return fenced(self._name, as_text(self._items), self._token)

    def __repr__(self) -> str:
        return f"the {self._name}"

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return (wrapped(self._name, item, self._token) for item in self._items)

    def __getitem__(self, key: Any) -> Any:
        return wrapped(self._name, self._items[key], self._token)

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Yield the keys and values of a mapping."""
        return (
            (wrapped(self._name, key, self._token), self[key]) for key in self._items
        )


def wrapped(name: str, value: Any, token: str) -> Any:
    """Return a value of the caller's with every text in it fenced."""
    if isinstance(value, str):
        return Fenced(name, value, token)
    if isinstance(value, Mapping | list | tuple):
        return FencedItems(name, value, token)
    return (
        value
        if isinstance(value, bool | int | float | None)
        else Fenced(name, as_text(value), token)
    )


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text that a value may print as."""
    yield as_text(value)
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)


def are_whole(prompt: str, token: str, names: Iterable[str]) -> bool:
    """Return whether every marker line of a prompt is as it was made, in pairs.

    Args:
        prompt: As rendered.
        token: Of its fences.
        names: What the fences may be of.
    """
    of_names = "|".join(map(re.escape, names))
    mark = re.compile(rf"<<<(end of )?({of_names}) {token}>>>")
    outside = []
    place = 0
    opened = None
    for found in mark.finditer(prompt):
        if opened is None:
            outside.append(prompt[place : found.start()])
        is_end = found[1] is not None
        if is_end != (opened is not None) or (is_end and opened != found[2]):
            return False
        opened = None if is_end else found[2]
        place = found.end()
    # Neither a rest of a mark nor a piece of the token.
    rest = "\n".join([*outside, prompt[place:]]).casefold()
    pieces = [token[:8], *(f"<<<{name.casefold()}" for name in names)]
    return opened is None and not any(piece in rest for piece in pieces)

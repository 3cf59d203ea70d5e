"""Vectors of texts, asked of servers with OpenAI's interface.

https://platform.openai.com/docs/api-reference/embeddings
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_llmeval.clients._completion import usage_of
from pytest_llmeval.clients._problem import body_text
from pytest_llmeval.clients._server import Server
from pytest_llmeval.clients._values import count_of, word_of
from pytest_llmeval.errors import ProviderError, UnscoredError
from pytest_llmeval.types import Response, Sent, packed_vector, unpacked_vector

__all__ = ["Embedder", "read_vectors", "without_embeddings"]

_PATH: Final = "/embeddings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedder:
    """Asks for the vectors of texts."""

    server: Server
    model: str
    params: Mapping[str, Any] = field(default_factory=dict)

    async def ask(self, texts: Sequence[str]) -> Response:
        """Return a response with the texts' vectors, in their order.

        Raises:
            ProviderError: The server refused, or sent something else.
        """
        reply = await self.server.ask(_PATH, self._body(texts))
        data = reply.data if isinstance(reply.data, Mapping) else {}
        try:
            vectors = _packed(_in_order(data, len(texts)))
        except ValueError as exc:
            what = f"the reply holds no vectors of {len(texts)} texts: {exc}; it is "
            raise self.server.unread(reply, what + body_text(reply)) from None
        return Response(
            text="",
            model=word_of(data.get("model")) or self.model,
            system_fingerprint=word_of(data.get("system_fingerprint")),
            embeddings=vectors,
            usage=usage_of(data.get("usage")),
            latency_seconds=reply.seconds,
        )

    def sent(self, texts: Sequence[str]) -> Sent:
        """Return what goes over the wire."""
        return self.server.shown("POST", _PATH, self._body(texts))

    def _body(self, texts: Sequence[str]) -> dict[str, Any]:
        return {"model": self.model, "input": list(texts), **self.params}


def read_vectors(value: Any, count: int, what: str) -> tuple[str, ...]:
    """Return the vectors that a user's code has given, each packed into a text.

    Args:
        value: A list of vectors, or an array of them.
        count: How many there should be.
        what: Whose, for error texts.

    Raises:
        UnscoredError: It is something else.
    """
    try:
        rows = [_plain(row) for row in _plain(value)]
        if len(rows) == count:
            return _packed(rows)
        problem = f"{len(rows)} vectors of {count} texts"
    except (TypeError, ValueError) as exc:
        problem = str(exc)
    message = f"{what} returned {value!r:.60}: {problem}"
    raise UnscoredError(message, cause="application")


def _plain(value: Any) -> Any:
    """Return an array of a library's own type (numpy, torch) as a list."""
    to_list = getattr(value, "tolist", None)
    return to_list() if callable(to_list) else value


def _packed(vectors: Sequence[Any]) -> tuple[str, ...]:
    """Return vectors, each packed into a text.

    Args:
        vectors: Each its numbers, or packed already.

    Raises:
        ValueError: One is no vector, or they are of different lengths.
    """
    packed = []
    for place, vector in enumerate(vectors):
        try:
            numbers = unpacked_vector(vector) if isinstance(vector, str) else vector
            packed.append(packed_vector(numbers))
        except (TypeError, ValueError, OverflowError) as exc:
            message = f"vector {place + 1} is {vector!r:.60} ({exc})"
            raise ValueError(message) from exc
    lengths = {len(unpacked_vector(text)) for text in packed}
    if len(lengths) > 1:
        message = f"they are of lengths {', '.join(map(str, sorted(lengths)))}"
        raise ValueError(message)
    return tuple(packed)


def _in_order(data: Mapping[str, Any], count: int) -> list[Any]:
    """Return what a reply has for each text.

    Raises:
        ValueError: Not each has one.
    """
    items = data.get("data")
    found = dict(_indexed(items)) if isinstance(items, list) else {}
    missing = [str(place) for place in range(count) if place not in found]
    if missing or len(found) != count:
        message = f"there are {len(found)}"
        raise ValueError(message)
    return [found[place] for place in range(count)]


def _indexed(items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    for place, item in enumerate(items):
        if isinstance(item, Mapping):
            index = count_of(item.get("index", place))
            if index is not None:
                yield index, item.get("embedding")


def without_embeddings(name: str, reason: str = "") -> UnscoredError:
    """Return the error of a model that gives no vectors of texts.

    Args:
        name: The model's.
        reason: Why not, where there is more to say.
    """
    why = f" ({reason})" if reason else ""
    message = (
        f"{name} gives no vectors of texts{why}; those that can: openai: with an "
        f"embedding model; python: objects with embed(texts); fake: scripts with "
        f"embedding"
    )
    return ProviderError(message)

"""The text written by the server itself, token by token: llama.cpp's own interface.

Its completions ignore ``echo``. But a bias that leaves one token alone to be chosen
leaves the log-probability that is reported for it as it was: so each token is made to
follow those before it. The server keeps what it has read of a prompt, so that a token
costs some milliseconds.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_llmeval.clients.likelihoods._llamacpp import LlamaServer, Piece
from pytest_llmeval.clients.likelihoods._tokens import Asked, NoLikelihoodError, Token
from pytest_llmeval.types import Response, Usage

if TYPE_CHECKING:
    import asyncio

__all__ = ["ForcedRoute", "placed", "window_start"]


@dataclass(slots=True, kw_only=True)
class ForcedRoute:
    """Makes the server write the text."""

    server: LlamaServer
    _free: asyncio.Semaphore | None = field(default=None, repr=False)

    async def ask(self, asked: Asked) -> Response:
        """Return the likelihood of a text, without a reply.

        Raises:
            ProviderError: The server refused.
            NoLikelihoodError: Its replies do not say.
        """
        import asyncio

        if self._free is None:
            # As many texts at once as it keeps prompts: one more, and each would be
            # read anew for each of its tokens.
            self._free = asyncio.Semaphore(self.server.slots)
        async with self._free:
            return await self._forced(asked)

    async def _forced(self, asked: Asked) -> Response:
        pieces = await self.server.pieces(asked.whole)
        first = self.server.first
        # A text of its own stands where the model's tokenizer puts it: most often after
        # such a token already. A continuation of nothing has to follow something.
        is_continuation = asked.given.context is not None and asked.begin == 0
        if is_continuation and first is not None and first not in _ids(pieces[:1]):
            pieces.insert(0, Piece(id=first, content=b""))
        tokens, added = placed(pieces, asked.whole)
        ids = _ids(pieces)
        found, seconds = [], 0.0
        for place, token in enumerate(tokens, added):
            if place and asked.counts(token):
                start = self._start(asked, place, begin=max(added, 1), count=len(ids))
                chosen = await self.server.forced(ids[start:place], ids[place])
                seconds += chosen.seconds
                token = Token(
                    text=token.text,
                    start=token.start,
                    end=token.end,
                    logprob=chosen.logprob,
                    best=max(chosen.others.values(), default=None),
                )
            found.append(token)
        return Response(
            text="",
            model=self.server.server.model,
            likelihood=asked.likelihood(found),
            usage=Usage(input_tokens=len(ids), output_tokens=0),
            latency_seconds=seconds,
        )

    def _start(self, asked: Asked, place: int, *, begin: int, count: int) -> int:
        """Return where the tokens begin that a token is to follow: at 0, if they fit.

        A text of its own may be longer than what the model takes.
        """
        size = self.server.context_tokens - 1
        if asked.given.context is not None or size < 1:
            return 0  # too long a context is for the server to refuse
        return window_start(place, begin=begin, count=count, size=size)


def window_start(place: int, *, begin: int, count: int, size: int) -> int:
    """Return the first of the tokens that the one at `place` is to follow.

    The windows are lm-eval's: as many tokens as the model takes are asked about in one,
    the first of them after one token of the window before; the last window, if there
    are several, reaches as far back as the model takes.

    Args:
        place: Where the token stands.
        begin: Where the first token stands that is asked about.
        count: How many tokens there are.
        size: How many the model takes.
    """
    window = (place - begin) // size
    if window == 0:
        return 0
    end = min(begin + (window + 1) * size, count)
    return end - 1 - size


def placed(pieces: Sequence[Piece], text: str) -> tuple[list[Token], int]:
    """Return the tokens of a text, and how many others stand before them.

    Args:
        pieces: All that the model reads; its own marks, and white space that some
            tokenizers put first, stand before the text.
        text: What they spell.

    Raises:
        NoLikelihoodError: They spell something else: the tokenizer changes what it reads.
    """
    spelled = b"".join(piece.content for piece in pieces)
    content = text.encode("utf-8", "replace")
    if not spelled.endswith(content):
        message = (
            f"its tokens do not spell the text {text!r:.60}: they spell "
            f"{spelled.decode('utf-8', 'replace')!r:.60}"
        )
        raise NoLikelihoodError(message)
    lead = len(spelled) - len(content)
    tokens = list(_tokens(pieces, lead))
    return tokens, len(pieces) - len(tokens)


def _tokens(pieces: Sequence[Piece], lead: int) -> Iterator[Token]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    read = position = 0
    for piece in pieces:
        read += len(piece.content)
        if read <= lead:
            continue
        part = piece.content[-(read - lead) :]
        start = position
        position += len(decoder.decode(part))
        shown = piece.content.decode("utf-8", "backslashreplace")
        yield Token(text=shown, start=start, end=position, logprob=None)


def _ids(pieces: Sequence[Piece]) -> list[int]:
    return [piece.id for piece in pieces]

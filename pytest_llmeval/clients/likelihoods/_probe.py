"""Finding out how a server says how likely a text is, or that what it says is wrong.

A server that ignores ``echo`` says nothing, and one whose values stand at the wrong
token says something wrong that looks right. Both are seen by what they say of a text
that they wrote themselves: then they gave each token's log-probability already.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from pytest_llmeval.clients._completion import first_choice
from pytest_llmeval.clients._server import Server
from pytest_llmeval.clients.likelihoods._echo import (
    EchoRoute,
    echoed_tokens,
    written_tokens,
)
from pytest_llmeval.clients.likelihoods._forced import ForcedRoute
from pytest_llmeval.clients.likelihoods._llamacpp import LlamaServer
from pytest_llmeval.clients.likelihoods._tokens import Asked, NoLikelihoodError, Token
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.types import Response

__all__ = ["Route", "probed_route"]

#: Whatever a model makes of them: some of what it writes is surer than the rest.
_TEXTS = (
    "The capital of France is Paris. The capital of Italy is",
    "Once upon a time there was a",
    "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,",
)
_WRITTEN = 8
#: How far the same value may differ between a text read and a text written: machines
#: compute with few bits, and in another order.
_NOISE = 0.1
#: Statuses that say that there is no such thing here; others may pass, or be put right.
_HAS_NOT = frozenset({400, 404, 405, 415, 422, 501})


class Route(Protocol):
    """A way to ask."""

    async def ask(self, asked: Asked) -> Response:
        """Return the likelihood of a text, without a reply.

        Raises:
            ProviderError: The server refused.
            NoLikelihoodError: It does not say.
        """


async def probed_route(server: Server, model: str) -> Route:
    """Return the way that works with a server.

    Raises:
        NoLikelihoodError: None does; the text says why, for each.
        ProviderError: It can't be said now.
    """
    reasons = []
    for find in (_echo_route, _forced_route):
        try:
            return await find(server, model)
        except NoLikelihoodError as exc:
            reasons.append(str(exc))
        except ProviderError as exc:
            if exc.status not in _HAS_NOT:
                raise
            reasons.append(exc.reason.removeprefix(f"{server.name}: "))
    raise NoLikelihoodError("; ".join(reasons))


async def _echo_route(server: Server, model: str) -> Route:
    route = EchoRoute(server=server, model=model)
    for text in _TEXTS:
        body = route.body(text, echo=False, tokens=_WRITTEN)
        reply = await server.ask("/completions", body)
        written, whole = written_tokens(reply.data), text + _text(reply.data)
        reply = await server.ask("/completions", route.body(whole))
        echoed = echoed_tokens(reply.data, whole)
        if _agree(written, echoed, len(text)):
            return route
    message = (
        f"whether the log-probabilities stand at the right tokens can't be told: what "
        f"it wrote after {_TEXTS[-1]!r} is all alike"
    )
    raise NoLikelihoodError(message)


def _text(data: Any) -> str:
    choice = first_choice(data) or {}
    text = choice.get("text")
    return text if isinstance(text, str) else ""


def _agree(written: Sequence[Token], echoed: Sequence[Token], begin: int) -> bool:
    """Return whether what was echoed surely has the values of what was written.

    Args:
        written: The tokens as the model wrote them.
        echoed: Those of the prompt and what was written, read.
        begin: Where in the latter the former begins.

    Raises:
        NoLikelihoodError: It surely has others.
    """
    place = next((i for i, t in enumerate(echoed) if t.start >= begin), len(echoed))
    same = 0
    for one, other in zip(written, echoed[place:], strict=False):
        if one.text != other.text:  # read, a text may have other tokens than written
            break
        same += 1

    def gap(shift: int) -> float:
        shifted = echoed[place + shift : place + shift + same]
        pairs = zip(written, shifted, strict=False)
        return max((_gap(one, other) for one, other in pairs), default=0.0)

    gaps = {shift: gap(shift) for shift in (0, -1, 1)}
    if gaps[0] <= _NOISE:
        return min(gaps[-1], gaps[1]) > 2 * _NOISE
    for shift, where in ((-1, "before"), (1, "after")):
        if gaps[shift] <= _NOISE:
            message = (
                f"the log-probabilities of a prompt are shifted by one: that of each "
                f"token stands at the one {where} it"
            )
            raise NoLikelihoodError(message)
    message = (
        f"the log-probabilities of a prompt are not those of the same tokens when it "
        f"writes them: {_shown(echoed[place : place + same])}, and not "
        f"{_shown(written[:same])}"
    )
    raise NoLikelihoodError(message)


def _gap(one: Token, other: Token) -> float:
    """Return how far the log-probabilities of two tokens are apart."""
    if one.logprob is None or other.logprob is None:
        return math.inf
    return abs(one.logprob - other.logprob)


def _shown(tokens: Sequence[Token]) -> str:
    return ", ".join(
        f"{token.text!r} {'none' if token.logprob is None else f'{token.logprob:.2f}'}"
        for token in tokens[:4]
    )


async def _forced_route(server: Server, model: str) -> Route:
    llama = await LlamaServer.of(server)
    before = [piece.id for piece in await llama.pieces(_TEXTS[0])]
    free = await llama.choice(before, best=3)
    likely = list(free.others.items()) if free else []
    if len(likely) < 2:
        message = "its /completion has no completion_probabilities"
        raise NoLikelihoodError(message)
    for token, logprob in likely:
        forced = await llama.forced(before, token)
        if abs(forced.logprob - logprob) > _NOISE:
            message = (
                f"made to write token {token} it says that its log-probability is "
                f"{forced.logprob:.2f}, and left alone {logprob:.2f}"
            )
            raise NoLikelihoodError(message)
    return ForcedRoute(server=llama)

"""What llama.cpp's server offers besides the interface of OpenAI: tokens by number.

https://github.com/ggml-org/llama.cpp/tree/master/tools/server (/tokenize, /completion,
/props)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmeval.clients._server import Server
from pytest_llmeval.clients.likelihoods._tokens import NoLikelihoodError

__all__ = ["Chosen", "LlamaServer", "Piece"]

#: Leaves no other token a chance.
_BIAS = 1e6
#: What stands for the logarithm of nothing in a float of 32 bits.
_NOTHING = -1e30


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A token: its number, and what it spells, which may be a part of a character."""

    id: int
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """How likely a token is at some place."""

    id: int
    logprob: float
    others: Mapping[int, float]
    """Log-probabilities of the likeliest tokens there, its own perhaps among them."""
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaServer:
    """One server. Made by `LlamaServer.of`."""

    server: Server
    """Its address is the root's, without /v1."""
    slots: int
    """How many prompts it keeps at once."""
    context_tokens: int
    """How many tokens it takes, those that it writes among them."""
    first: int | None
    """The token that stands for a beginning, None where the model has none."""

    @classmethod
    async def of(cls, server: Server) -> LlamaServer:
        """Return what a server says of itself.

        Args:
            server: With the address that an entry has.

        Raises:
            ProviderError: It does not answer.
            NoLikelihoodError: It is no server of llama.cpp's.
        """
        address = server.address
        root = replace(
            server, address=replace(address, base=address.base.removesuffix("/v1"))
        )
        reply = await root.send("GET", "/props")
        props = reply.data if isinstance(reply.data, Mapping) else {}
        settings = props.get("default_generation_settings")
        if reply.status != 200 or not isinstance(settings, Mapping):
            message = f"it is no server of llama.cpp's ({root.address}/props)"
            raise NoLikelihoodError(message)
        found = cls(
            server=root,
            slots=_count(props.get("total_slots"), 1),
            context_tokens=_count(settings.get("n_ctx"), 0),
            first=None,
        )
        return replace(found, first=await found._first(props))

    async def pieces(self, text: str) -> list[Piece]:
        """Return the tokens of a text, with those that the model puts around it.

        Raises:
            ProviderError: The server refused.
            NoLikelihoodError: Its reply does not say.
        """
        body = {"content": text, "add_special": True, "with_pieces": True}
        reply = await self.server.ask("/tokenize", body)
        data = reply.data if isinstance(reply.data, Mapping) else {}
        try:
            tokens = data["tokens"]
            return [Piece(id=int(t["id"]), content=_bytes(t["piece"])) for t in tokens]
        except (TypeError, KeyError, ValueError) as exc:
            message = "its /tokenize does not say what the tokens spell (with_pieces)"
            raise NoLikelihoodError(message) from exc

    async def choice(
        self, before: Sequence[int], *, force: int | None = None, best: int = 1
    ) -> Chosen | None:
        """Return the next token and how likely it is.

        Args:
            before: Numbers of the tokens before it.
            force: The token that it has to be; the likelihood is what it was without.
            best: How many of the likeliest tokens to return.

        Returns:
            None where the server says nothing of it: for a part of a character.

        Raises:
            ProviderError: The server refused.
        """
        body: dict[str, Any] = {"prompt": list(before), "n_predict": 1, "n_probs": best}
        body |= {"temperature": 0, "cache_prompt": True}
        if force is not None:
            body["logit_bias"] = [[force, _BIAS]]
        reply = await self.server.ask("/completion", body)
        data = reply.data if isinstance(reply.data, Mapping) else {}
        try:
            found = data["completion_probabilities"][0]
            return Chosen(
                id=int(found["id"]),
                logprob=float(found["logprob"]),
                others={
                    int(t["id"]): float(t["logprob"]) for t in found["top_logprobs"]
                },
                seconds=reply.seconds,
            )
        except (TypeError, KeyError, IndexError, ValueError):
            return None

    async def forced(self, before: Sequence[int], wanted: int) -> Chosen:
        """Return how likely a token is.

        Raises:
            ProviderError: The server refused.
            NoLikelihoodError: It does not say.
        """
        found = await self.choice(before, force=wanted)
        if found is None or found.id != wanted:
            found = await self._among_all(before, wanted)
        if found.logprob < _NOTHING:
            message = f"token {wanted} is so unlikely that the server has no number"
            raise NoLikelihoodError(message)
        return found

    async def _among_all(self, before: Sequence[int], wanted: int) -> Chosen:
        """Return how likely a token is that is a part of a character.

        The server says nothing of one that it writes; but it does of all tokens there
        are, beside any other that it writes.
        """
        plain = (await self.pieces("a"))[-1].id
        found = await self.choice(before, force=plain, best=await self._vocabulary())
        if found is None or wanted not in found.others:
            message = f"it does not say how likely token {wanted} is"
            raise NoLikelihoodError(message)
        return replace(found, id=wanted, logprob=found.others[wanted])

    async def _first(self, props: Mapping[str, Any]) -> int | None:
        """Return the token of beginnings, or, as lm-eval has it, the one of ends."""
        for name in ("bos_token", "eos_token"):
            text = props.get(name)
            if isinstance(text, str) and text:
                body = {"content": text, "add_special": False, "parse_special": True}
                reply = await self.server.ask("/tokenize", body)
                match reply.data:
                    case {"tokens": [int(token)]}:
                        return token
        return None

    async def _vocabulary(self) -> int:
        reply = await self.server.send("GET", "/v1/models")
        match reply.data:
            case {"data": [{"meta": {"n_vocab": int(size)}}, *_]}:
                return size
        message = "it does not say how many tokens there are (n_vocab of /v1/models)"
        raise NoLikelihoodError(message)


def _bytes(piece: Any) -> bytes:
    return piece.encode() if isinstance(piece, str) else bytes(piece)


def _count(value: Any, otherwise: int) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if is_count else otherwise

"""Tokens of a text with their log-probabilities, and the part that is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_llmeval.clients._base import GivenText
from pytest_llmeval.types import Likelihood

__all__ = ["Asked", "NoLikelihoodError", "Token"]


class NoLikelihoodError(Exception):
    """What came back says nothing certain about the text; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token of a text: its characters from `start` up to `end`.

    One that is a part of a character has no text of its own, and may have no length.
    """

    text: str
    start: int
    end: int
    logprob: float | None
    """None where nothing stands before it, or it was not asked for."""
    best: float | None = None
    """Of the model's own first choice at this place; None is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A given text as a model reads it: in one piece with its context."""

    given: GivenText

    @property
    def whole(self) -> str:
        """The context and the text."""
        return f"{self.given.context or ''}{self.given.text}"

    @property
    def begin(self) -> int:
        """The character at which the part begins that is counted.

        White space at the context's end counts with the text, as in lm-eval: tokenizers
        put it before a word, not after one.
        """
        return len((self.given.context or "").rstrip())

    def counts(self, token: Token) -> bool:
        """Return whether a token is one of the text's.

        One that reaches over from the context is: it would be another one without the
        text.
        """
        return token.end > self.begin or token.start >= self.begin

    def likelihood(self, tokens: Sequence[Token]) -> Likelihood:
        """Return the likelihood of the text.

        Args:
            tokens: All of the whole, in order.

        Raises:
            NoLikelihoodError: One that counts has no log-probability.
        """
        counted = [token for token in tokens if self.counts(token)]
        prefix = ""
        if counted and counted[0] is tokens[0] and counted[0].logprob is None:
            prefix = self.whole[: counted.pop(0).end]
        if not counted or (prefix and self.given.context is not None):
            message = (
                f"nothing stands before {self.whole[:40]!r}, and this model puts "
                f"nothing there, so that its first token has no log-probability; give "
                f"a context"
            )
            raise NoLikelihoodError(message)
        try:
            return Likelihood.of(
                [_value(token) for token in counted],
                is_greedy=_greedy(counted),
                unscored_prefix=prefix,
            )
        except ValueError as exc:
            raise NoLikelihoodError(str(exc)) from exc


def _value(token: Token) -> float:
    if token.logprob is None:
        message = f"the token {token.text!r} has no log-probability"
        raise NoLikelihoodError(message)
    return token.logprob


def _greedy(tokens: Sequence[Token]) -> bool | None:
    known = [
        token.logprob >= token.best
        for token in tokens
        if token.logprob is not None and token.best is not None
    ]
    if not all(known):
        return False
    return True if len(known) == len(tokens) else None

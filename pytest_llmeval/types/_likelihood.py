"""How likely a model holds a text that it was given to be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

#: How far over 0 the rounding of a server may carry the logarithm of a certainty.
_NOISE = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class Likelihood:
    """The log-probability of a given text, in natural logarithms.

    Unpacks as ``(logprob, is_greedy)``; ``float()`` gives the log-probability.

    Raises:
        ValueError: A value is not a number, infinite, or over 0.
    """

    logprob: float
    """The sum over the text's tokens."""
    is_greedy: bool | None = None
    """Whether each token is the model's own first choice; None is unknown."""
    token_count: int | None = None
    """How many tokens the sum is over; None is unknown."""
    token_logprobs: tuple[float, ...] | None = None
    """Of each of these tokens; None is unknown."""
    unscored_prefix: str = ""
    """How the text begins before the first token that has a value: a model that puts
    nothing before a text can't say how likely its first token is."""

    def __post_init__(self) -> None:
        for value in (self.logprob, *(self.token_logprobs or ())):
            if problem := _problem(value):
                raise ValueError(problem)

    @classmethod
    def of(
        cls,
        logprobs: Iterable[float],
        *,
        is_greedy: bool | None = None,
        unscored_prefix: str = "",
    ) -> Self:
        """Return the likelihood of the tokens that have these log-probabilities."""
        values = tuple(logprobs)
        for value in values:
            if problem := _problem(value):
                raise ValueError(problem)
        return cls(
            logprob=math.fsum(values),
            is_greedy=is_greedy,
            token_count=len(values),
            token_logprobs=values,
            unscored_prefix=unscored_prefix,
        )

    def __iter__(self) -> Iterator[Any]:
        yield self.logprob
        yield self.is_greedy

    def __float__(self) -> float:
        return float(self.logprob)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types, without what is unknown."""
        data = {
            "logprob": self.logprob,
            "is_greedy": self.is_greedy,
            "token_count": self.token_count,
            "token_logprobs": self.token_logprobs and list(self.token_logprobs),
            "unscored_prefix": self.unscored_prefix or None,
        }
        return {name: value for name, value in data.items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild it from the data of `to_json`.

        Raises:
            TypeError: A part is not what it should be.
            ValueError: A value is no log-probability.
        """
        values = data.get("token_logprobs")
        return cls(**{**data, "token_logprobs": values and tuple(values)})


def _problem(value: Any) -> str | None:
    """Return why a value is no log-probability, None when it is one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"{value!r} is not a number"
    if not math.isfinite(value):
        return f"{value!r} is no log-probability: it is not finite"
    if value > _NOISE:
        return f"{value!r} is no log-probability: those are 0 or less"
    return None

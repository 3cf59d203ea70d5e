"""Who can say how likely a given text is, and how it is asked."""

from __future__ import annotations

from typing import Any

from pytest_llmeval.clients._base import Ability, Able, Backend
from pytest_llmeval.errors import ProviderError, UnscoredError
from pytest_llmeval.types import Likelihood

__all__ = ["is_able", "read_likelihood", "without_likelihoods"]


def is_able(backend: Backend, ability: Ability) -> bool:
    """Return whether a backend, or one that it wraps as `inner`, has an ability."""
    layer: Any = backend
    while layer is not None:
        if isinstance(layer, Able) and ability in layer.abilities:
            return True
        layer = getattr(layer, "inner", None)
    return False


def without_likelihoods(name: str, reason: str = "") -> ProviderError:
    """Return the error of a model that can't say how likely a given text is.

    Args:
        name: The model's.
        reason: Why not, where there is more to say.
    """
    why = f" ({reason})" if reason else ""
    message = (
        f"{name} gives no log-probabilities of a given text{why}; those that can: "
        f"openai: with a server whose completions echo a prompt with its "
        f"log-probabilities, or llama.cpp's; local:; python: objects with "
        f"loglikelihood(context, continuation) and loglikelihood_rolling(text); "
        f"fake: scripts with logprobs"
    )
    return ProviderError(message)


def read_likelihood(value: Any, what: str) -> Likelihood:
    """Return the likelihood that a user's code has given.

    Args:
        value: A `Likelihood`, a number, or a number and whether it is the greedy one.
        what: Whose, for error texts.

    Raises:
        UnscoredError: It is none of these.
    """
    if isinstance(value, Likelihood):
        return value
    is_pair = isinstance(value, tuple | list) and len(value) == 2
    number, is_greedy = value if is_pair else (value, None)
    try:
        if not (is_greedy is None or isinstance(is_greedy, bool)):
            raise ValueError(_NOT_ONE)
        return Likelihood(logprob=_plain(number), is_greedy=is_greedy)
    except ValueError as exc:
        message = (
            f"{what} returned {value!r:.80}: {exc}; it returns the sum of the "
            f"log-probabilities, or (sum, is it the greedy continuation)"
        )
        raise UnscoredError(message, cause="application") from exc


_NOT_ONE = "what is said of greediness is neither true nor false"


def _plain(number: Any) -> Any:
    """Return a number of a library's own type (numpy, torch) as Python's."""
    item = getattr(number, "item", None)
    return item() if callable(item) else number

"""How likely texts are, asked of a model or already known, checked before it is used.

A log-probability that is no finite number is refused here: as the greatest of several,
NaN would win.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import isawaitable, iscoroutine
from typing import Any, Final

from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.types import Likelihood

__all__ = ["DELIMITER", "continuation_of", "likelihood_of", "likelihoods_of"]

#: What stands between a context and a text that continues it.
DELIMITER: Final = " "


def likelihood_of(model: Any, text: str) -> Likelihood:
    """Return how likely a model holds a whole text to be.

    Args:
        model: A generator, an object with ``loglikelihood_rolling``, or the answer.
        text: The text.

    Raises:
        ConfigError: It is no model that can be asked.
        UnscoredError: There is no log-probability that can be used.
    """
    if isinstance(model, Likelihood | int | float | tuple):
        return _read(model)
    return _read(_method(model, "loglikelihood_rolling")(text))


def likelihoods_of(
    model: Any, questions: Sequence[tuple[str, str]]
) -> tuple[Likelihood, ...]:
    """Return how likely each text is after its context.

    Args:
        model: A generator, an object with ``loglikelihood``, or a list of the answers.
        questions: Contexts and the texts that continue them.

    Raises:
        ConfigError: It is no model that can be asked.
        UnscoredError: An answer can't be used, or there is another number of them.
    """
    if isinstance(model, list | tuple):
        if len(model) != len(questions):
            message = (
                f"{len(model)} log-probabilities were given for {len(questions)} texts"
            )
            raise UnscoredError(message, cause="provider")
        return tuple(map(_read, model))
    if (batch := getattr(model, "loglikelihoods", None)) is not None:
        return tuple(map(_read, batch(questions)))
    ask = _method(model, "loglikelihood")
    return tuple(_read(ask(context, text)) for context, text in questions)


def continuation_of(context: str, text: str) -> str:
    """Return `text` as it continues `context`: parted by white space, once."""
    return text if context[-1:].isspace() else f"{DELIMITER}{text}"


def _method(model: Any, name: str) -> Any:
    if model is None:
        message = "there is no model to ask: the metric was given None"
        raise UnscoredError(message, cause="suite")
    if (method := getattr(model, name, None)) is not None:
        return method
    message = (
        f"likelihood metrics take the model in place of a reply (the generator), and "
        f"got a {type(model).__name__}, which has no {name}"
    )
    raise ConfigError(message)


def _read(value: Any) -> Likelihood:
    """Return an answer, checked.

    Raises:
        UnscoredError: It is no finite log-probability.
    """
    if isinstance(value, Likelihood):
        return value
    if isawaitable(value):
        if iscoroutine(value):
            value.close()  # nobody will await it
        message = "an async model was asked by a plain call: give its awaited answers"
        raise ConfigError(message)
    number = value[0] if isinstance(value, tuple) and len(value) == 2 else value
    item = getattr(number, "item", None)  # a number of numpy or torch
    try:
        return Likelihood(logprob=item() if callable(item) else number)
    except ValueError as exc:
        message = f"the model's log-probability can't be used: {exc}"
        raise UnscoredError(message, cause="provider") from None


def finite_parts(values: Iterable[float | None], why: str) -> list[float]:
    """Return numbers none of which is missing.

    Raises:
        UnscoredError: One is missing; `why` is the reason.
    """
    found = list(values)
    if any(value is None for value in found):
        raise UnscoredError(why, cause="provider")
    return [value for value in found if value is not None]

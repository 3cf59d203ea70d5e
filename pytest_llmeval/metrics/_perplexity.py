"""Perplexity: how surprised a model is by a text, a word, byte or token of it."""

from __future__ import annotations

import re
from math import exp, inf, isfinite, log
from typing import Any, Final, Literal

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.metrics._asking import likelihood_of
from pytest_llmeval.metrics._base import Declaration, one_of, scored_by
from pytest_llmeval.metrics._explain import labelled
from pytest_llmeval.metrics._texts import named
from pytest_llmeval.types import Case, Likelihood, Pool, Score

__all__ = [
    "BITS_PER_BYTE",
    "PERPLEXITY",
    "bits_per_byte",
    "byte_count",
    "explain",
    "perplexity",
    "word_count",
]

PERPLEXITY: Final = Declaration(
    name="perplexity", low=1.0, high=inf, higher_is_better=False, takes="model"
)
BITS_PER_BYTE: Final = Declaration(
    name="bits_per_byte", high=inf, higher_is_better=False, takes="model"
)

_UNITS: Final = ("word", "byte", "token")


@scored_by(PERPLEXITY)
def perplexity(
    response: Any, expected: Any, *, unit: Literal["word", "byte", "token"] = "word"
) -> Score:
    """Return the perplexity of a text: exp(-log-probability / units). Less is better.

    Per word and per byte it is comparable between models, per token only between models
    with the same tokens. A text without spaces is one word: use bytes for Chinese,
    Japanese or Thai.

    Args:
        response: The model (the generator), or the `Likelihood` it gave.
        expected: A text, or a case whose input is one.
        unit: ``word`` (runs without white space), ``byte`` (of UTF-8) or ``token``.

    Raises:
        ConfigError: There is no such unit, or it is no model.
    """
    one_of("unit", unit, _UNITS, "perplexity")
    text = _text(expected)
    found = likelihood_of(response, text)
    units = _units(found, text, unit)
    try:
        value = max(1.0, exp(-found.logprob / units))
    except OverflowError:
        value = inf
    pool = Pool(form="exp_rate", counts=(found.logprob, float(units)))
    return _score(PERPLEXITY, value, found, text, pool, {"unit": unit, "units": units})


@scored_by(BITS_PER_BYTE)
def bits_per_byte(response: Any, expected: Any) -> Score:
    """Return how many bits a model needs for a byte of a text. Less is better.

    Args:
        response: The model (the generator), or the `Likelihood` it gave.
        expected: A text, or a case whose input is one.
    """
    text = _text(expected)
    found = likelihood_of(response, text)
    units = _units(found, text, "byte")
    pool = Pool(form="bits", counts=(found.logprob, float(units)))
    value = max(0.0, -found.logprob / units / log(2))
    return _score(
        BITS_PER_BYTE, value, found, text, pool, {"unit": "byte", "units": units}
    )


def word_count(text: str) -> int:
    """Return the parts between runs of white space, empty ones at the ends included.

    Source: `word_perplexity` of lm-evaluation-harness, so that values are its.
    """
    return len(re.split(r"\s+", text))


def byte_count(text: str) -> int:
    """Return the length of a text in UTF-8; a lone surrogate counts three."""
    return len(text.encode("utf-8", "surrogatepass"))


def _text(expected: Any) -> str:
    case = expected if isinstance(expected, Case) else None
    text = case.input if case else expected
    subject = f"input of {named(case)}" if case else "the text"
    if not isinstance(text, str):
        message = f"perplexity is that of a text, and {subject} is {text!r:.80}"
        raise UnscoredError(message, cause="data")
    if not text:
        message = f"an empty text has no perplexity, and {subject} is one"
        raise UnscoredError(message, cause="data")
    return text


def _units(found: Likelihood, text: str, unit: str) -> int:
    """Return how many units the log-probability is of.

    What stands before the first token that has one does not count.
    """
    if unit == "token":
        count = found.token_count
        if count is None:
            message = "the model does not say how many tokens: use unit word or byte"
            raise UnscoredError(message, cause="provider")
    else:
        scored = text.removeprefix(found.unscored_prefix)
        count = word_count(scored) if unit == "word" else byte_count(scored)
        count = count if scored else 0
    if not count:
        message = (
            f"the model said nothing about the text {text!r:.60}: its only token is the "
            f"first, which has no log-probability"
        )
        raise UnscoredError(message, cause="data")
    return count


def _score(
    declaration: Declaration,
    value: float,
    found: Likelihood,
    text: str,
    pool: Pool,
    more: dict[str, Any],
) -> Score:
    details = {"response": text, "logprob": found.logprob, **more}
    if not isfinite(value):
        message = f"log-probability {found.logprob:g} is too low for a perplexity"
        return declaration.unscored(message, "provider", details)
    return declaration.scored(value, "", details, pool)


def explain(score: Score) -> list[str]:
    """Return the text and what the value is made of."""
    details = score.details
    count, unit = details["units"], details["unit"]
    shown = f"{details['logprob']:.2f} over {count:,} {unit}{'s' if count > 1 else ''}"
    return [*labelled("text", details["response"]), *labelled("logprob", shown)]

"""Metrics: functions that score a text against an expected value.

Each is a function ``(response, expected, **options) -> Score`` of its own name, and is
found by that name too: ``score("f1", response, case)``. A metric's module is imported
when the metric is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_llmeval.errors import ConfigError, did_you_mean
from pytest_llmeval.late import late
from pytest_llmeval.metrics._base import Declaration
from pytest_llmeval.metrics._custom import REGISTERED, imported, metric, register_all
from pytest_llmeval.metrics._extras import check_extra
from pytest_llmeval.metrics._table import HELPERS, MODULES, Metric
from pytest_llmeval.metrics._texts import text_of
from pytest_llmeval.types import Score

if TYPE_CHECKING:
    from pytest_llmeval.metrics._bertscore import bertscore, bleurt
    from pytest_llmeval.metrics._choice import choice
    from pytest_llmeval.metrics._choice_reading import ChoiceReading, read_choices
    from pytest_llmeval.metrics._contains import contains
    from pytest_llmeval.metrics._exact import exact
    from pytest_llmeval.metrics._exact_match import exact_match
    from pytest_llmeval.metrics._f1 import f1
    from pytest_llmeval.metrics._json import json
    from pytest_llmeval.metrics._levenshtein import levenshtein
    from pytest_llmeval.metrics._loglik import choice_loglik, prefers
    from pytest_llmeval.metrics._math import math
    from pytest_llmeval.metrics._number import number
    from pytest_llmeval.metrics._perplexity import bits_per_byte, perplexity
    from pytest_llmeval.metrics._regex import regex
    from pytest_llmeval.metrics._rouge import rouge1, rouge2, rougeL
    from pytest_llmeval.metrics._sacrebleu import bleu, chrf, ter
    from pytest_llmeval.metrics._similarity import similarity
    from pytest_llmeval.metrics._starts_with import starts_with
    from pytest_llmeval.metrics._supporting_facts import (
        hotpot_scores,
        joint_f1,
        supporting_facts,
    )
    from pytest_llmeval.metrics._token_f1 import token_f1
    from pytest_llmeval.metrics._tool_calls import tool_calls

__all__ = [
    "ChoiceReading",
    "Declaration",
    "Metric",
    "bertscore",
    "bits_per_byte",
    "bleu",
    "bleurt",
    "check_ready",
    "choice",
    "choice_loglik",
    "chrf",
    "contains",
    "exact",
    "exact_match",
    "explain",
    "f1",
    "get_metric",
    "hotpot_scores",
    "joint_f1",
    "json",
    "levenshtein",
    "math",
    "metric",
    "metric_names",
    "number",
    "perplexity",
    "pooled",
    "prefers",
    "read_choices",
    "regex",
    "register_all",
    "rouge1",
    "rouge2",
    "rougeL",
    "score",
    "similarity",
    "starts_with",
    "supporting_facts",
    "ter",
    "text_of",
    "token_f1",
    "tool_calls",
]


if not TYPE_CHECKING:
    __getattr__ = late(__name__, {**MODULES, **HELPERS})


def __dir__() -> list[str]:
    return sorted(__all__)


def _module(name: str) -> Any:
    return import_module(f"{__name__}.{MODULES[name]}")


def score(name: str, response: Any, expected: Any, **options: Any) -> Score:
    """Return the score of a reply by the metric of that name.

    Args:
        name: A built-in or registered metric.
        response: A Response or a text.
        expected: A case (its ``expected``), a value, or a list of acceptable ones.
        **options: Options of the metric.

    Raises:
        ConfigError: There is no such metric, or it has no such option.
    """
    return get_metric(name)(response, expected, **options)


def pooled(scores: Iterable[Score]) -> float | None:
    """Return the value of one metric over all scores at once, None of nothing.

    Of `bleu`, `chrf` and `ter` the corpus value, of `choice` micro F1, of
    `perplexity` that of all texts together. Scores without a value are left out; say
    beside it how many there were.

    Args:
        scores: Of one metric, with the same options.

    Raises:
        ConfigError: They are of different forms, or the metric has no such value.
    """
    from pytest_llmeval import stats

    found = [score for score in scores if score.value is not None]
    pools = [score.pool for score in found if score.pool is not None]
    if len(pools) < len(found):
        name = next(score.metric for score in found if score.pool is None)
        message = f"{name} has no value over all cases but the mean"
        raise ConfigError(message)
    if len({(pool.form, len(pool.counts)) for pool in pools}) > 1:
        message = "these scores are of different metrics or options: they don't add up"
        raise ConfigError(message)
    form = pools[0].form if pools else "ratio"
    return stats.pooled(form, [pool.counts for pool in pools])


def get_metric(name: str) -> Metric:
    """Return the metric of that name: built in, registered, or ``module:name``.

    Raises:
        ConfigError: There is none; the text has the names there are.
    """
    # A list as a name would not even be hashable.
    if not isinstance(name, str):
        raise ConfigError(f"a metric is named by a text, not by {name!r:.60}")
    if name in MODULES:
        module = _module(name)
        return Metric(
            declaration=getattr(module, name.upper()), function=getattr(module, name)
        )
    if name in REGISTERED:
        return REGISTERED[name]
    if ":" in name:
        return imported(name)
    names = metric_names()
    message = (
        f"there is no metric {name!r}{did_you_mean(str(name), names)}; there are: "
        f"{', '.join(names)}. Your own is registered by @metric({name!r})"
    )
    raise ConfigError(message)


def check_ready(name: str, options: Mapping[str, Any]) -> Declaration:
    """Return what a metric says about itself, if it can be used with these options.

    For mistakes to be told before anything is asked.

    Raises:
        ConfigError: There is no such metric, it has no such option, or no such value.
        MissingExtraError: Its extra, or that of an option, isn't installed.
    """
    found = get_metric(name)
    found.check_options(options)
    found.check_values(options)  # first: some values make the extra needless
    declaration = found.declaration
    if declaration.extra is not None and declaration.module is not None:
        check_extra(name, declaration.extra, declaration.module)
    return declaration


def metric_names() -> tuple[str, ...]:
    """Return the names of all metrics, users' own included, sorted."""
    return tuple(sorted({*MODULES, *REGISTERED}))


def explain(score: Score) -> list[str]:
    """Return lines that explain a failing score, each short and inert.

    Args:
        score: Of any metric; one of a user's own, of a judge or an unscored one is
            explained by its reason and texts.
    """
    if score.metric in MODULES and score.value is not None:
        lines: list[str] = _module(score.metric).explain(score)
        return lines
    from pytest_llmeval.metrics._explain import generic

    return generic(score)

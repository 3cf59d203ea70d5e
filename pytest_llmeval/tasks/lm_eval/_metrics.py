"""metric_list: which metrics a task asks for, and how each is put together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, Final

from pytest_llmeval import metrics
from pytest_llmeval.config import plain
from pytest_llmeval.errors import (
    ConfigError,
    EvaluationWarning,
    UserError,
    did_you_mean,
)
from pytest_llmeval.stats import AGGREGATIONS
from pytest_llmeval.tasks._task import FunctionName
from pytest_llmeval.tasks.lm_eval._functions import Functions
from pytest_llmeval.tasks.lm_eval._include import Keys
from pytest_llmeval.tasks.lm_eval._scores import CORPUS, Metric

__all__ = ["METRICS", "read_metrics"]

#: By output type; those in force without metric_list come first.
_DEFAULTS: Final[Mapping[str, tuple[str, ...]]] = {
    "generate_until": ("exact_match",),
    "multiple_choice": ("acc", "acc_norm"),
    "loglikelihood": ("perplexity", "acc"),
    "loglikelihood_rolling": ("word_perplexity", "byte_perplexity", "bits_per_byte"),
}
METRICS: Final[Mapping[str, tuple[str, ...]]] = {
    "generate_until": (
        *("exact_match", "bleu", "chrf", "chrf++", "ter"),
        *("rouge1", "rouge2", "rougeL", "bypass"),
    ),
    "multiple_choice": (
        *("acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match"),
        *("brier_score", "likelihood", "f1", "mcc", "bypass"),
    ),
    "loglikelihood": (*_DEFAULTS["loglikelihood"], "bypass"),
    "loglikelihood_rolling": _DEFAULTS["loglikelihood_rolling"],
}
#: What a metric is put together by, where that is not the mean.
_OWN: Final = {
    **{name: name for name in CORPUS},
    "f1": "f1",
    "mcc": "matthews_corrcoef",
    "brier_score": "brier_score",
    "perplexity": "perplexity",
    "word_perplexity": "weighted_perplexity",
    "byte_perplexity": "weighted_perplexity",
    "bits_per_byte": "bits_per_byte",
}
_LOWER: Final = frozenset({"ter", "brier_score", *_DEFAULTS["loglikelihood_rolling"],
                           "perplexity"})  # fmt: skip
_SHARE: Final = (0.0, 1.0)
#: The scales of known metrics, where they end.
_SCALES: Final[Mapping[str, tuple[float, float]]] = {
    **dict.fromkeys(METRICS["multiple_choice"], _SHARE),
    "brier_score": (0.0, 2.0),
    "mcc": (-1.0, 1.0),
    "bleu": (0.0, 100.0),
    "chrf": (0.0, 100.0),
    "chrf++": (0.0, 100.0),
    "ter": (0.0, inf),
    "perplexity": (1.0, inf),
    "word_perplexity": (1.0, inf),
    "byte_perplexity": (1.0, inf),
    "bits_per_byte": (0.0, inf),
}
_KEYS: Final = frozenset({"metric", "aggregation", "higher_is_better", "hf_evaluate"})
_AGGREGATIONS: Final = (*(n for n in AGGREGATIONS if n != "pooled"), *CORPUS)
_OF_NUMBERS: Final = ("mean", "nanmean", "median")
_OF_CHOICES: Final = ("f1", "matthews_corrcoef")


def read_metrics(
    keys: Keys, output_type: str, functions: Functions, *, is_own: bool
) -> tuple[Metric, ...]:
    """Return the metrics of a task.

    Args:
        keys: What the task says.
        output_type: Says which metrics there are.
        functions: Imports the task's own.
        is_own: Whether process_results gives the values: then any name will do.

    Raises:
        ConfigError: A metric, an option or an aggregation can't be used.
    """
    given = keys.data.get("metric_list")
    if given is None:
        given = [] if is_own else [{"metric": n} for n in _DEFAULTS[output_type]]
    elif not isinstance(given, list) or not given:
        raise keys.fail("metric_list is a list of {metric: NAME}", "metric_list")
    found = []
    for index, entry in enumerate(given):
        try:
            found.append(_metric(entry, output_type, functions, is_own))
            if not is_own and (inert := _without_effect(entry, output_type)):
                message = (
                    f"{keys.top.shown}: metric_list: {entry['metric']}: "
                    f"{', '.join(inert)} has no effect, as in lm-evaluation-harness"
                )
                warnings.warn(message, EvaluationWarning, stacklevel=2)
        except UserError as exc:
            raise keys.fail(f"metric_list: {exc}", "metric_list", index) from exc
    # It stands for "score nothing"; what lm-evaluation-harness prints for it, 999, is
    # no value of anything.
    return tuple(metric for metric in found if metric.name != "bypass" or is_own)


def _metric(entry: Any, output_type: str, functions: Functions, is_own: bool) -> Metric:
    if not isinstance(entry, Mapping) or "metric" not in entry:
        raise ConfigError(f"an entry names its metric, not {entry!r:.80}")
    name, function = entry["metric"], None
    if isinstance(name, FunctionName):
        if output_type != "generate_until" and not is_own:
            message = f"{name!r}: a function as metric is for generate_until"
            raise ConfigError(message)
        function = functions.resolved(name)
        name = name.name.rpartition(".")[2]
    elif not is_own:
        _check_name(name, output_type)
    options = {k: plain(v) for k, v in entry.items() if k not in _KEYS}
    zero_as = 0.0
    if function is None and not is_own:
        if _is_per_row(entry):
            zero_as = _zero_as(name, options.pop("zero_as", 0.0))
        options = _checked_options(name, entry, output_type, options)
    is_better = entry.get("higher_is_better", name not in _LOWER)
    if not isinstance(is_better, bool):
        message = f"{name}: higher_is_better is true or false, not {is_better!r}"
        raise ConfigError(message)
    is_free = is_own or function is not None
    aggregation, combine = _aggregation(
        str(name), entry.get("aggregation"), is_free, functions
    )
    low, high = (-inf, inf) if is_free else _SCALES.get(name, (-inf, inf))
    if name in CORPUS and aggregation in _OF_NUMBERS:
        low, high = (0.0, inf) if name == "ter" else _SHARE
    return Metric(
        name=str(name),
        low=low,
        high=high,
        higher_is_better=is_better,
        options=options,
        zero_as=zero_as,
        function=function,
        aggregation=aggregation,
        combine=combine,
    )


def _is_per_row(entry: Mapping[str, Any]) -> bool:
    """Return whether a metric of all rows' texts is asked for of each row alone.

    lm-evaluation-harness has no such thing; its tasks do it by code.
    """
    return entry["metric"] in CORPUS and entry.get("aggregation") in _OF_NUMBERS


def _zero_as(name: str, value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return float(value)
    message = f"{name}: zero_as is what a value of 0 counts as, a number, not {value!r}"
    raise ConfigError(message)


def _check_name(name: Any, output_type: str) -> None:
    known = METRICS[output_type]
    if name not in known:
        elsewhere = [kind for kind, names in METRICS.items() if name in names]
        hint = f"; it is one of {', '.join(elsewhere)}" if elsewhere else ""
        message = (
            f"{output_type} has no metric {name!r}{did_you_mean(str(name), known)}"
            f"{hint}; there are: {', '.join(known)}"
        )
        raise ConfigError(message)


def _checked_options(
    name: str, entry: Mapping[str, Any], output_type: str, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the options that a metric is called with.

    Raises:
        ConfigError: It has no such option, or the metric's code is on a hub.
    """
    if output_type == "generate_until" and name not in {*CORPUS, "bypass"}:
        if entry.get("hf_evaluate"):
            message = (
                f"{name}: hf_evaluate fetches code from a hub, which is not done here"
            )
            raise ConfigError(message)
        metrics.check_ready(name, options)
        if options:
            metrics.score(name, "a", "a", **options)  # patterns are compiled
        return options
    if name in CORPUS:
        ours, known = CORPUS[name]
        if not _is_per_row(entry):
            metrics.check_ready(ours, {})
            return {}
        options = {**({"smooth": "none"} if ours == "bleu" else {}), **options}
        metrics.check_ready(ours, {**known, **options})
        metrics.score(ours, "a", "a", **{**known, **options})
        return options
    return {}


def _without_effect(entry: Mapping[str, Any], output_type: str) -> list[str]:
    """Return the options of a metric that lm-evaluation-harness calls no function for."""
    name = entry["metric"]
    has_function = output_type == "generate_until" and name not in {*CORPUS, "bypass"}
    if has_function or isinstance(name, FunctionName) or _is_per_row(entry):
        return []
    return [key for key in entry if key not in _KEYS or key == "hf_evaluate"]


def _aggregation(
    name: str, given: Any, is_free: bool, functions: Functions
) -> tuple[str, Callable[[list[Any]], Any] | None]:
    """Return what puts a metric's values together: a word, and the task's function.

    Args:
        name: Of the metric.
        given: As the task has it.
        is_free: Whether the task's own code makes the values, of any form.
        functions: Imports the function.

    Raises:
        ConfigError: It is not one that there is for the metric.
    """
    used = _OWN.get(name, "mean")
    if isinstance(given, FunctionName):
        return given.name, functions.resolved(given)
    allowed: tuple[str, ...] = (used,)
    if is_free:
        allowed = _AGGREGATIONS
    elif used in _OF_CHOICES:
        allowed = _OF_CHOICES
    elif used in CORPUS:
        allowed = (used, *_OF_NUMBERS)
    elif used == "mean":
        allowed = _OF_NUMBERS
    if given is None or given in allowed or name == "bypass":
        return given or used, None
    message = (
        f"{name}: the aggregation {given!r} is not supported"
        f"{did_you_mean(str(given), allowed)}; there is: {', '.join(allowed)}"
    )
    raise ConfigError(message)

"""metric_list: which metrics a task asks for, and how each is put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pytest_llmeval import metrics
from pytest_llmeval.config import plain
from pytest_llmeval.errors import ConfigError, UserError, did_you_mean
from pytest_llmeval.tasks._task import FunctionName
from pytest_llmeval.tasks.lm_eval._functions import Functions
from pytest_llmeval.tasks.lm_eval._include import Keys
from pytest_llmeval.tasks.lm_eval._scores import Metric

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
        *("exact_match", "bleu", "chrf", "ter", "rouge1", "rouge2", "rougeL"),
    ),
    "multiple_choice": (
        *("acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match"),
        *("brier_score", "likelihood", "f1"),
    ),
    "loglikelihood": _DEFAULTS["loglikelihood"],
    "loglikelihood_rolling": _DEFAULTS["loglikelihood_rolling"],
}
#: What a metric is put together by, where that is not the mean.
_OWN: Final = {
    "bleu": "bleu",
    "chrf": "chrf",
    "ter": "ter",
    "f1": "f1",
    "brier_score": "brier_score",
    "perplexity": "perplexity",
    "word_perplexity": "weighted_perplexity",
    "byte_perplexity": "weighted_perplexity",
    "bits_per_byte": "bits_per_byte",
}
_LOWER: Final = frozenset({"ter", "brier_score", *_DEFAULTS["loglikelihood_rolling"],
                           "perplexity"})  # fmt: skip
_KEYS: Final = frozenset({"metric", "aggregation", "higher_is_better", "hf_evaluate"})


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
        names = () if is_own else _DEFAULTS[output_type]
        return tuple(
            Metric(name=name, higher_is_better=name not in _LOWER) for name in names
        )
    if not isinstance(given, list) or not given:
        raise keys.fail("metric_list is a list of {metric: NAME}", "metric_list")
    found = []
    for index, entry in enumerate(given):
        try:
            found.append(_metric(entry, output_type, functions, is_own))
        except UserError as exc:
            raise keys.fail(f"metric_list: {exc}", "metric_list", index) from exc
    return tuple(found)


def _metric(entry: Any, output_type: str, functions: Functions, is_own: bool) -> Metric:
    if not isinstance(entry, Mapping) or "metric" not in entry:
        raise ConfigError(f"an entry names its metric, not {entry!r:.80}")
    name, function = entry["metric"], None
    if isinstance(name, FunctionName):
        if output_type != "generate_until":
            message = f"{name!r}: a function as metric is for generate_until"
            raise ConfigError(message)
        function = functions.resolved(name)
        name = name.name.rpartition(".")[2]
    elif not is_own:
        _check_name(name, output_type)
    if entry.get("hf_evaluate"):
        message = f"{name}: hf_evaluate fetches code from a hub, which is not done here"
        raise ConfigError(message)
    options = {k: plain(v) for k, v in entry.items() if k not in _KEYS}
    if function is None and not is_own:
        _check_options(name, output_type, options)
    is_better = entry.get("higher_is_better", name not in _LOWER)
    if not isinstance(is_better, bool):
        message = f"{name}: higher_is_better is true or false, not {is_better!r}"
        raise ConfigError(message)
    aggregation, combine = _aggregation(
        str(name), entry.get("aggregation"), is_own or function is not None, functions
    )
    return Metric(
        name=str(name),
        higher_is_better=is_better,
        options=options,
        function=function,
        aggregation=aggregation,
        combine=combine,
    )


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


def _check_options(name: str, output_type: str, options: Mapping[str, Any]) -> None:
    if output_type == "generate_until" and name not in {"bleu", "chrf", "ter"}:
        metrics.check_ready(name, options)
        if options:
            metrics.score(name, "a", "a", **options)  # patterns are compiled
        return
    if options:
        message = f"{name} has no option {next(iter(options))!r}"
        raise ConfigError(message)
    if name in {"bleu", "chrf", "ter"}:
        metrics.check_ready(name, {})


def _aggregation(
    name: str, given: Any, is_own: bool, functions: Functions
) -> tuple[str, Callable[[list[float]], Any] | None]:
    """Return what puts a metric's values together: a word, and the task's function.

    Raises:
        ConfigError: It is not one that there is for the metric.
    """
    used = "mean" if is_own else _OWN.get(name, "mean")
    if isinstance(given, FunctionName):
        if used != "mean":
            message = f"{name} is put together by {used}, not by a function"
            raise ConfigError(message)
        return given.name, functions.resolved(given)
    # A value that is not there is left out, so nanmean is the mean.
    allowed = ("mean", "nanmean", "median") if used == "mean" else (used,)
    if given is None or given in allowed:
        return ("median" if given == "median" else "mean"), None
    message = (
        f"{name}: the aggregation {given!r} is not supported"
        f"{did_you_mean(str(given), allowed)}; there is: {', '.join(allowed)}"
    )
    raise ConfigError(message)

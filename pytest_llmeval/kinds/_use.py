"""A kind as a test uses it: with its metric, bar and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_llmeval import metrics
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.kinds._table import Kind, kind_named

__all__ = ["UNSET", "KindUse", "kind_use"]

#: Stands for "not given": None as a threshold means that nothing is held against it.
UNSET: Final = object()
_KEYS: Final = ("name", "metric", "threshold")


@dataclass(frozen=True, slots=True, kw_only=True)
class KindUse:
    """A kind with what a test says about it."""

    kind: Kind
    metric: str
    threshold: float | None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the metric."""

    @property
    def asks_model(self) -> bool:
        """Whether the metric asks the model how likely texts are, and needs no reply."""
        return metrics.get_metric(self.metric).declaration.takes == "model"

    @property
    def label_base(self) -> int | None:
        """The number of the first choice in labels, None where there are none."""
        if self.kind.name not in {"choice", "choice_multi"}:
            return None
        base: int = self.options.get("label_base", 0)
        return base

    def changed(
        self, metric: str | None, threshold: Any, options: Mapping[str, Any]
    ) -> KindUse:
        """Return it with another metric, bar or options where they are given.

        Raises:
            ConfigError: There is no such metric or option, or the bar is missing.
            MissingExtraError: The metric needs an extra that isn't installed.
        """
        if metric is None or metric == self.metric:
            bar = self.threshold if threshold is UNSET else threshold
            return _checked(self.kind, self.metric, bar, {**self.options, **options})
        return _checked(self.kind, metric, threshold, options)


def kind_use(value: Any) -> KindUse:
    """Return what a marker's ``kind=`` says.

    Args:
        value: A kind's name, or a mapping of ``name``, ``metric``, ``threshold`` and
            options of the metric (``label_base``).

    Raises:
        ConfigError: There is no such kind or metric, or the metric has no such option.
        MissingExtraError: The metric needs an extra that isn't installed.
    """
    if isinstance(value, KindUse):
        return value
    given = {"name": value} if isinstance(value, str) else value
    if not isinstance(given, Mapping) or "name" not in given:
        message = (
            f"kind is a name, or a mapping with name, {{'name': 'choice', 'label_base': "
            f"1}}, not {value!r}"
        )
        raise ConfigError(message)
    kind = kind_named(given["name"])
    options = {key: option for key, option in given.items() if key not in _KEYS}
    metric = given.get("metric", kind.metric)
    return _checked(kind, metric, given.get("threshold", UNSET), options)


def _checked(
    kind: Kind, metric: str, threshold: Any, options: Mapping[str, Any]
) -> KindUse:
    declaration = metrics.check_ready(metric, options)
    if threshold is UNSET:
        if metric != kind.metric and not declaration.binary:
            message = (
                f"{metric} is graded from {declaration.low:g} to {declaration.high:g}: "
                f"say which value holds, threshold=..., or threshold=None to keep it only"
            )
            raise ConfigError(message)
        threshold = 1.0 if metric != kind.metric else kind.threshold
    return KindUse(kind=kind, metric=metric, threshold=threshold, options=options)

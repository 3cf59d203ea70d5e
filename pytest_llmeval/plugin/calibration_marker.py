"""The `llmeval_calibration` marker: its keywords, checked."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_llmeval.errors import ConfigError, did_you_mean
from pytest_llmeval.gates import calibration_gate

__all__ = ["CalibrationMarker", "read_calibration"]

_NAME = "llmeval_calibration"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationMarker:
    """What the marker says."""

    labels: Any
    """The labelled replies: a dataset as the `llmeval` marker takes it."""
    judge: Any = None
    """The judge; by default that of the suite."""
    label: Any = "label"
    """The column with a person's word."""
    columns: Any = None
    """As in the `llmeval` marker."""
    limit: int | None = None
    """How many rows to take, from the first."""
    gate: Any = "kappa >= 0.6"
    """Bars, ``kappa``, ``accuracy`` or ``undecided``; None for none."""

    def as_evaluation(self) -> Mapping[str, Any]:
        """Return it in the keywords of the `llmeval` marker."""
        given = {
            "dataset": self.labels,
            "judge": self.judge,
            "columns": self.columns,
            "limit": self.limit,
            "gate": self.gate,
        }
        return {name: value for name, value in given.items() if value is not None}


def _signature(
    labels: Any,
    *,
    judge: Any = None,
    label: str = "label",
    columns: Any = None,
    limit: int | None = None,
    gate: Any = "kappa >= 0.6",
) -> None:
    """Take the marker's arguments: its one definition of what there is."""


_SIGNATURE = inspect.signature(_signature)


def read_calibration(node: Any) -> CalibrationMarker | None:
    """Return what a test's calibration marker says, None without one.

    Raises:
        ConfigError: A keyword is unknown or has a value it can't have.
    """
    mark = node.get_closest_marker(_NAME)
    if mark is None:
        return None
    names = list(_SIGNATURE.parameters)
    for name in mark.kwargs:
        if name not in names:
            message = (
                f"the {_NAME} marker has no keyword {name!r}"
                f"{did_you_mean(name, names)}; keywords: {', '.join(names)}"
            )
            raise ConfigError(message)
    try:
        given = _SIGNATURE.bind(*mark.args, **mark.kwargs).arguments
    except TypeError as exc:
        message = f"the {_NAME} marker takes the labelled replies and keywords: {exc}"
        raise ConfigError(message) from exc
    found = CalibrationMarker(**given)
    gates = found.gate if isinstance(found.gate, list | tuple) else [found.gate]
    for text in gates:
        if text is not None:
            calibration_gate(text)
    if not isinstance(found.label, str) or not found.label:
        message = f"{_NAME} marker: label is the name of a column, not {found.label!r}"
        raise ConfigError(message)
    return found

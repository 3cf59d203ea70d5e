"""The `llmeval` marker: its keywords, checked and merged, closest first."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import ConfigError, did_you_mean, percent_hint
from pytest_llmeval.gates import parse_gate
from pytest_llmeval.plugin._internals import parameter_marks
from pytest_llmeval.plugin.calibration_marker import read_calibration

__all__ = ["Marker", "gates_of", "llmeval_marks", "read_marker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """What the markers of a test say together."""

    dataset: Any = None
    """A path or glob beside the test file, a list of rows, or a callable that returns one."""
    columns: Any = None
    """Where our fields stand, ``{our_field: "their.path"}``, or a preset's name."""
    prompt: Any = None
    """A template, its path, or a callable; a list of them is a matrix."""
    system: Any = None
    """The system's text, as a template, its path, or a callable."""
    generator: Any = None
    """The model under test: a spec, a name of llmeval.yaml, a mapping or a callable; a
    list of them is a matrix."""
    judge: Any = None
    """The judge: a spec, a name of llmeval.yaml, a mapping or a callable."""
    kind: Any = None
    """The kind of the rows, for `assert_case`: a name, or a mapping with options."""
    limit: int | None = None
    """How many rows to take, from the first."""
    concurrency: int | None = None
    """How many bodies of this test run at once."""
    repeat: int | None = None
    """How often each body runs (default: once)."""
    min_sample_rate: float | None = None
    """The share of the samples that must pass (default: all)."""
    gate: Any = None
    """Bars for all cases together, ``"pass_rate >= 0.9"``, one or a list."""
    is_calibration: bool = False
    """One verdict a row is held against a person's: there are no repeats."""


def _signature(
    dataset: Any = None,
    *,
    columns: Any = None,
    prompt: Any = None,
    system: Any = None,
    generator: Any = None,
    judge: Any = None,
    kind: Any = None,
    limit: int | None = None,
    concurrency: int | None = None,
    repeat: int | None = None,
    min_sample_rate: float | None = None,
    gate: Any = None,
) -> None:
    """Take the marker's arguments: its one definition of what there is."""


_SIGNATURE = inspect.signature(_signature)


def read_marker(node: Any) -> Marker | None:
    """Return what the markers of a test or function say, None if it has none.

    Raises:
        ConfigError: A keyword is unknown or has a value it can't have.
    """
    merged: dict[str, Any] = {}
    found = False
    for mark in llmeval_marks(node):
        found = True
        for name, value in _arguments(mark).items():
            merged.setdefault(name, value)
    if (calibration := read_calibration(node)) is not None:
        found = True
        given = calibration.as_evaluation()
        _check_values("llmeval_calibration", given)
        merged = {**given, **merged, "is_calibration": True}
    return Marker(**merged) if found else None


def llmeval_marks(node: Any) -> Iterator[pytest.Mark]:
    """Yield the markers: of the parameter set, the function, the class, the module."""
    own = [mark for mark in parameter_marks(node) if mark.name == "llmeval"]
    yield from own
    for mark in node.iter_markers("llmeval"):
        if not any(mark is other for other in own):
            yield mark


def _arguments(mark: pytest.Mark) -> Mapping[str, Any]:
    if len(mark.args) > 1:
        message = (
            f"the llmeval marker takes one dataset, and got {len(mark.args)}: "
            f"{', '.join(map(repr, mark.args))}; a glob or a list joins several"
        )
        raise ConfigError(message)
    names = list(_SIGNATURE.parameters)
    for name in mark.kwargs:
        if name not in names:
            message = (
                f"the llmeval marker has no keyword {name!r}"
                f"{did_you_mean(name, names)}; keywords: {', '.join(names)}"
            )
            raise ConfigError(message)
    if mark.args and "dataset" in mark.kwargs:
        message = "the llmeval marker got its dataset twice, first and as dataset="
        raise ConfigError(message)
    given = dict(_SIGNATURE.bind(*mark.args, **mark.kwargs).arguments)
    _check_values("llmeval", given)
    for text in gates_of(given.get("gate")):
        parse_gate(text)
    return {name: value for name, value in given.items() if value is not None}


def _check_values(marker: str, given: Mapping[str, Any]) -> None:
    for name, check in _CHECKS.items():
        if name in given and not check[0](given[name]):
            message = f"{marker} marker: {name} is {check[1]}, not {given[name]!r}"
            if name == "min_sample_rate" and isinstance(given[name], int | float):
                message += percent_hint(given[name])
            raise ConfigError(message)


def gates_of(gate: Any) -> tuple[Any, ...]:
    """Return the texts of a marker's gates: it takes one or a list."""
    if gate is None:
        return ()
    return tuple(gate) if isinstance(gate, list | tuple) else (gate,)


def _is_model(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(
            _is_model(v) and not isinstance(v, list | tuple) for v in value
        )
    is_named = isinstance(value, str | Mapping) and bool(value)
    return value is None or is_named or callable(value) or hasattr(value, "generate")


def _is_template(value: Any) -> bool:
    return value is None or isinstance(value, str | Path) or callable(value)


def _is_prompt(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_is_template, value))
    return _is_template(value)


def _is_dataset(value: Any) -> bool:
    return isinstance(value, str | Path | list | tuple | None) or callable(value)


def _is_count(value: Any) -> bool:
    return value is None or (
        isinstance(value, int) and not isinstance(value, bool) and value >= 1
    )


def _is_share(value: Any) -> bool:
    return value is None or (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and 0 < value <= 1
    )


_CHECKS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "dataset": (
        _is_dataset,
        "a path or glob, a list of mappings, texts or cases, or a callable",
    ),
    "columns": (
        lambda value: isinstance(value, str | Mapping | None),
        "a mapping {our_field: 'their.path'} or the name of a preset",
    ),
    "prompt": (_is_prompt, "a template, a path, a callable, or a list of these"),
    "system": (_is_template, "a template, a path or a callable"),
    "generator": (_is_model, "a model spec, a mapping, a callable, or a list of these"),
    "judge": (
        lambda value: _is_model(value) and not isinstance(value, list | tuple),
        "a model spec, a mapping or a callable",
    ),
    "kind": (
        lambda value: isinstance(value, str | Mapping | None),
        "the name of a kind, or a mapping with name and options",
    ),
    "limit": (_is_count, "a whole number from 1 up"),
    "concurrency": (_is_count, "a whole number from 1 up"),
    "repeat": (_is_count, "a whole number from 1 up"),
    "min_sample_rate": (_is_share, "a number above 0, at most 1"),
}

"""The variants of a test, one for each model and prompt, and how many cases they run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pytest_llmeval.clients import Panel
from pytest_llmeval.clients.column import ColumnBackend
from pytest_llmeval.config import parse_spec
from pytest_llmeval.datasets import label_ids
from pytest_llmeval.errors import ConfigError, did_you_mean
from pytest_llmeval.gates import refuse_too_few
from pytest_llmeval.plugin.facades import no_model_text
from pytest_llmeval.plugin.marker import Marker
from pytest_llmeval.plugin.runtime import Runtime
from pytest_llmeval.prompts import template_check
from pytest_llmeval.types import Case

__all__ = ["check_variant", "label_of", "limited", "pinned", "variants"]


def limited(cases: list[Case], marker: Marker, runtime: Runtime) -> list[Case]:
    """Return the cases that the marker's limit and the options leave."""
    settings = runtime.settings
    if marker.limit is not None:
        cases = cases[: marker.limit]
    if isinstance(settings.limit, float):
        # At least one: a share of a small dataset is not nothing.
        cases = cases[: max(1, int(len(cases) * settings.limit))]
    elif settings.limit is not None:
        cases = cases[: settings.limit]
    if settings.sample is not None and settings.sample[0] < len(cases):
        count, seed = settings.sample
        # In the dataset's order, and by a seed: the same on every xdist worker.
        drawn = sorted(Random(seed).sample(range(len(cases)), count))
        cases = [cases[index] for index in drawn]
    return cases


def variants(
    runtime: Runtime, marker: Marker | None, fixtures: set[str]
) -> list[Marker]:
    """Return one marker per model and prompt of the matrix."""
    merged = marker or Marker()
    models: Sequence[Any] = runtime.plans.generators(marker)
    if "generator" not in fixtures:
        models = models[:1]
    prompts: Any = merged.prompt
    if not isinstance(prompts, list | tuple):
        prompts = [prompts]
    return [
        replace(merged, prompt=prompt, generator=model)
        for model in models or [None]
        for prompt in prompts
    ]


def pinned(
    markers: list[Marker],
) -> Iterator[tuple[list[str], list[pytest.MarkDecorator]]]:
    """Yield what each variant adds to an id, and the mark that pins it.

    Nothing when there is only one: ids stay when a second model comes and goes.
    """
    ids: dict[str, dict[str, str]] = {}
    for name in ("generator", "prompt"):
        labels = dict.fromkeys(label_of(getattr(one, name)) for one in markers)
        if len(labels) > 1:
            ids[name] = dict(zip(labels, label_ids(list(labels)), strict=True))
    for variant in markers:
        pins = {name: getattr(variant, name) for name in ids}
        marks = [pytest.mark.llmeval(**pins)] if pins else []
        yield [ids[name][label_of(value)] for name, value in pins.items()], marks


def label_of(value: Any) -> str:
    """Return how a model or prompt of a matrix is called in ids and reports."""
    return str(getattr(value, "__name__", value))


def check_variant(
    runtime: Runtime,
    variant: Marker,
    fixtures: set[str],
    base: Path,
    cases: list[Case] | None,
) -> None:
    """Find mistakes before anything is asked: models, columns, the first prompt."""
    plan = runtime.plans.of_marker(variant, base)
    refuse_too_few(plan.gates, plan.repeat)
    for role, spec in (("generator", plan.generator), ("judge", plan.judge)):
        if role not in fixtures:
            if isinstance(spec, str | Mapping):
                parse_spec(spec, runtime.config)  # a model that nobody knows is told
            continue
        if spec is None:
            raise ConfigError(no_model_text(role))
        backend = runtime.clients.backend(spec)
        if isinstance(backend, Panel) and role == "generator":
            raise backend.no_reply()
        if isinstance(backend, ColumnBackend) and cases and role == "generator":
            _check_column(backend, cases)
    if cases and plan.prompt is not None:
        template_check(plan.prompt, *cases)


def _check_column(backend: ColumnBackend, cases: list[Case]) -> None:
    """Refuse a column that no row has; one that some rows lack leaves these unscored."""
    if any(backend.column in case.fields for case in cases):
        return
    columns = list(dict.fromkeys(str(name) for name in cases[0].fields))
    message = (
        f"{backend.name}: no row has a column {backend.column!r}"
        f"{did_you_mean(backend.column, columns)}; "
        f"columns: {', '.join(columns) or 'none'}"
    )
    raise ConfigError(message)

"""From a marked function to its cases: parameters, ids, marks of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pytest_llmeval.clients import Panel
from pytest_llmeval.clients.column import ColumnBackend
from pytest_llmeval.config import parse_spec
from pytest_llmeval.datasets import cases_from, check_node_ids, label_ids, node_id
from pytest_llmeval.errors import (
    ConfigError,
    UserError,
    did_you_mean,
)
from pytest_llmeval.kinds import check_rows, kind_use
from pytest_llmeval.plugin._internals import parameters
from pytest_llmeval.plugin.marker import Marker, read_marker
from pytest_llmeval.plugin.rows import row_marks
from pytest_llmeval.plugin.runtime import Runtime, no_model_text, runtime_of
from pytest_llmeval.prompts import template_check
from pytest_llmeval.types import Case

__all__ = ["label_of", "parametrize", "select"]


def parametrize(metafunc: pytest.Metafunc, fixtures: set[str]) -> None:
    """Give a function its cases.

    Args:
        metafunc: The function, marked or using one of our fixtures.
        fixtures: The fixtures of ours it uses.

    Raises:
        pytest.fail.Exception: The marker, the dataset, a template or a model
            can't be used.
    """
    try:
        _parametrize(metafunc, fixtures, runtime_of(metafunc.config))
    except UserError as exc:
        # Unlike a CollectError this has its reason in the short summary too.
        pytest.fail(f"{metafunc.definition.nodeid}: {exc}", pytrace=False)


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the cases that --llmeval-cases names, and give -k the tags as written.

    Raises:
        pytest.UsageError: No dataset has a case with such an id.
    """
    runtime = runtime_of(config)
    wanted = set(runtime.settings.cases)
    found: set[str] = set()
    runtime.collected.count_items(
        item.nodeid for item in items if item.get_closest_marker("llmeval")
    )
    dropped = []
    for item in items:
        case = parameters(item).get("case")
        if case is None:
            _refuse_lost_dataset(item)
        if isinstance(case, Case):
            item.extra_keyword_matches.update(case.tags)
            found.add(case.id)
        if wanted and not (isinstance(case, Case) and case.id in wanted):
            dropped.append(item)
    for name in sorted(wanted - found):
        message = (
            f"--llmeval-cases: no dataset has a case {name!r}"
            f"{did_you_mean(name, found)}"
        )
        raise pytest.UsageError(message)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        gone = set(map(id, dropped))
        items[:] = [item for item in items if id(item) not in gone]


def _refuse_lost_dataset(item: pytest.Item) -> None:
    """Refuse a dataset on what pytest can't parametrize: it would run as one case.

    Raises:
        pytest.UsageError: The item's marker has a dataset.
    """
    try:
        marker = read_marker(item)
    except ConfigError as exc:
        raise pytest.UsageError(f"{item.nodeid}: {exc}") from exc
    if marker is not None and marker.dataset is not None:
        message = (
            f"{item.nodeid}: the marker has a dataset, and methods of a "
            f"unittest.TestCase can't receive its rows: write a function or a plain "
            f"class"
        )
        raise pytest.UsageError(message)


def _parametrize(
    metafunc: pytest.Metafunc, fixtures: set[str], runtime: Runtime
) -> None:
    marker = read_marker(metafunc.definition)
    base = metafunc.definition.path.parent
    variants = _variants(runtime, marker, fixtures)
    cases = _cases(metafunc, marker, base, runtime)
    if runtime.settings.mode != "live":
        runtime.clients.shelf.check_module(metafunc.definition.nodeid)
    for variant in variants:
        _check(runtime, variant, fixtures, base, cases)
    if marker is None or (marker.dataset is None and len(variants) == 1):
        _single_case(metafunc, cases)
        return
    parameters = [
        pytest.param(
            case,
            id="-".join([node_id(case.id), *pins]),
            marks=[*row_marks(case, metafunc.config), *variant_marks],
        )
        for pins, variant_marks in _pinned(variants)
        for case in cases or ()
    ]
    if "case" not in metafunc.fixturenames:
        # A matrix over models of a test without a dataset: its parameter needs a name.
        metafunc.fixturenames.append("case")
    metafunc.parametrize("case", parameters)
    definition = metafunc.definition
    stacked = (len(_argvalues(m)) for m in definition.iter_markers("parametrize"))
    items = len(parameters) * prod(stacked)
    runtime.collected.add_test(definition.nodeid, items)


def _argvalues(mark: pytest.Mark) -> Any:
    """Return the values of a parametrize mark, one where they can't be counted."""
    values = mark.args[1] if len(mark.args) > 1 else mark.kwargs.get("argvalues", ())
    return values if isinstance(values, Sized) else (None,)


def _single_case(metafunc: pytest.Metafunc, cases: Sequence[Case] | None) -> None:
    """Give a test without a dataset its one case, where it asks for it."""
    if "case" in metafunc.fixturenames and cases is not None:
        parameter = pytest.param(cases[0], id=pytest.HIDDEN_PARAM)
        metafunc.parametrize("case", [parameter])


def _cases(
    metafunc: pytest.Metafunc, marker: Marker | None, base: Path, runtime: Runtime
) -> list[Case] | None:
    """Return a test's cases, None when the test parametrizes `case` itself."""
    definition = metafunc.definition
    has_own = any(
        "case" in _argnames(mark) for mark in definition.iter_markers("parametrize")
    )
    if marker is None or marker.dataset is None:
        return None if has_own else [Case(id=definition.originalname or "case")]
    if has_own:
        message = "case comes from the marker's dataset and from parametrize: drop one"
        raise ConfigError(message)
    if "case" not in metafunc.fixturenames:
        message = (
            "the marker has a dataset, and the function has no argument `case` to "
            "receive its rows"
        )
        raise ConfigError(message)
    use = None if marker.kind is None else kind_use(marker.kind)
    found = cases_from(
        marker.dataset,
        columns=marker.columns,
        root=runtime.root,
        base=base,
        first=use.kind.columns if use else None,
    )
    if not found:
        message = f"the dataset {_shown(marker.dataset)} holds no cases"
        raise ConfigError(message)
    check_node_ids(found)
    if use is not None:
        check_rows(use, found)
    kept = _limited(found, marker, runtime)
    runtime.collected.add_dataset(definition.nodeid, found, kept)
    return kept


def _argnames(mark: pytest.Mark) -> list[str]:
    names: Any = mark.args[0] if mark.args else mark.kwargs.get("argnames", "")
    if isinstance(names, str):
        return [name.strip() for name in names.split(",")]
    return list(names)


def _shown(dataset: Any) -> str:
    return repr(dataset) if isinstance(dataset, str | Path) else "of the marker"


def _limited(cases: list[Case], marker: Marker, runtime: Runtime) -> list[Case]:
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


def _variants(
    runtime: Runtime, marker: Marker | None, fixtures: set[str]
) -> list[Marker]:
    """Return one marker per model and prompt of the matrix."""
    merged = marker or Marker()
    models: Sequence[Any] = runtime.generators(marker)
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


def _pinned(
    variants: list[Marker],
) -> Iterator[tuple[list[str], list[pytest.MarkDecorator]]]:
    """Yield what each variant adds to an id, and the mark that pins it.

    Nothing when there is only one: ids stay when a second model comes and goes.
    """
    ids: dict[str, dict[str, str]] = {}
    for name in ("generator", "prompt"):
        labels = dict.fromkeys(label_of(getattr(one, name)) for one in variants)
        if len(labels) > 1:
            ids[name] = dict(zip(labels, label_ids(list(labels)), strict=True))
    for variant in variants:
        pins = {name: getattr(variant, name) for name in ids}
        marks = [pytest.mark.llmeval(**pins)] if pins else []
        yield [ids[name][label_of(value)] for name, value in pins.items()], marks


def label_of(value: Any) -> str:
    """Return how a model or prompt of a matrix is called in ids and reports."""
    return str(getattr(value, "__name__", value))


def _check(
    runtime: Runtime,
    variant: Marker,
    fixtures: set[str],
    base: Path,
    cases: list[Case] | None,
) -> None:
    """Find mistakes before anything is asked: models, columns, the first prompt."""
    plan = runtime.plan(variant, base)
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

"""From a marked function to its cases: parameters, ids, marks of rows."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from math import prod
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_llmeval.datasets import cases_from, check_node_ids, node_id
from pytest_llmeval.errors import (
    ConfigError,
    UserError,
    did_you_mean,
)
from pytest_llmeval.kinds import check_rows, kind_use
from pytest_llmeval.plugin._internals import parameters
from pytest_llmeval.plugin.earlier import resumed_of
from pytest_llmeval.plugin.marker import Marker, read_marker
from pytest_llmeval.plugin.rows import row_marks
from pytest_llmeval.plugin.runtime import Runtime, runtime_of
from pytest_llmeval.plugin.variants import check_variant, limited, pinned, variants
from pytest_llmeval.types import Case

__all__ = ["parametrize", "select"]

#: Ids that an error lists.
_SHOWN: Final = 10


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
        problem = f"{metafunc.definition.nodeid}: {exc}"
    else:
        return
    # Unlike a CollectError this has its reason in the short summary too; raised inside
    # of the handler, pytest would print it a second time as what it came from.
    pytest.fail(problem, pytrace=False)


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the cases that --llmeval-cases names, and give -k the tags as written.

    Raises:
        pytest.UsageError: No dataset has a case with such an id.
    """
    runtime = runtime_of(config)
    wanted = set(runtime.settings.cases)
    found: set[str] = set()
    nodeids = [item.nodeid for item in items if item.get_closest_marker("llmeval")]
    runtime.collected.count_items(nodeids)
    if (resumed := resumed_of(config)) is not None:
        try:
            resumed.refuse_other(nodeids)
        except UserError as exc:
            raise pytest.UsageError(f"--llmeval-resume: {exc}") from exc
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
        shown = sorted(found)[:_SHOWN]
        more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
        message = (
            f"--llmeval-cases: no dataset has a case {name!r}"
            f"{did_you_mean(name, found)}; cases: {', '.join(shown) or 'none'}{more}"
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
    markers = variants(runtime, marker, fixtures)
    cases = _cases(metafunc, marker, base, runtime)
    if runtime.settings.mode != "live":
        runtime.clients.shelf.check_module(metafunc.definition.nodeid)
    for variant in markers:
        check_variant(runtime, variant, fixtures, base, cases)
    if marker is None or (marker.dataset is None and len(markers) == 1):
        _single_case(metafunc, cases)
        return
    parameters = [
        pytest.param(
            case,
            id="-".join([node_id(case.id), *pins]),
            marks=[*row_marks(case, metafunc.config), *variant_marks],
        )
        for pins, variant_marks in pinned(markers)
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
    kept = limited(found, marker, runtime)
    runtime.collected.add_dataset(definition.nodeid, found, kept)
    return kept


def _argnames(mark: pytest.Mark) -> list[str]:
    names: Any = mark.args[0] if mark.args else mark.kwargs.get("argnames", "")
    if isinstance(names, str):
        return [name.strip() for name in names.split(",")]
    return list(names)


def _shown(dataset: Any) -> str:
    return repr(dataset) if isinstance(dataset, str | Path) else "of the marker"

"""Our fields of a task's rows, for checks, judges and kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytest_llmeval.config import Section
from pytest_llmeval.datasets import cases_from
from pytest_llmeval.errors import UserError
from pytest_llmeval.kinds import KindUse, check_rows
from pytest_llmeval.tasks.lm_eval._dataset import Dataset
from pytest_llmeval.types import Case

__all__ = ["with_fields"]


def with_fields(
    cases: Sequence[Case],
    rows: Dataset,
    columns: Any,
    kind: KindUse | None,
    own: Section,
) -> tuple[Case, ...]:
    """Return cases with our fields as columns say where they stand.

    What the columns have nothing for stays: the prompt is the input, the target what is
    expected.

    Args:
        cases: Of the rows.
        rows: The rows.
        columns: As in a marker.
        kind: Of the cases, with columns of its own.
        own: For the places in error texts.

    Raises:
        ConfigError: Columns can't be used, or no row is one of the kind.
    """
    given = [{k: v for k, v in row.items() if k != "id"} for row in rows]
    try:
        found = cases_from(
            given, columns=columns, first=kind.kind.columns if kind else None
        )
        if kind is not None:
            check_rows(kind, found)
    except UserError as exc:
        key = "columns" if columns is not None else "kind"
        raise own.fail(f"{key}: {exc}", key) from exc
    return tuple(
        replace(
            one,
            id=case.id,
            is_numbered=case.is_numbered,
            input=case.input if one.input is None else one.input,
            expected=case.expected if one.expected is None else one.expected,
            fields=case.fields,
            tags=tuple(dict.fromkeys((*case.tags, *one.tags))),
            source=case.source,
        )
        for case, one in zip(cases, found, strict=True)
    )

"""Our own dialect: dataset, prompt, models and checks, as a test function has them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.assertions import assert_case
from pytest_llmeval.config import Section
from pytest_llmeval.datasets import cases_from
from pytest_llmeval.errors import UserError
from pytest_llmeval.evaluate import reply_text
from pytest_llmeval.kinds import check_rows, kind_use
from pytest_llmeval.tasks._checks import TaskCheck, make_checks, read_checks
from pytest_llmeval.tasks._marks import (
    kind_of,
    marker_keywords,
    rows_of_share,
    share_of,
)
from pytest_llmeval.tasks._task import Task, TaskOptions
from pytest_llmeval.types import Case, Source

__all__ = ["KEYS", "own_task"]

KEYS: Final = (
    *("task", "dataset", "columns", "prompt", "system", "generator", "judge"),
    *("kind", "assert", "gate", "tags", "limit", "concurrency"),
    *("repeat", "min_sample_rate"),
)


def own_task(top: Section, name: str, path: Path, options: TaskOptions) -> Task:
    """Return the task of a file in our own words.

    Args:
        top: What the file says.
        name: What the task is called.
        path: The file: what it names is looked for beside it.
        options: What holds for all task files.

    Raises:
        UserError: Something is wrong; the text has file and line.
    """
    top = replace(top, what=f"task {name!r}")
    top.only(KEYS)
    checks = read_checks(top, base=path.parent, root=options.root)
    keywords = marker_keywords(top)
    cases = _cases(top, path.parent, options.root)
    uses = {"generator"} | {"judge" for check in checks if check.asks_judge}

    def run(case: Case, generator: Any, judge: Any) -> None:
        __tracebackhide__ = True
        _run(checks, "kind" in keywords, case, generator, judge)

    return Task(
        name=name,
        shown=top.shown,
        cases=tuple(cases[: rows_of_share(share_of(top), len(cases), top)]),
        run=run,
        keywords=keywords,
        uses=frozenset(uses),
        has_checks=bool(checks) or "kind" in keywords,
    )


def _run(
    checks: tuple[TaskCheck, ...],
    has_kind: bool,
    case: Case,
    generator: Any,
    judge: Any,
) -> None:
    """Ask the model where a check looks at its reply, and make every check."""
    __tracebackhide__ = True
    if not checks and has_kind:
        assert_case(case, generator)
        return
    response = None
    if not checks or any(check.reads_reply for check in checks):
        response = generator(case)
    if not checks:
        reply_text(response, case)  # an empty reply is none
        return
    make_checks(checks, response, case, generator, judge)


def _cases(top: Section, base: Path, root: Path) -> list[Case]:
    """Return the rows of the dataset, with the task's tags."""
    dataset = top.data.get("dataset")
    if not (isinstance(dataset, str | list) and dataset):
        message = (
            f"dataset is a path or glob beside this file, or a list of rows, "
            f"not {dataset!r:.60}"
        )
        raise top.fail(message, "dataset")
    kind = kind_of(top)
    use = None if kind is None else kind_use(kind)
    try:
        found = cases_from(
            dataset,
            columns=top.data.get("columns"),
            root=root,
            base=base,
            first=use.kind.columns if use else None,
        )
        if use is not None:
            check_rows(use, found)
    except UserError as exc:
        raise top.fail(str(exc), "dataset") from exc
    if not found:
        raise top.fail(f"the dataset {dataset!r:.60} holds no cases", "dataset")
    tags = top.texts("tags")
    return [
        replace(
            case,
            tags=tuple(dict.fromkeys((*tags, *case.tags))),
            source=case.source or _place(top, index),
        )
        for index, case in enumerate(found)
    ]


def _place(top: Section, index: int) -> Source:
    """Return where a row stands that is written in the task file itself."""
    line = top.lines.get(("dataset", index), top.lines.get(("dataset",), 1))
    return Source(file=top.shown, line=line)

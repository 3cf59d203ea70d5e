"""A run kept as a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_llmeval.baseline import (
    Baseline,
    baseline_path,
    head_commit,
    standing_of,
    write_baseline,
)
from pytest_llmeval.conclusion._collected import Collected
from pytest_llmeval.types import Record

__all__ = ["save_baseline"]


def save_baseline(
    name: str,
    records: Sequence[Record],
    run: Mapping[str, Any],
    collected: Collected,
    *,
    root: Path,
    force: str,
    is_forced: bool,
) -> tuple[str, bool]:
    """Keep a run as a baseline; return a line about it, and whether it was kept.

    Args:
        name: Of the baseline.
        records: Of all cases.
        run: What is known of the run itself.
        collected: What the suite holds.
        root: The root directory.
        force: The option that saves a run that is not whole.
        is_forced: Whether it is given.
    """
    records = [record for record in records if record.status != "not_run"]
    if not is_forced and (why := "; ".join(_reasons_not_to(collected, records))):
        return f"not saved as {name!r}: {why} ({force} saves it anyway)", False
    commit, dirty = head_commit(root)
    baseline = Baseline(
        name=name,
        cases=tuple(standing_of(record).settled() for record in records),
        created=str(run["started"]),
        commit=commit,
        dirty=dirty,
        run={key: run[key] for key in ("mode", "generators", "judge", "limit")},
    )
    path = baseline_path(root, name)
    try:
        write_baseline(baseline, path)
    except OSError as exc:
        return f"could not save the baseline {str(path)!r}: {exc}", False
    shown = path.relative_to(root).as_posix()
    return f"saved as {shown}: {len(records)} cases; commit it", True


def _reasons_not_to(collected: Collected, records: Sequence[Record]) -> Iterator[str]:
    if not records:
        yield "nothing ran"
        return
    if unscored := sum(record.status == "unscored" for record in records):
        yield f"{unscored} unscored"
    if missing := collected.left(record.nodeid for record in records):
        yield f"{missing} of {missing + len(records)} cases did not run"
    elif limited := [test for test in collected.tests if collected.is_limited(test)]:
        yield f"{len(limited)} of {len(collected.tests)} tests ran a part of their data"

"""A run against its baseline, and a run kept as one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_llmeval.baseline import (
    Baseline,
    baseline_path,
    compare,
    head_commit,
    standing_of,
    write_baseline,
)
from pytest_llmeval.types import Record

if TYPE_CHECKING:
    import pytest

    from pytest_llmeval.conclusion import Collected
    from pytest_llmeval.plugin.outputs import Outputs
    from pytest_llmeval.plugin.runtime import Runtime

__all__ = ["Against", "save"]


class Against:
    """Holds the cases of a run against a baseline.

    Args:
        baseline: What they are compared with.
    """

    def __init__(self, baseline: Baseline) -> None:
        self.baseline = baseline
        self._failed = [one for one in baseline.cases if one.passed is False]
        self._identities = {one.identity for one in self._failed}
        self._contents = {(one.test, one.row) for one in self._failed}

    def failed_before(self, record: Record) -> bool:
        """Return whether a case that fails now is known to have failed before."""
        now = standing_of(record)
        # Cheap first: most failures of a run are news.
        if (
            now.identity not in self._identities
            and (now.test, now.row) not in self._contents
        ):
            return False
        before = [one for one in self._failed if one.test == now.test]
        return any(change.now for change in compare([now], before).of("known"))


def save(
    config: pytest.Config, outputs: Outputs, runtime: Runtime, name: str
) -> tuple[str, bool]:
    """Keep a run as a baseline; return a line about it, and whether it was kept."""
    settings = runtime.settings
    records = [r for r in outputs.records.values() if r.status != "not_run"]
    if not settings.save_force and (
        why := "; ".join(_reasons_not_to(runtime.collected, records))
    ):
        return (
            f"not saved as {name!r}: {why} (--llmeval-save-force saves it anyway)"
        ), False
    commit, dirty = head_commit(config.rootpath)
    header = outputs.header()
    baseline = Baseline(
        name=name,
        cases=tuple(standing_of(record).settled() for record in records),
        created=str(header["started"]),
        commit=commit,
        dirty=dirty,
        run={key: header[key] for key in ("mode", "generators", "judge", "limit")},
    )
    path = baseline_path(config.rootpath, name)
    try:
        write_baseline(baseline, path)
    except OSError as exc:
        return f"could not save the baseline {str(path)!r}: {exc}", False
    shown = path.relative_to(config.rootpath).as_posix()
    return f"saved as {shown}: {len(records)} cases; commit it", True


def _reasons_not_to(collected: Collected, records: list[Record]) -> Iterable[str]:
    if not records:
        yield "nothing ran"
        return
    if unscored := sum(record.status == "unscored" for record in records):
        yield f"{unscored} unscored"
    if missing := collected.left(record.nodeid for record in records):
        yield f"{missing} of {missing + len(records)} cases did not run"
    elif limited := [test for test in collected.tests if collected.is_limited(test)]:
        yield f"{len(limited)} of {len(collected.tests)} tests ran a part of their data"

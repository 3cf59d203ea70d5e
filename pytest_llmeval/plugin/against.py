"""A run against its baseline, and a run kept as one."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.baseline import (
    Baseline,
    Compared,
    Standing,
    baseline_path,
    compare,
    decide,
    head_commit,
    standing_of,
    write_baseline,
)
from pytest_llmeval.types import Record

if TYPE_CHECKING:
    import pytest

    from pytest_llmeval.plugin.collected import Collected
    from pytest_llmeval.plugin.outputs import Outputs
    from pytest_llmeval.plugin.run import Run
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

    def decide(self, run: Run) -> Compared:
        """Compare the whole run and return what that means."""
        settings = run.runtime.settings
        now = [
            standing_of(record)
            for record in run.outputs.records.values()
            if record.status != "not_run"
        ]
        before = [one for one in self.baseline.cases if _is_in_scope(one, run)]
        ran = Counter(one.test for one in now)
        not_run = frozenset(
            one.identity for one in before if _is_not_run(one, run, ran)
        )
        comparison = compare(now, before, not_run=not_run)
        decision = decide(
            comparison, settings.fail_on, allow_missing=settings.allow_missing
        )
        return Compared(
            name=self.baseline.shown, comparison=comparison, decision=decision
        )


def _is_not_run(one: Standing, run: Run, ran: Counter[str]) -> bool:
    """Return whether a case, if it did not run, is there all the same."""
    collected = run.runtime.collected
    if one.test not in collected.tests:
        # Only failures of the last time, and their files: nobody looked for the others.
        return bool(getattr(run.config.option, "lf", False))
    holds = collected.holds(one.test, one.case_id)
    if holds is not None and not one.is_numbered:
        return holds
    whole = collected.ran_whole(one.test, ran[one.test])
    return not whole or collected.is_limited(one.test)


def _is_in_scope(one: Standing, run: Run) -> bool:
    """Return whether the run looked where a case of the baseline was."""
    if one.test in run.runtime.collected.tests:
        return True
    config = run.config
    file = config.rootpath / one.test.partition("::")[0]
    for argument in config.args:
        path, _, rest = str(argument).partition("::")
        target = Path(os.path.abspath(config.invocation_params.dir / path))
        if rest:
            if file == target and one.test.partition("::")[2].startswith(rest):
                return True
        elif file.is_relative_to(target):
            return True
    return False


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
    ran = Counter(record.test for record in records)
    missing = sum(
        max(0, collected.items_of(test) - ran[test]) for test in collected.tests
    )
    if missing:
        yield f"{missing} of {missing + len(records)} cases did not run"
    elif limited := [test for test in collected.tests if collected.is_limited(test)]:
        yield f"{len(limited)} of {len(collected.tests)} tests ran a part of their data"

"""Going on with a run that was interrupted: what was scored there is taken over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_llmeval.conclusion import KeptRun
from pytest_llmeval.errors import UserError
from pytest_llmeval.plugin.basis import changes_since
from pytest_llmeval.plugin.cases import case_run
from pytest_llmeval.plugin.taken import is_taken_over, take_over
from pytest_llmeval.store.runs import read_run
from pytest_llmeval.types import ENDED, Record

if TYPE_CHECKING:
    from pytest_llmeval.plugin.runtime import Runtime

__all__ = ["Progress", "Resumed"]

_WHY_NOT = pytest.StashKey[str]()


class Resumed:
    """The cases that an earlier run has scored.

    Args:
        path: Its journal.

    Raises:
        UserError: It can't be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.paths: set[Path] = set()
        """Journals that are read: a run may itself have gone on with another."""
        self.run = KeptRun.of(read_run(path))
        self._records: dict[str, Record] = {}
        for records in self._chain(path):
            for record in records:
                known = self._records.get(record.nodeid)
                # What a stopped run did not come to, the one before may have scored.
                if known is None or known.status == "not_run":
                    self._records[record.nodeid] = record

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    def _chain(self, path: Path) -> Iterator[tuple[Record, ...]]:
        """Yield the records of the run, then of the one it went on with, and so on."""
        self.paths.add(path)
        run = self.run
        while True:
            yield run.records
            earlier = path.parent / str(run.run.get("resumed", ""))
            if earlier in self.paths or not earlier.is_file():
                return
            self.paths.add(earlier)
            run = KeptRun.of(read_run(earlier))

    def refuse_complete(self) -> None:
        """Refuse a run that has nothing left to do.

        Raises:
            UserError: It came to its end, and every case was scored.
        """
        left = sum(r.status in {"unscored", "not_run"} for r in self._records.values())
        if self.run.ended is None or left or self.run.collected.left(self._records):
            return
        message = (
            f"the run {self.name} is complete: all of its {len(self._records)} cases "
            f"ended, and none is unscored, so there is nothing to go on with"
        )
        raise UserError(message)

    def refuse_other(self, nodeids: Iterable[str]) -> None:
        """Refuse a run that has nothing to do with what was collected.

        Args:
            nodeids: Of all evaluations, before any were deselected.

        Raises:
            UserError: It has none of these tests.
        """
        tests = {nodeid.partition("[")[0] for nodeid in nodeids}
        known = {record.test for record in self._records.values()}
        if tests and known and not tests & known:
            message = (
                f"the run {self.name} is of another suite, or of other tests: it has "
                f"none of those collected here, but {', '.join(sorted(known)[:3])}"
            )
            raise UserError(message)

    def takes_over(self, item: pytest.Item, runtime: Runtime) -> bool:
        """Return whether an item's case need not be asked again."""
        if _WHY_NOT not in item.stash:
            fate = self._fate(item, runtime)
            item.stash[_WHY_NOT] = fate if isinstance(fate, str) else ""
            if isinstance(fate, Record):
                take_over(item, fate)
        return is_taken_over(item)

    def note_of(self, item: pytest.Item) -> str:
        """Return why an item ran, an empty text if it was taken over."""
        return item.stash.get(_WHY_NOT, "")

    def _fate(self, item: pytest.Item, runtime: Runtime) -> Record | str:
        """Return the record that is taken over, or why there is none."""
        record = self._records.get(item.nodeid)
        if record is None:
            return "not ended"
        if record.status not in ENDED:
            return record.status.replace("_", " ")
        try:
            run = case_run(item, runtime)
        except UserError:
            return "not readable"  # told in its own turn
        changed = next(changes_since(record, run), None)
        return record if changed is None else f"{changed} changed"


@dataclass(slots=True)
class Progress:
    """What a resumed run took over, and why it ran the rest."""

    taken: set[str] = field(default_factory=set)
    """Node ids."""
    reasons: dict[str, str] = field(default_factory=dict)
    """By node id."""

    def add(self, nodeid: str, reason: str | None) -> None:
        """Take in a case that has ended.

        Args:
            nodeid: Of its item.
            reason: Why it ran; an empty text if it was taken over, None if no run is
                gone on with.
        """
        if reason:
            self.reasons[nodeid] = reason
        elif reason is not None:
            self.taken.add(nodeid)

    def line(self, name: str) -> str:
        """Return the line of the summary."""
        counts: Mapping[str, int] = Counter(self.reasons.values())
        why = ", ".join(f"{n} {reason}" for reason, n in counts.items())
        ran = f"{len(self.reasons)} run" + (f" ({why})" if why else "")
        return f"resumed {name}: {len(self.taken)} taken over, {ran}"

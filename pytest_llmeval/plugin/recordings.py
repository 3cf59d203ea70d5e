"""Recordings of a run: they ride on reports, and the controller writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_llmeval.clients.shelf import module_recording
from pytest_llmeval.conclusion import Collected
from pytest_llmeval.config.files import shown_path
from pytest_llmeval.errors import UserError
from pytest_llmeval.plugin.options import given_names
from pytest_llmeval.plugin.settings import settings_of
from pytest_llmeval.store.recordings import Entry, Filed, Recordings
from pytest_llmeval.types import ENDED, Record

__all__ = ["RecordingWriter", "drops_unused"]

#: Options that leave it to the suite which cases run, and with which models.
_HARMLESS: Final = frozenset(
    {
        *("mode", "concurrency", "budget"),
        *("report", "show", "max-unscored", "require", "log-samples"),
        *("save", "save-force", "compare", "fail-on", "allow-missing"),
        *("require-baseline", "fail-on-unstable"),
    }
)
#: Files whose recordings have the same name.
_SUITES: Final = frozenset({".py", ".yaml", ".yml"})


def drops_unused(config: pytest.Config) -> bool:
    """Return whether a run may show that a recording is used by no test any more.

    Args:
        config: Of the controller: its mode, and what it leaves to the suite.
    """
    is_partial = (
        config.getoption("lf", False)  # leaves things uncollected
        or any("::" in argument for argument in config.args)
        or not given_names(config) <= _HARMLESS
    )
    return settings_of(config).mode in {"record", "rerecord"} and not is_partial


class RecordingWriter:
    """Gathers what the cases of a run used, by file, and writes it at the end.

    Args:
        root: Root directory of the suite.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._entries: dict[Path, list[Entry]] = {}

    def add(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Take the replies that were used, as they ride on reports."""
        for data in entries:
            filed = Filed.from_json(data, self._root)
            self._entries.setdefault(filed.path, []).append(filed.entry)

    def write(
        self, records: Iterable[Record], collected: Collected, *, drops: bool
    ) -> Iterator[str | Exception]:
        """Write every file that changed; yield a line for each, or what went wrong.

        Args:
            records: Of all cases that ended.
            collected: What there is to end.
            drops: Whether entries that no test used go, of modules that ran whole.
        """
        whole = set(self._whole(records, collected)) if drops else set()
        paths = {*self._entries, *(path for path in whole if path.is_file())}
        for path in sorted(paths):
            try:
                change = Recordings.read(path).write(
                    self._entries.get(path, ()), only_these=path in whole
                )
            except (OSError, UserError) as exc:
                yield exc
                continue
            if change is not None:
                yield f"recorded {shown_path(path, self._root)}: {change}"

    def _whole(self, records: Iterable[Record], collected: Collected) -> Iterator[Path]:
        """Yield the files of the modules whose every case ran to its end."""
        ran = Counter(record.test for record in records if record.status in ENDED)
        tests = collected.tests
        cut = {_module(t) for t in tests if not collected.ran_whole(t, ran[t])}
        whole = {_module(test) for test in tests} - cut
        for name in whole:
            others = {
                other
                for other in (self._root / name).parent.glob(f"{Path(name).stem}.*")
                if other.suffix in _SUITES and other.name != Path(name).name
            }
            if all(shown_path(other, self._root) in whole for other in others):
                yield module_recording(self._root, name)


def _module(nodeid: str) -> str:
    return nodeid.partition("::")[0]

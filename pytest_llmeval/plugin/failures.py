"""Failures kept to be looked into: gathered as reports arrive, written at the end."""

from __future__ import annotations

import json
import shlex
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pytest

from pytest_llmeval.config.files import shown_path
from pytest_llmeval.plugin.runtime import Runtime
from pytest_llmeval.plugin.samples import Samples
from pytest_llmeval.report.capsule import capsule_files
from pytest_llmeval.store.answers import answers_text
from pytest_llmeval.store.failures import FOLDER, KEPT, folder_name, keep, prune
from pytest_llmeval.types import LOOKED_INTO, Call, Record

__all__ = ["Failures", "Questions"]

#: Of those that are looked into, what is left when gates and a baseline have forgiven.
_WRITTEN: Final = frozenset({"failed", "unscored"})
#: Cases that are held until the end: some of them may be forgiven then.
_HELD: Final = 4 * KEPT
#: Characters of a case's answers; without all of them it can't run again.
_LONGEST: Final = 4_000_000
#: Questions of set-ups that are remembered.
_SET_UP: Final = 50
#: Nothing was answered.
_NOTHING: Final = frozenset({"recording", "interrupted"})


class Questions:
    """What the cases of a process asked, as far as a failure may need it."""

    def __init__(self) -> None:
        self._set_up: deque[Call] = deque(maxlen=_SET_UP)

    def note_setup(self, samples: Samples) -> None:
        """Remember what a case's fixtures asked: it may have been for others too."""
        self._set_up.extend(samples.shown.calls)

    def answers(self, samples: Samples) -> list[dict[str, Any]]:
        """Return all that a case was answered; nothing where it is too much to keep."""
        own = [call for sample in samples.runs for call in sample.calls]
        known = set(map(id, own))
        shared = [call for call in self._set_up if id(call) not in known]
        found, room = [], _LONGEST
        for call in (*shared, *own):
            response = call.response
            is_column = response is not None and response.origin == "column"
            if call.evidence is None or is_column or call.cause in _NOTHING:
                continue
            found.append(call.evidence.answer())
            room -= len(json.dumps(found[-1]))
            if room < 0:
                return []
        return found


class Failures:
    """The failures of a run, on the process that writes.

    Args:
        config: The pytest config.
        runtime: The session's shared parts.
    """

    def __init__(self, config: pytest.Config, runtime: Runtime) -> None:
        self._config = config
        self._home = runtime.root / ".llmeval"
        # A failure that is looked at must not be overwritten by the look.
        self._is_off = runtime.settings.replay is not None
        self._reports: dict[str, Any] = {}

    def take(self, report: Any, record: Record) -> None:
        """Hold the report of a case that did not pass; of one run again, the last."""
        self._reports.pop(record.nodeid, None)
        is_bad = record.status in LOOKED_INTO and not self._is_off
        if is_bad and len(self._reports) < _HELD:
            self._reports[record.nodeid] = report

    def write(self, records: Mapping[str, Record]) -> Iterator[str]:
        """Write a folder a case, and yield what to tell of them.

        Args:
            records: All cases as they stand at the end, by node id.
        """
        bad = [r for r in records.values() if r.status in _WRITTEN]
        held = [record for record in bad if record.nodeid in self._reports][:KEPT]
        if self._is_off or not held:
            return
        try:
            folders = [self._write(record) for record in held]
        except OSError as exc:
            yield f"could not keep the failures in {self._shown('')}: {exc}"
            return
        prune(self._home)
        where = folders[0] if len(folders) == 1 else ""
        count = f" ({len(held)} of {len(bad):,})" if len(held) < len(bad) else ""
        yield f"to look into: {self._shown(where)}{count}"

    def _write(self, record: Record) -> str:
        report = self._reports[record.nodeid]
        name = folder_name(record.nodeid, record.case_id)
        answers = answers_text(getattr(report, "llmeval_answers", ()))
        replay = shlex.quote(f"--llmeval-replay={self._shown(name)}")
        files = capsule_files(
            record,
            traceback="\n\n".join(_texts(report)),
            answers=answers,
            offline=f"{record.rerun} {replay}" if answers and record.rerun else "",
            moment=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        )
        keep(self._home, name, files)
        return name

    def _shown(self, name: str) -> str:
        """Return a folder as seen from where pytest began."""
        path = self._home / FOLDER / name
        return shown_path(path, self._config.invocation_params.dir)


def _texts(report: Any) -> Iterable[str]:
    yield report.longreprtext
    for title, content in report.sections:
        yield f"---- {title} ----\n{content}"

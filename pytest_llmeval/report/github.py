"""What GitHub Actions shows of a run: notes on the rows of datasets.

Format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from pytest_llmeval.diffs import cut, printable
from pytest_llmeval.report.model import Report
from pytest_llmeval.report.names import case_name
from pytest_llmeval.types import Record

__all__ = ["annotation_commands"]

#: GitHub shows ten errors and ten warnings of a step, and drops the rest.
_AT_MOST: Final = 10
_WIDTH: Final = 1000
_LEVELS: Final = {"failed": "error", "unscored": "error", "gated": "warning"}


def annotation_commands(report: Report, place: Callable[[str], str]) -> Iterator[str]:
    """Yield a workflow command a case, regressed ones first.

    Args:
        report: The run.
        place: Makes a path that GitHub knows of one below the root directory.
    """
    left = dict.fromkeys(_LEVELS.values(), _AT_MOST)
    regressed = report.regressed
    bad = [record for record in report.cases if record.status in _LEVELS]
    for record in sorted(bad, key=lambda one: one.nodeid not in regressed):
        # A gate may forgive it; that it passed before is news all the same.
        is_worse = record.nodeid in regressed
        level = "error" if is_worse else _LEVELS[record.status]
        if left[level]:
            left[level] -= 1
            word = "regressed" if is_worse else record.status
            yield _command(level, record, word, place)


def _command(level: str, record: Record, word: str, place: Callable[[str], str]) -> str:
    file, _, line = (record.source or "").rpartition(":")
    if not file or not line.isdecimal():
        file, line = record.nodeid.partition("::")[0], ""
    properties = {"file": place(file), "line": line, "title": _title(record, word)}
    given = ",".join(f"{k}={_property(v)}" for k, v in properties.items() if v)
    message = cut(printable(f"{record.reason}\n{record.rerun}".strip()), _WIDTH)
    return f"::{level} {given}::{_data(message)}"


def _title(record: Record, word: str) -> str:
    name = case_name(record.nodeid)
    return cut(" ".join(printable(f"{word}: {name}").split()), 120)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")

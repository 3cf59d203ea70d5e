"""What rides on the reports of a case is taken off them when the case is done.

pytest keeps every report to the end of the session, and with it all that was put on it.
"""

from __future__ import annotations

from typing import Any, Final

from pytest_llmeval.types import LOOKED_INTO

__all__ = ["Loads"]

#: What else is put on reports.
_RIDING: Final = frozenset(
    f"llmeval_{name}"
    for name in (
        *("alone", "answers", "begun", "logged", "mutants", "notes", "recordings"),
        *("resumed", "selected", "unchecked"),
    )
)


class Loads:
    """Knows the reports of the cases that are running."""

    def __init__(self) -> None:
        self._reports: dict[str, list[Any]] = {}
        self._left: dict[str, dict[str, str]] = {}

    def note(self, report: Any) -> None:
        """Remember a report of a case that is not done."""
        self._reports.setdefault(report.nodeid, []).append(report)

    def take_off(self, nodeid: str) -> None:
        """Leave a case's reports no more than its status, now that all have seen them.

        Those of a case that did not pass stay whole.
        """
        reports = self._reports.pop(nodeid, [])
        for report in reports:
            # The phases have them of one item.
            if report.keywords == reports[0].keywords:
                report.keywords = reports[0].keywords
            own = vars(report)
            data = own.get("llmeval")
            if data is not None:
                status = data["status"]
                if status in LOOKED_INTO:
                    continue
                # One for all: nobody changes how a case ended that did not fail.
                report.llmeval = self._left.setdefault(status, {"status": status})
            for name in _RIDING & own.keys():
                delattr(report, name)

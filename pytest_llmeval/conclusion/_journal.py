"""What a journal keeps of a run besides its cases, and the run read back from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from pytest_llmeval.conclusion._collected import Collected
from pytest_llmeval.conclusion._conclude import Conclusion, conclude
from pytest_llmeval.conclusion._terms import Ended, Terms
from pytest_llmeval.errors import UserError
from pytest_llmeval.report.build import build_report
from pytest_llmeval.report.model import Report
from pytest_llmeval.store.runs import StoredRun
from pytest_llmeval.types import Record

__all__ = ["Aggregates", "KeptRun"]


@dataclass(slots=True)
class Aggregates:
    """Values that tasks' own functions gave checks, in the order of a report's rows.

    No reader of a journal has these functions.
    """

    values: dict[str, dict[str, list[float | None]]] = field(default_factory=dict)
    """By test and check."""

    def add(self, test: str, name: str, value: float | None) -> None:
        """Keep the value of the next row."""
        self.values.setdefault(test, {}).setdefault(name, []).append(value)

    def next(
        self, test: str, name: str, function: str, items: Sequence[Any]
    ) -> float | None:
        """Return the value of the next row, None where none was kept."""
        left = self.values.get(test, {}).get(name, [])
        return left.pop(0) if left else None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRun:
    """A run and what it was held to: what comes of it can be said again."""

    run: Mapping[str, Any]
    """What is known of the run itself, as reports show it."""
    terms: Terms = field(default_factory=Terms)
    collected: Collected = field(default_factory=Collected)
    ended: Ended | None = None
    """None: it was interrupted."""
    taken: frozenset[str] = frozenset()
    """Node ids of the cases that an earlier run had asked for."""
    notes: tuple[str, ...] = ()
    """Lines that its summary had."""
    aggregates: Mapping[str, Any] = field(default_factory=dict)
    records: tuple[Record, ...] = ()
    """As their reports arrived, before gates were decided."""

    def header(self) -> dict[str, Any]:
        """Return what a journal begins with."""
        return {**self.run, "terms": self.terms.to_json()}

    def footer(self) -> dict[str, Any]:
        """Return what a journal ends with."""
        return {
            "run": dict(self.run),
            "collected": self.collected.to_json(),
            "ended": self.ended and self.ended.to_json(),
            "taken": sorted(self.taken),
            "notes": list(self.notes),
            "aggregates": dict(self.aggregates),
        }

    @classmethod
    def of(cls, stored: StoredRun) -> Self:
        """Return the run of a journal.

        Raises:
            UserError: Its header or footer is not whole.
        """
        try:
            return cls._of(stored)
        except (TypeError, ValueError, AttributeError, KeyError) as exc:
            message = f"{stored.path}: the header or the footer is not whole ({exc})"
            raise UserError(message) from exc

    @classmethod
    def _of(cls, stored: StoredRun) -> Self:
        footer = stored.footer
        run = {**stored.header, **(footer or {}).get("run", {})}
        terms = run.pop("terms", {})
        run.pop("format", None)
        collected = Collected()
        if footer is None:
            run["interrupted"] = True
        else:
            collected.take(footer.get("collected", {}))
        ended = Ended(**footer["ended"]) if footer and footer.get("ended") else None
        footer = footer or {}
        return cls(
            run=run,
            terms=Terms.from_json(terms, stored.path.name),
            collected=collected,
            ended=ended,
            taken=frozenset(footer.get("taken", ())),
            notes=tuple(footer.get("notes", ())),
            aggregates={
                test: {name: [*values] for name, values in checks.items()}
                for test, checks in footer.get("aggregates", {}).items()
            },
            records=stored.records,
        )

    def conclude(self) -> Conclusion:
        """Return what the run comes to."""
        return conclude(
            self.records, self.terms, self.collected, self.ended, taken=self.taken
        )

    def report(self, conclusion: Conclusion) -> Report:
        """Return the report of the run.

        Args:
            conclusion: What it comes to, as `conclude` says.

        Raises:
            UserError: A record has a status there isn't.
        """
        kept = Aggregates(
            {
                test: {name: list(values) for name, values in checks.items()}
                for test, checks in self.aggregates.items()
            }
        )
        return build_report(
            conclusion.records,
            self.run,
            gates=conclusion.gates,
            compared=conclusion.compared,
            aggregate=kept.next,
            groups=self.collected.groups_there(),
        )

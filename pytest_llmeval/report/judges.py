"""What the verdicts of a run say about the judge itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_llmeval.stats import disagreement, interval_text, percent_text
from pytest_llmeval.types import Record

__all__ = ["JudgeCounter", "JudgeSummary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSummary:
    """How steady a judge is, apart from what it judges."""

    verdicts: int = 0
    """Checks by a judge that were asked for, those without a verdict included."""
    undecided: int = 0
    voted: int = 0
    """Verdicts of several votes."""
    unstable: int = 0
    """Those among them whose votes said different things."""
    disagreement: float | None = None
    """How often two votes on the same reply differ; None without any two."""
    generator_disagreement: float | None = None
    """How often a judged check comes out differently in two samples of the same case:
    the model under test and the judge together. None without repeats."""
    pairs: int = 0
    """Pairs of replies that were judged in both orders."""
    inconsistent: int = 0
    """Those among them where the orders contradict each other."""
    favours_first: int = 0
    """Inconsistent in favour of whichever reply stood first."""
    favours_second: int = 0

    @property
    def position_bias(self) -> float | None:
        """The share of pairs in which the place decided, and not the reply."""
        return self._biased / self.pairs if self.pairs else None

    @property
    def _biased(self) -> int:
        return self.favours_first + self.favours_second

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {
            "verdicts": self.verdicts,
            "undecided": self.undecided,
            "voted": self.voted,
            "unstable": self.unstable,
            "disagreement": self.disagreement,
            "generator_disagreement": self.generator_disagreement,
            "pairs": self.pairs,
            "inconsistent": self.inconsistent,
            "favours_first": self.favours_first,
            "favours_second": self.favours_second,
            "position_bias": self.position_bias,
        }

    def texts(self) -> Iterator[str]:
        """Yield what a reader should know, in short phrases."""
        if self.voted:
            noun = "verdict" if self.voted == 1 else "verdicts"
            text = f"judge unstable in {self.unstable:,} of {self.voted:,} {noun}"
            if self.unstable and self.disagreement is not None:
                text += f" (votes differ {self.disagreement:.0%})".replace("%", " %")
            yield text
        if self.voted and self.generator_disagreement is not None:
            share = f"{self.generator_disagreement:.0%}".replace("%", " %")
            yield f"samples differ {share}"
        if self.pairs:
            noun = "pair" if self.pairs == 1 else "pairs"
            text = f"position bias {self._biased:,} of {self.pairs:,} {noun}"
            if self._biased:
                share = percent_text(self._biased, self.pairs)
                text += f" ({share}, {interval_text(self._biased, self.pairs)})"
            yield text
        if other := self.inconsistent - self._biased:
            yield f"otherwise inconsistent {other:,}"


class JudgeCounter:
    """Adds up the judged checks of records."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = dict.fromkeys(
            (
                "verdicts",
                "undecided",
                "voted",
                "unstable",
                "pairs",
                "inconsistent",
                "favours_first",
                "favours_second",
            ),
            0,
        )
        self._votes: list[list[str]] = []
        self._samples: list[list[bool]] = []

    def add(self, record: Record) -> None:
        """Add a case."""
        outcomes: dict[str, list[bool]] = {}
        for sample in record.samples:
            for check in sample["checks"]:
                if check.get("judge") is None:
                    continue
                self._counts["verdicts"] += 1
                self._counts["undecided"] += check["value"] is None
                self._add(check["judge"])
                if check["passed"] is not None:
                    outcomes.setdefault(check["name"], []).append(check["passed"])
        self._samples += outcomes.values()

    def _add(self, judged: Mapping[str, Any]) -> None:
        members = judged.get("members") or [judged]
        for one in members:
            if one.get("consistent") is not None:
                self._counts["pairs"] += 1
                self._counts["inconsistent"] += not one["consistent"]
            if one.get("favours"):
                self._counts[f"favours_{one['favours']}"] += 1
        votes = judged.get("votes") or members
        if len(votes) > 1:
            self._counts["voted"] += 1
            self._counts["unstable"] += bool(judged.get("unstable"))
            self._votes.append([v["said"] for v in votes if v.get("said") is not None])

    def summary(self) -> JudgeSummary:
        """Return what the cases added so far come to."""
        return JudgeSummary(
            **self._counts,
            disagreement=disagreement(self._votes),
            generator_disagreement=disagreement(self._samples),
        )

"""A judge held against people: how far its verdicts are those on labelled replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.stats import (
    Agreement,
    agreement_of,
    interval_text,
    number_text,
    percent_text,
)

__all__ = [
    "QUANTITIES",
    "Calibration",
    "Labelled",
    "calibration_of",
    "labelled",
    "lines_of",
]

#: What a gate can be about.
QUANTITIES: Final = ("kappa", "accuracy", "undecided")
#: In the place of a verdict where there is none: a word that no person's label is.
_NONE: Final = "(no verdict)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A person's word on a reply, and the judge's."""

    true: str
    said: str | None
    """None: the judge gave no verdict."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {"true": self.true, "said": self.said}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild it from the data of `to_json`."""
        return cls(true=data["true"], said=data["said"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How a judge agrees with people."""

    agreement: Agreement
    """Over the replies on which there is a verdict."""
    undecided: int
    n: int
    """All labelled replies."""
    worst: Agreement
    """Every missing verdict as one that agrees with nobody."""
    best: Agreement
    """Every missing verdict as the right one."""

    def bounds(self, name: str) -> tuple[float | None, float, float]:
        """Return a quantity, and what it is with every missing verdict wrong and right.

        Args:
            name: One of `QUANTITIES`.
        """
        if name == "undecided":
            share = self.undecided / self.n if self.n else None
            known = 0.0 if share is None else share
            return share, known, known
        value, low, high = (
            getattr(one, name) for one in (self.agreement, self.worst, self.best)
        )
        return value, -1.0 if low is None else low, 1.0 if high is None else high

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        found = self.agreement
        return {
            "n": self.n,
            "undecided": self.undecided,
            "undecided_rate": self.undecided / self.n if self.n else None,
            "accuracy": found.accuracy,
            "kappa": found.kappa,
            "interval": list(found.interval) if found.interval else None,
            "base_rate": found.base_rate,
            "base_word": found.base_word,
            "confusion": [
                {"true": true, "said": said, "count": count}
                for (true, said), count in sorted(found.confusion.items())
            ],
        }


def calibration_of(rows: Iterable[Labelled]) -> Calibration:
    """Return how a judge agrees with people.

    Args:
        rows: One a labelled reply.
    """
    found = list(rows)
    decided = [(row.true, row.said) for row in found if row.said is not None]
    return Calibration(
        agreement=agreement_of(decided),
        undecided=len(found) - len(decided),
        n=len(found),
        worst=agreement_of((row.true, row.said or _NONE) for row in found),
        best=agreement_of((row.true, row.said or row.true) for row in found),
    )


def labelled(true: Any, judged: Mapping[str, Any], passed: bool | None) -> Labelled:
    """Return a person's word and what the judge said in the same words.

    Args:
        true: The label: PASS or FAIL (also true and false), a label of the score map,
            or win, tie, loss of a comparison; letter case is of no weight.
        judged: What the judge's check keeps of the verdict.
        passed: Whether the check held; None where it has no value.

    Raises:
        UnscoredError: The label is none of what the judge could say (cause data).
    """
    word = _word(true)
    if "outcome" in judged:
        return _one_of(("win", "tie", "loss"), word, judged["outcome"])
    if judged.get("label") is None and judged.get("verdict") is None:
        said = None
    elif judged.get("label") is None:
        return _one_of(("PASS", "FAIL"), word, judged["verdict"])
    elif word.casefold() in {"pass", "fail"} and judged["label"].casefold() not in {
        "pass",
        "fail",
    }:
        said = None if passed is None else ("PASS" if passed else "FAIL")
        return Labelled(true=word.upper(), said=said)
    else:
        said = judged["label"]
    same = said is not None and said.casefold() == word.casefold()
    return Labelled(true=said if same and said else _cased(word), said=said)


def _word(true: Any) -> str:
    if isinstance(true, bool):
        return "PASS" if true else "FAIL"
    text = "" if true is None else str(true).strip()
    if not text:
        message = "the row has no label: what a person says of the reply"
        raise UnscoredError(message, cause="data")
    return {"true": "PASS", "false": "FAIL"}.get(text.casefold(), text)


def _cased(word: str) -> str:
    return word.upper() if word.casefold() in {"pass", "fail"} else word


def _one_of(words: Sequence[str], word: str, said: Any) -> Labelled:
    for known in words:
        if word.casefold() == known.casefold():
            return Labelled(true=known, said=said)
    message = f"the label {word!r} is none of {', '.join(words)}, which the judge says"
    raise UnscoredError(message, cause="data")


def lines_of(found: Calibration, judge: str) -> Iterator[str]:
    """Yield a calibration as lines of at most 80 columns.

    Args:
        found: The calibration.
        judge: The judge's name.
    """
    agreement = found.agreement
    yield f"calibration of {judge}: {found.n:,} labelled replies"
    if agreement.accuracy is not None:
        agreed = sum(agreement.confusion.get((w, w), 0) for w in agreement.words)
        yield (
            f"  accuracy   {percent_text(agreed, agreement.n)} ({agreed:,} of "
            f"{agreement.n:,}, {interval_text(agreed, agreement.n)})"
        )
    if agreement.kappa is None or agreement.interval is None:
        yield "  kappa      not defined: every label or every verdict is the same word"
    else:
        low, high = agreement.interval
        yield f"  kappa      {number_text(agreement.kappa)} ({low:.2f} to {high:.2f})"
    if agreement.base_word is not None and agreement.base_rate is not None:
        count = round(agreement.base_rate * agreement.n)
        yield (
            f"  base rate  {percent_text(count, agreement.n)}: what saying "
            f"{agreement.base_word} every time would score"
        )
    undecided = percent_text(found.undecided, found.n)
    yield f"  undecided  {undecided} ({found.undecided:,} of {found.n:,})"
    yield from _table(agreement)


def _table(agreement: Agreement) -> Iterator[str]:
    """Yield the confusion: a row a label, a column what the judge said."""
    words = agreement.words
    if not words or len(words) > 8:
        return
    width = max(8, *(len(word[:12]) + 2 for word in words))
    heads = "".join(f"{word[:12]:>{width}}" for word in words)
    yield f"  {'label, judge:':<16}{heads}"
    for true in words:
        counts = (agreement.confusion.get((true, said), 0) for said in words)
        yield f"  {true[:14]:<16}{''.join(f'{count:>{width},}' for count in counts)}"

"""What judges decide: votes, the verdict they make together, a comparison of two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import fsum
from typing import Any, Literal

from pytest_llmeval.types._messages import Prompt, Usage
from pytest_llmeval.types._text import clean_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What one judge said one time."""

    said: str | None
    """PASS or FAIL, or a label of the score map; None when that is not plain."""
    reason: str = ""
    """The judge's own words, or why there is nothing said."""
    raw: str = ""
    """The judge's whole reply."""
    repaired: str | None = None
    """Its second reply, where the first held no verdict and it was asked once more."""
    cause: str | None = None
    """Set when nothing is said: judge, cut, recording."""
    judge: str = ""
    """The configured name or spec of the model that was asked."""
    index: int = 0
    """Of this judge's votes on one reply, from 0."""
    model: str | None = None
    """The model's name as its server gave it."""
    usage: Usage | None = None
    cost: float | None = None
    """US dollars, both requests together; None is unknown."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON types, without the replies: the calls have them."""
        return {
            "judge": self.judge,
            "index": self.index,
            "said": clean_json(self.said),
            "reason": clean_json(self.reason),
            "cause": self.cause,
            "model": clean_json(self.model),
            "repaired": self.repaired is not None,
            "tokens": self.usage.total if self.usage else None,
            "cost": self.cost,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a judge, or the majority of several votes, decided about one reply."""

    verdict: Literal["PASS", "FAIL"] | None
    """None: undecidable, which is never a pass and never a failure; or, with a score
    map, a label is what was asked for."""
    reason: str = ""
    """The judge's own words, or why there is no verdict."""
    raw: str = ""
    """The judge's whole reply; of several, the first with the majority."""
    cause: str | None = None
    """Set when nothing was decided: judge, cut, recording."""
    response: str | None = None
    """The text that was judged."""
    rubric: str | None = None
    model: str | None = None
    label: str | None = None
    """Of the score map, where there is one."""
    score: float | None = None
    """The label's value."""
    votes: tuple[Vote, ...] = ()
    prompt: Prompt | None = None
    """What every vote was asked."""
    fingerprint: Mapping[str, str] = field(default_factory=dict)
    """Part of the judge (template, rubric, models, …) to a hash of it."""

    @property
    def is_decided(self) -> bool:
        """Whether there is a verdict or a label."""
        return self.verdict is not None or self.label is not None

    @property
    def is_unstable(self) -> bool:
        """Whether votes that said something said different things."""
        return len({vote.said for vote in self.votes} - {None}) > 1

    @property
    def usage(self) -> Usage | None:
        """Tokens of all votes; None when unknown of one."""
        return total_usage(vote.usage for vote in self.votes)

    @property
    def cost(self) -> float | None:
        """US dollars of all votes; None when unknown of one."""
        return total_cost(vote.cost for vote in self.votes)

    def to_json(self) -> dict[str, Any]:
        """Return what a record keeps beside the check, as plain JSON types."""
        return {
            "verdict": self.verdict,
            "label": clean_json(self.label),
            "score": self.score,
            "unstable": self.is_unstable,
            "fingerprint": dict(self.fingerprint),
            "votes": [vote.to_json() for vote in self.votes],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairwise:
    """What a judge decided between two replies, asked in both orders."""

    score: float | None
    """From the score map; None when inconsistent or undecided."""
    consistent: bool | None
    """None: an order gave no label, or only one order was asked."""
    outcome: Literal["win", "tie", "loss"] | None
    """Seen from the reply under test; None when there is no score."""
    first: str | None = None
    """The label the judge gave, the other reply shown first (as A)."""
    swapped: str | None = None
    """The label the judge gave with the two replies swapped."""
    favours: Literal["first", "second"] | None = None
    """The place a reply had to stand at to be preferred, whichever it was: set when an
    inconsistent judge named the same place in both orders."""
    first_reason: str = ""
    swapped_reason: str = ""
    cause: str | None = None
    reason: str = ""
    """Why there is no score, for a person."""
    response: str | None = None
    against: str | None = None
    orders: tuple[Vote, ...] = ()
    """The votes behind `first` and `swapped`; one where one order was asked."""
    prompts: tuple[Prompt, ...] = ()
    """What was asked in each order."""
    members: tuple[Pairwise, ...] = ()
    """Of a panel, what each of its judges settled."""
    fingerprint: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_unstable(self) -> bool:
        """Whether the judges of a panel came to different outcomes."""
        return len({one.said for one in self.members} - {None}) > 1

    @property
    def said(self) -> str | None:
        """The outcome, or inconsistent; None where an order gave no label."""
        return "inconsistent" if self.cause == "inconsistent" else self.outcome

    @property
    def usage(self) -> Usage | None:
        """Tokens of all orders and judges; None when unknown of one."""
        return total_usage(vote.usage for vote in self._votes())

    @property
    def cost(self) -> float | None:
        """US dollars of all orders and judges; None when unknown of one."""
        return total_cost(vote.cost for vote in self._votes())

    @property
    def model(self) -> str | None:
        """The model that was asked; of a panel the first."""
        return next((vote.model for vote in self._votes() if vote.model), None)

    def _votes(self) -> tuple[Vote, ...]:
        return self.orders or tuple(v for one in self.members for v in one.orders)

    def to_json(self) -> dict[str, Any]:
        """Return what a record keeps beside the check, as plain JSON types."""
        return {
            "said": self.said,
            "outcome": self.outcome,
            "score": self.score,
            "consistent": self.consistent,
            "favours": self.favours,
            "cause": self.cause,
            "first": clean_json(self.first),
            "swapped": clean_json(self.swapped),
            "first_reason": clean_json(self.first_reason),
            "swapped_reason": clean_json(self.swapped_reason),
            "unstable": self.is_unstable,
            "fingerprint": dict(self.fingerprint),
            "orders": [vote.to_json() for vote in self.orders],
            "members": [one.to_json() for one in self.members],
        }


def total_usage(usages: Iterable[Usage | None]) -> Usage | None:
    """Return the sum of usages, None when one is unknown or there are none."""
    found = list(usages)
    known = [usage for usage in found if usage is not None]
    if not known or len(known) < len(found):
        return None
    return Usage(
        input_tokens=_total([one.input_tokens for one in known]),
        output_tokens=_total([one.output_tokens for one in known]),
        cached_tokens=_total([one.cached_tokens for one in known]),
        reasoning_tokens=_total([one.reasoning_tokens for one in known]),
    )


def total_cost(costs: Iterable[float | None]) -> float | None:
    """Return the sum of costs, None when one is unknown or there are none."""
    found = list(costs)
    known = [cost for cost in found if cost is not None]
    return fsum(known) if known and len(known) == len(found) else None


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None

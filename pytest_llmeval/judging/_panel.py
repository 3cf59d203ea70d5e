"""A comparison by several judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pytest_llmeval.judging._majority import common_cause, majority
from pytest_llmeval.judging._settle import outcome_of
from pytest_llmeval.types import Pairwise

__all__ = ["settled_together"]

#: No label can look so: it stands beside them.
_INCONSISTENT = "(inconsistent)"


def settled_together(
    members: Sequence[Pairwise], scores: Mapping[str, float]
) -> Pairwise:
    """Return what the judges of a panel settle: the label of more than half of them.

    A judge that contradicts itself votes for inconsistent.

    Args:
        members: What each judge settled.
        scores: The score map.
    """
    if len(members) == 1:
        return members[0]
    said = [_said(one) for one in members]
    word = majority(said)
    if word == _INCONSISTENT or word is None:
        causes = [one.cause for one in members]
        return Pairwise(
            score=None,
            consistent=False if word else None,
            outcome=None,
            cause="inconsistent" if word else common_cause(causes),
            reason=_reason(members, said, word),
            members=tuple(members),
        )
    decisive = members[said.index(word)]
    return Pairwise(
        score=float(scores[word]),
        consistent=decisive.consistent,
        outcome=outcome_of(word, scores),
        first=decisive.first,
        swapped=decisive.swapped,
        first_reason=decisive.first_reason,
        swapped_reason=decisive.swapped_reason,
        members=tuple(members),
    )


def _said(one: Pairwise) -> str | None:
    return (
        one.first
        if one.score is not None
        else (_INCONSISTENT if one.cause == "inconsistent" else None)
    )


def _reason(
    members: Sequence[Pairwise], said: Sequence[str | None], word: str | None
) -> str:
    counts = Counter(one or "no label" for one in said).most_common()
    fell = ", ".join(f"{one.strip('()')} {count}" for one, count in counts)
    what = "mostly contradict themselves" if word else "have no majority"
    reasons = dict.fromkeys(one.reason for one in members if one.reason)
    return "; ".join([f"the {len(members)} judges {what}: {fell}", *reasons])

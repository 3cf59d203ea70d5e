"""What two labels say together, the replies shown in both orders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from pytest_llmeval.errors import ConfigError, did_you_mean
from pytest_llmeval.judging._words import check_scores
from pytest_llmeval.types import Pairwise

__all__ = ["DEFAULT_SCORE_MAP", "check_score_map", "outcome_of", "settle"]

#: Scores rise towards Response B, which is the reply under test in the first order.
DEFAULT_SCORE_MAP: Final[Mapping[str, float]] = {
    "Response A": 0.0,
    "Tie": 0.5,
    "Response B": 1.0,
}
_SIDE = re.compile(r"(?<![^\W_])([AaBb])(?![^\W_])")
_OTHER = {"A": "B", "B": "A", "a": "b", "b": "a"}


def settle(
    first: str | None,
    swapped: str | None,
    *,
    score_map: Mapping[str, float] | None = None,
    mirror: Mapping[str, str] | None = None,
) -> Pairwise:
    """Return what two labels say together.

    They are consistent when the second is the first seen from the other side: the
    label with A and B exchanged, or one of the mirrored rank where a label names no
    side. Ranks are those of the distinct scores, so spacing does not matter and two
    labels may share a score.

    Args:
        first: The judge's label; A was the other reply, B the one under test.
        swapped: Its label with the replies swapped.
        score_map: Labels and their values, rising towards Response B.
        mirror: What each label means with the replies swapped, where it isn't plain.

    Returns:
        The first order's score if they are consistent, else None.
    """
    scores = score_map or DEFAULT_SCORE_MAP
    one, other = _known(first, scores), _known(swapped, scores)
    if one is None or other is None:
        which = [o for o, x in (("first", one), ("swapped", other)) if x is None]
        return Pairwise(
            score=None,
            consistent=None,
            outcome=None,
            first=first,
            swapped=swapped,
            cause="judge",
            reason=f"the judge gave no label in the {' and the '.join(which)} order",
        )
    if not _is_consistent(one, other, scores, mirror):
        return Pairwise(
            score=None,
            consistent=False,
            outcome=None,
            first=first,
            swapped=swapped,
            favours=_favoured(one, other, scores),
            cause="inconsistent",
            reason=(
                f"the judge contradicted itself: {one!r}, and with the replies swapped "
                f"{other!r}"
            ),
        )
    return Pairwise(
        score=scores[one],
        consistent=True,
        outcome=outcome_of(one, scores),
        first=first,
        swapped=swapped,
    )


def check_score_map(
    scores: Mapping[str, float], mirror: Mapping[str, str] | None
) -> None:
    """Refuse a map in which a label can never be consistent.

    Raises:
        ConfigError: A score is no number, a label of `mirror` is not in the map, or a
            label has no mirror or one of another strength.
    """
    check_scores(scores)
    _check_mirror(scores, mirror or {})
    if len(set(scores.values())) < 2:
        message = f"a score map tells at least two values apart, and this not: {scores}"
        raise ConfigError(message)
    for label in scores:
        if not any(_is_consistent(label, other, scores, mirror) for other in scores):
            message = (
                f"the score map is not symmetric: no label is {label!r} seen from the "
                f"other side ({', '.join(map(repr, scores))}); add it, or give "
                f"mirror={{{label!r}: ...}}"
            )
            raise ConfigError(message)


def _check_mirror(scores: Mapping[str, float], mirror: Mapping[str, str]) -> None:
    for label in [label for pair in mirror.items() for label in pair]:
        if label not in scores:
            message = (
                f"mirror names {label!r}, which is no label of the score map"
                f"{did_you_mean(label, scores)}: {', '.join(map(repr, scores))}"
            )
            raise ConfigError(message)


def _known(label: str | None, scores: Mapping[str, float]) -> str | None:
    if label is None or label in scores:
        return label
    folded = [name for name in scores if name.casefold() == label.casefold().strip()]
    return folded[0] if len(folded) == 1 else None


def _is_consistent(
    one: str,
    other: str,
    scores: Mapping[str, float],
    mirror: Mapping[str, str] | None,
) -> bool:
    if mirror is not None and (one in mirror or other in mirror):
        return mirror.get(one) == other or mirror.get(other) == one
    seen = _SIDE.sub(lambda match: _OTHER[match[1]], one)
    if seen != one:
        return other == seen and _ranks_mirror(one, other, scores)
    return not _SIDE.search(other) and _ranks_mirror(one, other, scores)


def _ranks_mirror(one: str, other: str, scores: Mapping[str, float]) -> bool:
    ranks = sorted(set(scores.values()))
    return ranks.index(scores[one]) + ranks.index(scores[other]) == len(ranks) - 1


def _favoured(
    one: str, other: str, scores: Mapping[str, float]
) -> Literal["first", "second"] | None:
    """Return the place that both orders' labels prefer, None where they do not."""
    outcomes = {outcome_of(one, scores), outcome_of(other, scores)}
    places: Mapping[str, Literal["first", "second"]] = {
        "loss": "first",
        "win": "second",
    }
    return places.get(outcomes.pop()) if len(outcomes) == 1 else None


def outcome_of(
    label: str, scores: Mapping[str, float]
) -> Literal["win", "tie", "loss"]:
    """Return what a label of the first order is for the reply under test, its B."""
    ranks = sorted(set(scores.values()))
    side = 2 * ranks.index(scores[label]) - (len(ranks) - 1)
    if _rises_towards_a(scores):
        side = -side
    return "win" if side > 0 else "loss" if side < 0 else "tie"


def _rises_towards_a(scores: Mapping[str, float]) -> bool:
    """Whether the labels' own letters say that a higher score favours Response A."""
    return any(
        scores[label] > scores[seen]
        for label in scores
        if {m.upper() for m in _SIDE.findall(label)} == {"A"}
        and (seen := _SIDE.sub(lambda match: _OTHER[match[1]], label)) in scores
    )

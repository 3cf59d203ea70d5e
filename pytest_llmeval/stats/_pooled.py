"""Values over all cases at once, from counts that are added up first.

The mean of per-case values (macro) and the value of the sums differ for a fraction:
of BLEU, F1 and perplexity the second is the one that is published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp, fsum, inf, log
from typing import Final

from pytest_llmeval.errors import UserError

__all__ = ["pooled", "pooled_label"]

_ORDERS: Final = 4


def pooled(form: str, counts: Sequence[Sequence[float]]) -> float | None:
    """Return the value of a form over the sums of counts, None of nothing.

    Args:
        form: ``bleu``, ``bleu_none``, ``bleu_add_one`` (matches of 1- to 4-grams,
            n-grams, words, words of the reference), ``chrf2`` (for each order n-grams of text and reference, and
            matches; the figure is beta), ``ratio`` (part, whole), ``f1`` (right, too
            many, missing), ``exp_rate`` (log-probability, units), ``bits`` (the same).
            With ``%`` at its end the value times 100.
        counts: Of each case, all of the same length.

    Raises:
        UserError: There is no such form, or counts are of different lengths.
    """
    if form.endswith("%"):
        value = pooled(form[:-1], counts)
        return None if value is None else 100 * value
    name = "chrf" if form.startswith("chrf") else form
    if name not in _FORMS:
        message = f"there is no form {form!r} of a pooled value; there are: {_NAMES}"
        raise UserError(message)
    if not counts:
        return None
    if len(set(map(len, counts))) > 1:
        message = f"counts for {form!r} have different lengths: they can't be added"
        raise UserError(message)
    sums = [fsum(column) for column in zip(*counts, strict=True)]
    if name == "chrf":
        return _chrf(sums, float(form.removeprefix("chrf")))
    return _FORMS[name](sums)


def pooled_label(form: str) -> str:
    """Return what reports call the value: of F1 ``micro``, of others ``corpus``."""
    return "micro" if form == "f1" else "corpus"


def _bleu(sums: Sequence[float], smooth: str) -> float:
    """Return corpus BLEU, 0 to 1.

    Source: K. Papineni et al., "BLEU", ACL 2002. An order without a match is smoothed
    by ``exp`` as in mteval v13a and sacrebleu (the k-th such order counts 1 / 2^k of a
    match), by ``add_one`` as in C.-Y. Lin and F. J. Och, "ORANGE", COLING 2004 (one
    more match and n-gram in each order), or not at all (``none``).
    """
    matches, totals = sums[:_ORDERS], sums[_ORDERS : 2 * _ORDERS]
    words, reference_words = sums[2 * _ORDERS :]
    if smooth == "add_one":
        matches, totals = [m + 1 for m in matches], [t + 1 for t in totals]
    elif smooth == "exp" and any(matches):
        matches = _halved(matches)
    if not words or not all(matches) or not all(totals):
        return 0.0
    logs = [log(m / t) for m, t in zip(matches, totals, strict=True)]
    shortness = 1.0 if words >= reference_words else exp(1 - reference_words / words)
    return min(1.0, shortness * exp(fsum(logs) / _ORDERS))


def _halved(matches: Sequence[float]) -> list[float]:
    """Return matches, each 0 replaced by half of what the one before it was."""
    smoothing, found = 1.0, []
    for match in matches:
        if not match:
            smoothing /= 2
        found.append(match or smoothing)
    return found


def _chrf(sums: Sequence[float], beta: float) -> float:
    """Return chrF over all orders that both texts have.

    Source: M. Popović, "chrF", WMT 2015: mean precision and recall over the orders,
    then their F with `beta`.
    """
    orders = [sums[place : place + 3] for place in range(0, len(sums), 3)]
    used = [
        (m / text, m / reference) for text, reference, m in orders if text * reference
    ]
    if not used:
        return 0.0
    precision = fsum(p for p, _ in used) / len(used)
    recall = fsum(r for _, r in used) / len(used)
    if not precision + recall:
        return 0.0
    weight = beta**2
    value = (1 + weight) * precision * recall / (weight * precision + recall)
    return min(1.0, value)


def _ratio(sums: Sequence[float]) -> float | None:
    part, whole = sums
    if whole:
        return part / whole
    return 1.0 if part else 0.0


def _f1(sums: Sequence[float]) -> float:
    right, too_many, missing = sums
    whole = 2 * right + too_many + missing
    return 2 * right / whole if whole else 1.0


def _exp_rate(sums: Sequence[float]) -> float | None:
    logprob, units = sums
    if not units:
        return None
    try:
        return exp(-logprob / units)
    except OverflowError:
        return inf


def _bits(sums: Sequence[float]) -> float | None:
    logprob, units = sums
    return -logprob / units / log(2) if units else None


_FORMS: Final[Mapping[str, Callable[[Sequence[float]], float | None]]] = {
    "bits": _bits,
    "bleu": lambda sums: _bleu(sums, "exp"),
    "bleu_add_one": lambda sums: _bleu(sums, "add_one"),
    "bleu_none": lambda sums: _bleu(sums, "none"),
    "chrf": lambda sums: _chrf(sums, 2),
    "exp_rate": _exp_rate,
    "f1": _f1,
    "ratio": _ratio,
}
_NAMES: Final = ", ".join(_FORMS)

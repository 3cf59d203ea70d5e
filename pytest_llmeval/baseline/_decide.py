"""What a comparison means for the run: it holds, it fails, or nothing can be said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pytest_llmeval.baseline._compare import Comparison
from pytest_llmeval.stats import losses_to_show

__all__ = ["FAIL_ON", "Compared", "Decision", "decide"]

#: The values of --llmeval-fail-on.
FAIL_ON: Final = ("any", "significant", "none")
_ALPHA: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The state of a comparison, and why."""

    state: Literal["holds", "fails", "inconclusive"]
    reason: str
    forgives: bool = False
    """Whether regressed cases are taken for noise, so that they don't fail the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A run against a baseline, and what that decided: what a report shows."""

    name: str
    """The baseline, for people: ``main (3f2a1bc, 2026-01-05)``."""
    comparison: Comparison
    decision: Decision


def decide(comparison: Comparison, fail_on: str, *, allow_missing: bool) -> Decision:
    """Return whether a run passes its comparison.

    Args:
        comparison: Of the run with its baseline.
        fail_on: ``any``: one regressed case fails it. ``significant``: a p-value under
            0.05 with more lost than gained, or a lost case that must pass. ``none``.
        allow_missing: Whether cases that passed before may be gone.
    """
    gone = [c for c in comparison.of("missing") if c.before and c.before.passed]
    if gone and not allow_missing and fail_on != "none":
        count = f"{len(gone)} case{'s' * (len(gone) > 1)} that passed"
        verb = "are" if len(gone) > 1 else "is"
        reason = f"{count} {verb} missing (--llmeval-allow-missing accepts that)"
        return Decision(state="fails", reason=reason)
    if fail_on == "significant":
        return _by_significance(comparison)
    if comparison.lost and fail_on == "any":
        return Decision(state="fails", reason=f"{comparison.lost} regressed")
    if not comparison.lost:
        return _without_loss(comparison)
    return Decision(state="holds", reason=f"{comparison.lost} regressed")


def _without_loss(comparison: Comparison) -> Decision:
    """Return the decision on a run in which no case is known to have got worse."""
    left_out = len(comparison.of("incomparable"))
    if not comparison.compared:
        return Decision(state="inconclusive", reason="no case could be compared")
    if comparison.doubtful:
        verb = "fails" if comparison.doubtful == 1 else "fail"
        reason = f"{comparison.doubtful} that passed {verb} now, and can't be compared"
        return Decision(state="inconclusive", reason=reason)
    reason = "nothing got worse"
    if left_out:
        whole = comparison.compared + left_out
        reason += f" in the {comparison.compared} of {whole} cases that can be compared"
    return Decision(state="holds", reason=reason)


def _by_significance(comparison: Comparison) -> Decision:
    lost, gained, p = comparison.lost, comparison.gained, comparison.p
    if musts := comparison.must_pass_lost:
        names = ", ".join(change.case.case_id for change in musts[:3])
        more = f" and {len(musts) - 3} more" if len(musts) > 3 else ""
        return Decision(state="fails", reason=f"must pass, and lost: {names}{more}")
    if p < _ALPHA and lost > gained:
        reason = f"{lost} lost, {gained} gained, p {p:.2g}"
        return Decision(state="fails", reason=reason)
    if not lost:
        return _without_loss(comparison)
    if lost > gained:
        enough = losses_to_show(gained, _ALPHA)
        reason = f"{lost} lost, {gained} gained; {enough} would show"
        return Decision(state="inconclusive", reason=reason, forgives=True)
    reason = f"{lost} lost, {gained} gained"
    return Decision(state="holds", reason=reason, forgives=True)

"""Several samples of one case: how often one of k passes, and how often all do."""

from __future__ import annotations

from math import ceil, comb
from typing import Literal

from pytest_llmeval.errors import UserError

__all__ = ["pass_at_k", "pass_hat_k", "samples_needed", "settled"]

#: Float noise never asks for one sample more: 0.7 of 10 are 7.
_NOISE = 1e-9


def samples_needed(n: int, rate: float) -> int:
    """Return how many of `n` samples must pass for a share of at least `rate`.

    Args:
        n: Samples of the case.
        rate: Above 0, at most 1.
    """
    return max(1, ceil(n * rate - _NOISE))


def settled(
    *, n: int, needed: int, passed: int, failed: int
) -> Literal["passed", "failed"] | None:
    """Return what a case comes to whatever the other samples do, None while open.

    Args:
        n: Samples of the case.
        needed: How many of them must pass.
        passed: How many have by now.
        failed: How many have failed; those that ended otherwise might have passed.
    """
    if passed >= needed:
        return "passed"
    return "failed" if n - failed < needed else None


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the chance that at least one of `k` samples passes, estimated from `n`.

    Unbiased: the share of all subsets of size `k` that hold a passing sample,
    ``1 - C(n - c, k) / C(n, k)``.

    Source: M. Chen et al., "Evaluating large language models trained on code" (2021),
    arXiv:2107.03374, equation 1.

    Args:
        n: Samples that were scored.
        c: Of these, how many passed.
        k: At most `n`.

    Raises:
        UserError: The counts don't fit together.
    """
    _require(n, c, k)
    return 1.0 if n - c < k else 1 - comb(n - c, k) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Return the chance that all of `k` samples pass (pass^k), estimated from `n`.

    Unbiased: the share of all subsets of size `k` that pass whole,
    ``C(c, k) / C(n, k)``.

    Source: S. Yao et al., "tau-bench: A benchmark for tool-agent-user interaction in
    real-world domains" (2024), arXiv:2406.12045, section 4.

    Args:
        n: Samples that were scored.
        c: Of these, how many passed.
        k: At most `n`.

    Raises:
        UserError: The counts don't fit together.
    """
    _require(n, c, k)
    return comb(c, k) / comb(n, k)


def _require(n: int, c: int, k: int) -> None:
    if not (0 <= c <= n and 1 <= k <= n):
        message = (
            f"of n={n!r} samples c={c!r} passed, and k={k!r} are drawn: give "
            f"0 <= c <= n and 1 <= k <= n"
        )
        raise UserError(message)

"""Comparisons of runs and repeats against values of scipy and statsmodels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.errors import UserError
from pytest_llmeval.stats import (
    holm,
    losses_to_show,
    mcnemar_exact,
    paired_bootstrap,
    pass_at_k,
    pass_hat_k,
    wilson_interval,
)

VALUES: dict[str, list[Any]] = json.loads(
    (Path(__file__).parent.parent / "data" / "stats_values.json").read_text("utf-8")
)
COUNTS = st.integers(0, 400)


@pytest.mark.parametrize(("lost", "gained", "p"), VALUES["mcnemar"])
def test_mcnemar_equals_statsmodels(lost: int, gained: int, p: float) -> None:
    assert mcnemar_exact(lost, gained) == pytest.approx(p, abs=1e-12)


@given(lost=COUNTS, gained=COUNTS)
def test_mcnemar_has_no_side(lost: int, gained: int) -> None:
    assert mcnemar_exact(lost, gained) == mcnemar_exact(gained, lost)
    assert 0 < mcnemar_exact(lost, gained) <= 1


@pytest.mark.parametrize(("gained", "lost"), [(0, 6), (1, 8), (7, 18)])
def test_the_losses_that_would_show_are_the_least_ones(gained: int, lost: int) -> None:
    assert losses_to_show(gained) == lost
    assert mcnemar_exact(lost, gained) < 0.05 <= mcnemar_exact(lost - 1, gained)


@pytest.mark.parametrize("counts", [(-1, 2), (2, -1)])
def test_mcnemar_refuses_what_is_no_count(counts: tuple[int, int]) -> None:
    with pytest.raises(UserError, match="counts"):
        mcnemar_exact(*counts)


@pytest.mark.parametrize("pair", VALUES["bootstrap"])
def test_the_bootstrap_agrees_with_scipy(pair: dict[str, Any]) -> None:
    found = paired_bootstrap(pair["before"], pair["after"], seed=3)

    # Two resamplings differ by chance: a seventh of a standard error at most.
    assert found.low == pytest.approx(pair["low"], abs=pair["error"] / 7)
    assert found.high == pytest.approx(pair["high"], abs=pair["error"] / 7)


def test_the_bootstrap_is_the_same_for_a_seed() -> None:
    before, after = [0.1, 0.4, 0.7, 0.2], [0.3, 0.4, 0.9, 0.1]

    assert paired_bootstrap(before, after, 1) == paired_bootstrap(before, after, 1)
    assert paired_bootstrap(before, after, 1) != paired_bootstrap(before, after, 2)


def test_pairs_that_do_not_differ_show_no_difference() -> None:
    found = paired_bootstrap([0.5, 1.0, 0.0], [0.5, 1.0, 0.0])

    assert (found.mean, found.low, found.high, found.p, found.n) == (0, 0, 0, 1, 3)


def test_pairs_that_all_moved_alike_are_counted_as_signs() -> None:
    found = paired_bootstrap([0.0] * 10, [0.5] * 10)

    assert (found.mean, found.p) == (0.5, 2 * 0.5**10)


def test_many_pairs_are_taken_as_normal() -> None:
    pair = VALUES["bootstrap"][0]
    times = 600 // len(pair["before"]) + 1
    before, after = pair["before"] * times, pair["after"] * times

    found = paired_bootstrap(before, after)

    reach = (found.high - found.low) / 2 * times**0.5
    assert reach == pytest.approx((pair["high"] - pair["low"]) / 2, rel=0.05)
    assert found.n == len(before)


@pytest.mark.parametrize(("before", "after"), [([], []), ([1.0], [1.0, 2.0])])
def test_the_bootstrap_refuses_what_is_no_pair(
    before: list[float], after: list[float]
) -> None:
    with pytest.raises(UserError, match="pairs"):
        paired_bootstrap(before, after)


@pytest.mark.parametrize(("p_values", "adjusted"), VALUES["holm"])
def test_holm_equals_statsmodels(p_values: list[float], adjusted: list[float]) -> None:
    named = {str(index): p for index, p in enumerate(p_values)}

    assert list(holm(named).values()) == pytest.approx(adjusted, abs=1e-12)
    assert list(holm(named)) == list(named)


@pytest.mark.parametrize(("n", "c", "k", "at", "hat"), VALUES["repeats"])
def test_repeats_equal_the_share_of_subsets(
    n: int, c: int, k: int, at: float, hat: float
) -> None:
    assert pass_at_k(n, c, k) == pytest.approx(at, abs=1e-12)
    assert pass_hat_k(n, c, k) == pytest.approx(hat, abs=1e-12)


@pytest.mark.parametrize("counts", [(5, 6, 1), (5, -1, 1), (5, 2, 6), (5, 2, 0)])
@pytest.mark.parametrize("estimate", [pass_at_k, pass_hat_k])
def test_repeats_refuse_counts_that_do_not_fit(
    estimate: Any, counts: tuple[int, int, int]
) -> None:
    with pytest.raises(UserError, match="0 <= c <= n"):
        estimate(*counts)


@pytest.mark.parametrize(("passed", "n", "low", "high"), VALUES["wilson"])
def test_wilson_equals_statsmodels(
    passed: int, n: int, low: float, high: float
) -> None:
    assert wilson_interval(passed, n) == pytest.approx((low, high), abs=1e-12)

"""Agreement: kappa against values worked out by hand, disagreement of votes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.stats import agreement_of, disagreement, wilson_interval


def pairs(**counts: int) -> list[tuple[str, str]]:
    return [(name[0], name[1]) for name, n in counts.items() for _ in range(n)]


def test_the_example_everybody_knows() -> None:
    # 50 grants, two readers: 20 both yes, 15 both no; p_o = 0.7, p_e = 0.5.
    found = agreement_of(pairs(yy=20, yn=5, ny=10, nn=15))

    assert found.accuracy == 0.7
    assert found.kappa == pytest.approx(0.4)
    assert found.confusion["n", "y"] == 10
    assert (found.base_word, found.base_rate) == ("n", 0.5)
    low, high = wilson_interval(35, 50)
    assert found.interval == pytest.approx(((low - 0.5) / 0.5, (high - 0.5) / 0.5))


def test_three_words() -> None:
    found = agreement_of(pairs(aa=2, bb=1, cc=1, ab=1, ca=1))

    # p_o = 4/6; p_e = (3*3 + 1*2 + 2*1) / 36.
    assert found.kappa == pytest.approx((4 / 6 - 13 / 36) / (1 - 13 / 36))
    assert found.words == ("a", "b", "c")


def test_full_agreement_is_not_certainty() -> None:
    found = agreement_of(pairs(yy=5, nn=5))

    assert found.kappa == 1
    assert found.interval is not None
    low, high = found.interval
    assert (0.3 < low < 0.5, high) == (True, 1.0)


@pytest.mark.parametrize("given", [[], pairs(yy=7)])
def test_where_chance_alone_would_agree_there_is_no_kappa(given: Any) -> None:
    found = agreement_of(given)

    assert (found.kappa, found.interval) == (None, None)


def test_a_judge_that_always_says_the_same_agrees_by_chance_alone() -> None:
    found = agreement_of(pairs(yy=9, ny=1))

    assert (found.accuracy, found.kappa, found.base_rate) == (0.9, 0.0, 0.9)


WORDS = st.sampled_from("abc")


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=60))
def test_kappa_lies_within_its_interval_and_its_bounds(rows: Any) -> None:
    found = agreement_of(rows)

    if found.kappa is not None:
        assert found.interval is not None
        assert -1 <= found.kappa <= 1
        assert found.interval[0] - 1e-9 <= found.kappa <= found.interval[1] + 1e-9
    swapped = agreement_of([(said, true) for true, said in rows])
    assert swapped.kappa == pytest.approx(found.kappa)


@pytest.mark.parametrize(
    ("groups", "share"),
    [
        ([], None),
        ([["a"], ["b"]], None),
        ([["a", "a"], ["b", "b"]], 0.0),
        ([["a", "b"]], 1.0),
        ([["a", "a", "b"]], 2 / 3),
        ([["a", "a", "b"], ["a", "a", "a"]], 1 / 3),
    ],
)
def test_disagreement_is_over_pairs_of_answers(groups: Any, share: Any) -> None:
    assert disagreement(groups) == pytest.approx(share)

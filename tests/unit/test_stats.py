from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.errors import UserError
from pytest_llmeval.stats import (
    interval_text,
    mean,
    money_text,
    number_text,
    percent_text,
    quantile,
    rate,
    seconds_text,
    wilson_interval,
)


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 10**7))
    return draw(st.integers(0, n)), n


def test_mean_adds_without_losing_small_parts() -> None:
    assert mean([1e16, 1.0, -1e16, 1.0]) == 0.5


def test_mean_and_rate_and_quantile_of_nothing_are_none() -> None:
    assert mean([]) is None
    assert rate(0, 0) is None
    assert quantile([], 0.5) is None


def test_rate_is_the_share() -> None:
    assert rate(9, 12) == 0.75


# The first four: Newcombe 1998, table I, method 3. The others: R 4,
# prop.test(passed, n, correct = FALSE).
@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (8, 10, 0.4902, 0.9433),
        (0, 10, 0.0000, 0.2775),
        (10, 10, 0.7225, 1.0000),
    ],
)
def test_wilson_interval_gives_published_values(
    passed: int, n: int, low: float, high: float
) -> None:
    assert wilson_interval(passed, n) == pytest.approx((low, high), abs=5e-5)


def test_wilson_interval_is_exact_at_its_ends() -> None:
    assert wilson_interval(0, 7)[0] == 0.0
    assert wilson_interval(7, 7)[1] == 1.0


def test_wilson_interval_of_nothing_knows_nothing() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("confidence", "deviate"), [(0.90, 1.6448536), (0.95, 1.9599640), (0.99, 2.5758293)]
)
def test_wilson_interval_solves_its_equation(confidence: float, deviate: float) -> None:
    # Its ends are the rates from which 0.8 is just `deviate` standard errors away;
    # the deviates are those of any table of the normal curve.
    for end in wilson_interval(8, 10, confidence):
        error = math.sqrt(end * (1 - end) / 10)

        assert abs(0.8 - end) == pytest.approx(deviate * error, rel=1e-6)


@given(counts())
def test_wilson_interval_holds_the_rate_and_mirrors(pair: tuple[int, int]) -> None:
    passed, n = pair
    low, high = wilson_interval(passed, n)

    assert 0 <= low <= passed / n <= high <= 1
    assert wilson_interval(n - passed, n) == pytest.approx((1 - high, 1 - low))


def test_impossible_counts_are_refused() -> None:
    for call in (rate, wilson_interval, percent_text, interval_text):
        with pytest.raises(UserError) as caught:
            call(3, 2)

        assert str(caught.value) == ("3 of 2 can't have passed: give 0 <= passed <= n")


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, float("nan")])
def test_impossible_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(UserError) as caught:
        wilson_interval(1, 2, confidence)

    assert str(caught.value) == (
        f"confidence is a number between 0 and 1, such as 0.95, not {confidence!r}"
    )


def test_quantile_interpolates_between_neighbours() -> None:
    # numpy.quantile([1, 2, 3, 4], [0.5, 0.95]) and R's type 7.
    assert quantile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.5
    assert quantile([4.0, 1.0, 3.0, 2.0], 0.95) == pytest.approx(3.85)


def test_quantile_ends_are_the_extremes() -> None:
    assert quantile([3.0, 1.0, 2.0], 0) == 1.0
    assert quantile([3.0, 1.0, 2.0], 1) == 3.0
    assert quantile([7.0], 0.95) == 7.0


def test_quantile_of_an_impossible_share_is_refused() -> None:
    with pytest.raises(UserError) as caught:
        quantile([1.0], 95)

    assert str(caught.value) == "a quantile's share is between 0 and 1, not 95"


@pytest.mark.parametrize(
    ("passed", "n", "text"),
    [
        (0, 0, "–"),
        (9, 11, "82 %"),
        (1, 8, "13 %"),  # 12.5, half up
        (5, 8, "63 %"),
        (12, 12, "100 %"),
        (0, 12, "0 %"),
        (249, 250, "99.6 %"),
        (199, 200, "99.5 %"),
        (1, 250, "0.4 %"),
        (820, 1000, "82.0 %"),
        (9996, 10000, "99.96 %"),
        (99_999, 100_000, "99.999 %"),
        (1, 10_000_000, "0.00001 %"),
    ],
)
def test_percent_text(passed: int, n: int, text: str) -> None:
    assert percent_text(passed, n) == text


@given(counts())
def test_percent_text_says_all_and_none_only_when_so(pair: tuple[int, int]) -> None:
    passed, n = pair
    number = float(percent_text(passed, n).removesuffix(" %"))

    assert (number == 100) == (passed == n)
    assert (number == 0) == (passed == 0)
    assert number == pytest.approx(100 * passed / n, abs=0.5)


@pytest.mark.parametrize(
    ("passed", "n", "text"),
    [
        (0, 0, "–"),
        (9, 11, "52–95"),
        (10, 10, "72–100"),
        (0, 10, "0–28"),
        (59, 60, "91–99.7"),
        (820, 1000, "79.5–84.3"),
        (0, 10**9, "0–0.0000004"),
    ],
)
def test_interval_text(passed: int, n: int, text: str) -> None:
    assert interval_text(passed, n) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.841, "0.84"),
        (1.0, "1.00"),
        (0.0, "0.00"),
        (0.9996, "0.9996"),
        (0.004, "0.004"),
        (-0.25, "-0.25"),
        (12345.678, "12345.68"),
        (1e-9, "1e-09"),
        (1e300, "1e+300"),
    ],
)
def test_number_text_is_whole_only_for_whole_numbers(value: float, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (0.0, "$0"),
        (0.00001, "<$0.0001"),
        (0.0123, "$0.0123"),
        (0.99999, "$1.00"),
        (1234.5, "$1,234.50"),
        (-0.5, "-$0.5000"),
    ],
)
def test_money_text(dollars: float, text: str) -> None:
    assert money_text(dollars) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (0.0001, "<1 ms"),
        (0.085, "85 ms"),
        (0.0999, "0.10 s"),
        (1.234, "1.23 s"),
        (12.34, "12.3 s"),
        (1234.5, "1,234 s"),
    ],
)
def test_seconds_text(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text

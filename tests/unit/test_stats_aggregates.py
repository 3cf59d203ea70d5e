"""Values over all rows by lm-evaluation-harness's aggregations, and their errors."""

from __future__ import annotations

from math import exp, inf, log, nan, sqrt
from random import Random
from statistics import stdev
from typing import Any

import pytest

from pytest_llmeval.stats import Gathered, aggregated, standard_error


@pytest.mark.parametrize(
    ("name", "items", "value"),
    [
        ("mean", [1, 0, 1, 1], 0.75),
        ("mean", [], None),
        ("nanmean", [1.0, nan, 0.0], 0.5),
        ("nanmean", [nan, nan], None),
        ("median", [4, 1, 3, 2], 3),
        ("perplexity", [-1.0, -3.0], exp(2)),
        ("perplexity", [-1e9], inf),
        ("weighted_perplexity", [(-2, 1), (-2, 3)], exp(1)),
        ("weighted_perplexity", [(-2, 0)], None),
        ("bits_per_byte", [(-8, 4)], 2 / log(2)),
        ("f1", [(1, 1), (1, 0), (0, 1), (0, 0)], 0.5),
        ("f1", [(0, 0)], 0),
        ("f1", [(0, 2)], None),  # of three choices there is no F1
        ("matthews_corrcoef", [(1, 1), (0, 0)], 1),
        ("matthews_corrcoef", [(1, 1), (1, 1)], 0),
        ("matthews_corrcoef", [(0, 0), (1, 2), (2, 2)], 3 / sqrt(24)),
        ("brier_score", [(1, [0.5, 0.5]), (0, [1.0, 0.0])], 0.25),
        ("pooled", [("ratio", (1, 4)), ("ratio", (2, 2))], 0.5),
    ],
)
def test_aggregations(name: str, items: list[Any], value: float | None) -> None:
    assert aggregated(name, items) == pytest.approx(value)


def test_the_error_of_a_mean_follows_from_the_spread() -> None:
    assert standard_error("mean", [1.0, 0.0, 1.0, 1.0], 7) == pytest.approx(0.25)


def test_other_errors_are_drawn_by_fixed_seeds() -> None:
    items = [-1.0, -2.0, -4.0]
    draw = Random(0)
    drawn = [exp(-sum(draw.choices(items, k=3)) / 3) for _ in range(50)]

    assert standard_error("perplexity", items, 50) == pytest.approx(stdev(drawn))


@pytest.mark.parametrize(
    ("name", "items", "resamples"),
    [
        ("mean", [1.0], 100),
        ("mean", [1.0, 2.0], 0),
        ("brier_score", [(1, [0.5, 0.5]), (0, [1.0, 0.0])], 100),
        ("f1", [(0, 2), (1, 1)], 100),
        ("nanmean", [1.0, nan], 100),  # a draw of NaN alone has no value
    ],
)
def test_some_errors_are_not_known(name: str, items: list[Any], resamples: int) -> None:
    assert standard_error(name, items, resamples) is None


def test_items_that_are_no_numbers_count_as_scored() -> None:
    gathered = Gathered()
    for item in ([True, False], [True]):
        gathered.add({"value": None, "aggregation": "utils.flat", "item": item})

    value = gathered.overall(lambda name, items: sum(map(len, items)))

    assert (gathered.n, gathered.unscored, value) == (2, 0, 3)
    assert gathered.overall() is None  # nobody knows the function here

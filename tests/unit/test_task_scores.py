"""The values that a task's own metric gives of several targets."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest

from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.tasks.lm_eval._scores import Metric, text_scores


def of_targets(*values: Any) -> Any:
    given = iter(values)
    metric = Metric(name="own", function=lambda references, predictions: next(given))
    ((_, score),) = text_scores(metric, "reply", ["target"] * len(values))
    return score


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0, 1), 1.0),
        ((False, False), 0.0),
        ((nan, 1), 1.0),
        (({"own": 0}, {"own": 0.5}), 1.0),
    ],
)
def test_one_target_that_is_met_is_enough(values: Any, expected: float) -> None:
    assert of_targets(*values).value == expected


def test_a_target_without_a_number_is_neither_met_nor_missed() -> None:
    score = of_targets(0, nan)

    assert (score.value, score.cause) == (None, "data")


def test_a_target_of_which_nothing_is_said_is_no_zero() -> None:
    with pytest.raises(UnscoredError, match="own is None, and a metric's value is"):
        of_targets(0, {"other": 1})

"""Score maps: which are refused, and what their labels mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.judging import check_score_map, settle


@pytest.mark.parametrize(
    ("first", "swapped", "outcome"),
    [("Response B", "Response A", "win"), ("Response A", "Response B", "loss")],
)
def test_a_map_that_rises_towards_a_turns_no_outcome_around(
    first: str, swapped: str, outcome: str
) -> None:
    scores = {"Response A": 1.0, "Tie": 0.5, "Response B": 0.0}

    found = settle(first, swapped, score_map=scores)

    assert (found.outcome, found.score) == (outcome, scores[first])


@pytest.mark.parametrize("score", [float("nan"), float("inf"), True, "1", None])
def test_a_score_that_is_no_number_is_refused(score: Any) -> None:
    scores: Mapping[str, Any] = {"A": 0, "B": score}

    with pytest.raises(ConfigError, match=r"gives each label a number, and 'B': "):
        check_score_map(scores, None)


def test_a_label_without_text_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"gives each label a number, and ' ': 0 is"):
        check_score_map({" ": 0, "B": 1}, None)


def test_a_mirror_of_no_label_is_refused() -> None:
    scores = {"bad": 0, "good": 1}

    with pytest.raises(ConfigError, match=r"mirror names 'god'.*did you mean 'good'"):
        check_score_map(scores, {"bad": "god"})

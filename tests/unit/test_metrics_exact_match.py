"""exact_match as lm-evaluation-harness computes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval import metrics
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics import exact_match

DATA = Path(__file__).parents[1] / "data" / "metric_vectors.jsonl"


def rows() -> list[dict[str, Any]]:
    found = [json.loads(line) for line in DATA.read_text("utf-8").split("\n") if line]
    return [row for row in found if row["metric"] == "exact_match"]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["id"])
def test_the_value_is_that_of_the_harness(row: dict[str, Any]) -> None:
    score = exact_match(row["prediction"], row["references"], **row["options"])

    assert score.value == row["value"]


def test_any_of_several_may_be_equal() -> None:
    assert exact_match("b", ["a", "b"]) == 1


def test_one_pattern_may_be_a_text() -> None:
    assert exact_match("1,0", "10", regexes_to_ignore=",") == 1


def test_a_broken_pattern_is_refused() -> None:
    with pytest.raises(ConfigError, match="regexes_to_ignore: '[(]' is not a regular"):
        exact_match("a", "a", regexes_to_ignore=["("])


def test_the_explanation_shows_both_texts() -> None:
    assert metrics.explain(exact_match("a b", "a c")) == [
        "expected  a c",
        "reply     a b",
        "diff      a [-c-] {+b+}",
    ]

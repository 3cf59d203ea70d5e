"""Beginnings of replies, as whole words, and their negation."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval import metrics
from pytest_llmeval.metrics import starts_with
from pytest_llmeval.types import Case, Response


@pytest.mark.parametrize(
    ("reply", "expected", "value"),
    [
        ("No, it isn't.", "no", 1),
        ("\n No", "No", 1),
        ("Nobody knows", "No", 0),
        ("It isn't. No", "No", 0),
        ("“Yes”", '"Yes', 1),
        ("14 apples", "1", 0),
        ("1.5", "1", 0),
        ("東京都", "東京", 1),
        ("Dear Ann", ["Hello", "Dear"], 1),
        ("Dear\nAnn", "Dear  Ann", 1),
        ("x", Case(id="a", expected="x"), 1),
        ("", "x", 0),
    ],
)
def test_a_reply_begins_with_whole_words(reply: str, expected: Any, value: int) -> None:
    assert starts_with(reply, expected) == value


def test_letter_case_may_matter() -> None:
    assert not starts_with("No", "no", ignore_case=False)


def test_negated_it_may_begin_with_none_of_them() -> None:
    score = starts_with("Sorry, no", ["As an AI", "Sorry"], negate=True)

    assert score == 0
    assert score.reason == "the reply begins with 'Sorry'"
    assert starts_with("Sure", ["As an AI", "Sorry"], negate=True)


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        ("Hi", "the reply does not begin with 'Hi'"),
        (["Hi", "Ho"], "the reply does not begin with any of 'Hi', 'Ho'"),
        (
            ["a", "b", "c", "d"],
            "the reply does not begin with any of 'a', 'b', 'c' or 1 more",
        ),
    ],
)
def test_the_reason_names_what_was_expected(expected: Any, reason: str) -> None:
    assert starts_with("x", expected).reason == reason


def test_what_can_not_be_scored_is_unscored() -> None:
    assert starts_with("x", "").cause == "data"
    assert starts_with(Response(text="", provider="openai"), "x").cause == "empty"


def test_the_explanation_shows_the_beginning() -> None:
    assert metrics.explain(starts_with(" Nobody\nknows", "No")) == [
        "expected  No",
        "begins    nobody knows",
        "reply      Nobody",
        "          knows",
    ]

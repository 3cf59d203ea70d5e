"""Containment: whole words and numbers, in every script."""

from __future__ import annotations

from time import process_time

import pytest

from pytest_llmeval import metrics
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics import contains
from pytest_llmeval.types import Case, Source


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("It is Paris.", "Paris"),
        ("I love New\nYork!", "new york"),
        ("ＰＡＲＩＳ", "paris"),
        ("Don’t do it", "don't"),
        ("Zürich", "Zu\u0308rich"),
        ("Ann's book", "Ann"),
        ("a well-known song", "known"),
        ("I use C++ daily", "C++"),
        ("in C++, C and Rust", "C"),
        ("a+b", "a"),
        ("首都は東京です", "東京"),
        ("東京Ann大阪", "Ann"),
        ("xAnn大阪Ann", "Ann"),
        ("서울은 크다", "서울"),
        ("กรุงเทพมหานคร", "กรุงเทพ"),
        ("it costs $5.", "5"),
        ("5, 6 and 7", "5"),
        ("the score was 10-5", "5"),
        ("COVID-19", "19"),
        ("it fell to -5 degrees", "-5"),
        ("50/50", "50"),
        ("👍 ok", "👍"),
        ("Joanna met Ann", "Ann"),
    ],
)
def test_whole_words_are_contained(reply: str, expected: str) -> None:
    assert contains(reply, expected)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Joanna", "Ann"),
        ("I do not know", "no"),
        ("guilty", "not guilty"),
        ("café", "cafe"),
        ("snake_case", "snake"),
        ("The total is 14.", "4"),
        ("4th", "4"),
        ("-5", "5"),
        ("−5", "5"),
        ("-$5", "5"),
        ("10-5", "-5"),
        ("1.5", "5"),
        ("1.5", "1"),
        ("1,000", "000"),
        ("0.5", ".5"),
        ("C++", "C"),
        ("C#", "C"),
        ("Paris", "Lima"),
    ],
)
def test_parts_of_words_are_not_contained(reply: str, expected: str) -> None:
    assert not contains(reply, expected)


def test_case_counts_when_asked() -> None:
    assert not contains("paris", "Paris", ignore_case=False)


@pytest.mark.parametrize(("mode", "value"), [("all", 0), ("any", 1)])
def test_a_list_is_all_or_any(mode: str, value: int) -> None:
    score = metrics.score("contains", "Bob left", ["Ann", "Bob"], mode=mode)

    assert score == value


@pytest.mark.parametrize("mode", ["all", "any"])
def test_negated_none_may_be_there(mode: str) -> None:
    score = metrics.score(
        "contains", "Bob left", ["Ann", "Bob"], mode=mode, negate=True
    )

    assert score == 0
    assert score.reason == "the reply contains 'Bob'"


def test_negated_it_holds_when_none_is_there() -> None:
    assert contains("Eve left", ["Ann", "Bob"], negate=True)


@pytest.mark.parametrize(
    ("expected", "mode", "reason"),
    [
        (["Ann", "Bob"], "all", "the reply does not contain 'Ann'"),
        (["Ann", "Eve"], "any", "the reply contains none of 'Ann', 'Eve'"),
        (list("ABDEF"), "all", "the reply does not contain 'A', 'B', 'D' and 2 more"),
    ],
)
def test_the_reason_names_what_is_missing(
    expected: list[str], mode: str, reason: str
) -> None:
    score = metrics.score("contains", "Joanna and Bob", expected, mode=mode)

    assert score.reason == reason


def test_an_empty_text_makes_the_row_a_broken_one() -> None:
    case = Case(id="peru", expected=["a", " "], source=Source(file="d.jsonl", line=3))

    score = contains("abc", case)

    assert (score.value, score.cause) == (None, "data")
    assert score.reason == (
        "case 'peru' (d.jsonl:3): expected ' ' is an empty text, which any reply contains"
    )


def test_an_unknown_mode_names_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"contains has no mode 'al' \(did you mean"):
        metrics.score("contains", "a", "b", mode="al")


def test_the_explanation_shows_the_word_that_holds_it() -> None:
    lines = metrics.explain(contains("Joanna and Bob went", ["Ann", "Bob"]))

    assert lines == [
        "missing   Ann",
        "          only within 'joanna'",
        "found     Bob",
        "reply     Joanna and Bob went",
    ]


def test_the_explanation_shows_where_a_forbidden_text_stands() -> None:
    lines = metrics.explain(contains("Joanna and Bob went", "Bob", negate=True))

    assert lines == [
        "found     Bob",
        "          in '… joanna and bob went …'",
        "reply     Joanna and Bob went",
    ]


@pytest.mark.parametrize("piece", ["a", "1,", "+", "a ", "-1 ", "東"])
def test_a_long_reply_takes_linear_time(piece: str) -> None:
    start = process_time()
    contains(f"x{piece * 100_000}x", piece * 400 + "y")
    contains(f"x{piece * 100_000}x", piece * 400)

    assert process_time() - start < 2

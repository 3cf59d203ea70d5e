"""Patterns: found, not found, broken."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_llmeval import metrics
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics import regex
from pytest_llmeval.types import Case, Source


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        (r"\d{4}", 1),
        (r"^\d{4}", 0),
        (re.compile("FOUNDED", re.IGNORECASE), 1),
        ([r"^x", r"in \d"], 1),
        ([re.compile("x"), re.compile("y")], 0),
        (Case(id="a", expected=r"(?i)FOUNDED"), 1),
        (1535, 1),
    ],
)
def test_a_pattern_is_searched(pattern: Any, value: int) -> None:
    assert regex("founded in 1535", pattern) == value


def test_negated_no_part_may_match() -> None:
    score = regex("call 555", r"\d+", negate=True)

    assert score == 0
    assert score.reason == r"/\d+/ matches '555' at characters 6 to 8"


def test_negated_it_holds_without_a_match() -> None:
    assert regex("call me", r"\d+", negate=True)


def test_the_reason_names_the_pattern() -> None:
    assert regex("hello", r"^\d+$").reason == r"no part of the reply matches /^\d+$/"


def test_the_match_is_kept() -> None:
    details = regex("call 555", r"\d+").details

    assert (details["match"], details["span"]) == ("555", (5, 8))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "a(b",
            "'a(b' is not a regular expression at character 2: missing ), "
            "unterminated subpattern",
        ),
        (
            "",
            "'' is not a regular expression at character 1: an empty pattern matches "
            "every reply",
        ),
        (
            "a{99999999999999}",
            "'a{99999999999999}' is not a regular expression: the repetition number is "
            "too large",
        ),
    ],
)
def test_a_broken_pattern_of_a_test_is_a_mistake(pattern: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        regex("abc", pattern)

    assert str(caught.value) == message


def test_a_broken_pattern_of_a_row_makes_the_case_unscored() -> None:
    case = Case(id="peru", expected="(a", source=Source(file="d.jsonl", line=3))

    score = regex("abc", case)

    assert (score.value, score.cause) == (None, "data")
    assert score.reason.startswith("case 'peru' (d.jsonl:3): '(a' is not a regular")


def test_a_pattern_of_bytes_is_refused() -> None:
    with pytest.raises(ConfigError, match="b'a' is a pattern of bytes, and a reply is"):
        regex("abc", re.compile(b"a"))


def test_the_explanation_shows_pattern_and_reply() -> None:
    assert metrics.explain(regex("he\x1bllo", r"^\d+$")) == [
        r"pattern   ^\d+$",
        r"reply     he\x1bllo",
    ]


def test_the_explanation_shows_what_matched() -> None:
    assert metrics.explain(regex("call 555", r"\d+", negate=True)) == [
        r"pattern   \d+",
        "matched   555",
        "reply     call 555",
    ]

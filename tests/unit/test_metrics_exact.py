"""Exact match: the official scripts, a person's judgement, whole kinds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval import metrics
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics import exact

DATA = Path(__file__).parents[1] / "data"


def rows(kind: str) -> list[dict[str, Any]]:
    text = (DATA / "f1_vectors.jsonl").read_text("utf-8")
    found = [json.loads(line) for line in text.split("\n") if line]
    return [row for row in found if row["kind"] == kind]


SINGLE = rows("single")
JUDGED = [row for row in SINGLE if row["human_equal"] is not None]
#: Where the default preset and a person differ, and why it stays so.
DIFFERING = {
    "f1-189": "that 北京 is the city of 北京市 is knowledge, not another spelling",
    "f1-351": "a sentence that ends in the answer may also deny or report it",
}


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row["id"])
def test_hotpotqa_is_the_official_script(row: dict[str, Any]) -> None:
    score = exact(row["prediction"], row["reference"], preset="hotpotqa")

    assert score.value == row["em"]


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row["id"])
def test_squad_v1_is_the_official_script(row: dict[str, Any]) -> None:
    score = exact(row["prediction"], row["reference"], preset="squad_v1")

    assert score.value == row["others"]["squad_v1"]["em"]


@pytest.mark.parametrize(
    "row",
    [r for r in rows("multi_reference_max") if r["reference"]],
    ids=lambda r: r["id"],
)
def test_squad_v1_takes_the_best_reference(row: dict[str, Any]) -> None:
    score = exact(row["prediction"], row["reference"], preset="squad_v1")

    assert score.value == row["others"]["squad_v1"]["em"]


@pytest.mark.parametrize("row", JUDGED, ids=lambda row: row["id"])
def test_the_default_agrees_with_a_person(row: dict[str, Any]) -> None:
    score = exact(row["prediction"], row["reference"])

    agrees = bool(score) == row["human_equal"]
    assert agrees == (row["id"] not in DIFFERING)


def test_the_default_agrees_with_a_person_97_times_of_100() -> None:
    assert 1 - len(DIFFERING) / len(JUDGED) >= 0.97


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("DİYARBAKIR", "Diyarbakır"),
        ("Straße", "STRASSE"),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("ﬁnland", "Finland"),
        ("rock’n’roll", "rock n roll"),
        ("Ph.D.", "PhD"),
        ("J. R. R. Tolkien", "J.R.R. Tolkien"),
        ("e-mail", "email"),
        ("rock & roll", "rock and roll"),
        ("(A)", "A"),
        ("A.", "a"),
        ("** Paris **", "Paris"),
        ("Pa\u00adris\u200e", "Paris"),
        ("New\u2003York", "New York"),
        ("1 000 000", "1,000,000"),
        ("1.234,56", "1,234.56"),
        ("1'000", "1000"),
        (".5", "0.50"),
        ("½", "0.5"),
        ("1½", "1 1/2"),
        ("६", "6"),
        ("1e3", "1,000"),
        ("2.5 million", "2,500,000"),
        ("twenty-one", "21"),
        ("twenty-first", "21st"),
        ("one hundred and five", "105"),
        ("eleven million two hundred thousand", "11,200,000"),
        ("eleventh", "11th"),
        ("24/7", "24 / 7"),
        ("fifty percent", "50 %"),
        ("-$5", "$-5"),
        ("€5", "5 euros"),
        ("US$20", "20 dollars"),
        ("10km", "10 km"),
        ("The answer is Paris.", "Paris"),
        (r"The final answer is $\boxed{\text{Paris}}$.", "Paris"),
        ("答案：北京", "北京"),
        ("It's Paris", "Paris"),
        ("Yes - it is", "yes"),
        ("No, they are not.", "no"),
        ("", "  "),
        ("👍", "👍"),
    ],
)
def test_the_default_makes_equal(reply: str, expected: str) -> None:
    assert exact(reply, expected)
    assert exact(expected, reply)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("1.5", "15"),
        ("-5", "5"),
        ("50-50", "5050"),
        ("9/11", "911"),
        ("12:30", "1230"),
        ("10²", "102"),
        ("5'10", "510"),
        ("1,2,3", "123"),
        ("1 2", "12"),
        ("C++", "C"),
        ("C#", "C++"),
        ("A+", "A"),
        ("O-", "O+"),
        ("AB-", "AB"),
        ("N/A", "N"),
        ("5%", "5"),
        ("€5", "$5"),
        ("x > 5", "x < 5"),
        (">= 5", "<= 5"),
        ("2+3", "2-3"),
        ("👍", "👎"),
        ("now here", "nowhere"),
        ("not Paris", "Paris"),
        ("it is not Paris", "Paris"),
        ("The answer is not Paris", "Paris"),
        ("no way", "no"),
        ("Yes and No", "yes"),
        ("yes, but no", "yes"),
        ("the", "a"),
        ("", "the"),
        ("...", "!!!"),
        ("café", "cafe"),
        ("first", "1"),
        ("5 million", "5"),
        ("5 dollars", "5 euros"),
    ],
)
def test_the_default_keeps_apart(reply: str, expected: str) -> None:
    assert not exact(reply, expected)
    assert not exact(expected, reply)


@pytest.mark.parametrize(
    ("reply", "expected", "value"),
    [("A", "A", 1), ("The", "An", 0), ("A", "B", 0), ("the cat", "cat", 1)],
)
def test_articles_never_empty_an_answer(reply: str, expected: str, value: int) -> None:
    assert exact(reply, expected) == value


@pytest.mark.parametrize(
    ("reply", "expected", "value"),
    [
        ("Zu\u0308rich", "Z\u00fcrich", 1),
        ("10\u00a0km", "10 km", 1),
        ("STRASSE", "straße", 1),
        ("7.25", "8.25", 0),
    ],
)
def test_what_looks_equal_is_equal(reply: str, expected: str, value: int) -> None:
    assert exact(reply, expected) == value


def test_teff_counts_neither_white_space_nor_case() -> None:
    assert exact(" The\n Rocket ", "the rocket", preset="teff")


def test_teff_counts_punctuation() -> None:
    assert not exact("rocket.", "rocket", preset="teff")


def test_raw_counts_everything() -> None:
    assert not exact("Paris ", "Paris", preset="raw")


def test_an_unknown_preset_names_those_there_are() -> None:
    with pytest.raises(ConfigError) as caught:
        exact("a", "a", preset="sqad_v1")

    assert str(caught.value) == (
        "exact has no preset 'sqad_v1' (did you mean 'squad_v1'?); there are: "
        "default, squad_v1, squad_v2, hotpotqa, teff, raw, drop"
    )


def test_the_reason_names_the_expected_text() -> None:
    assert exact("Cusco", "Lima").reason == "the reply is not 'Lima'"


def test_a_difference_in_unicode_form_shows_code_points() -> None:
    score = exact("Zu\u0308rich", "Z\u00fcrich", preset="raw")

    assert score.reason == "the texts differ in Unicode form only"
    assert metrics.explain(score)[2:] == [
        "differ    in Unicode form only, at character 2:",
        "expected  U+00FC U+0072 U+0069",
        "reply     U+0075 U+0308 U+0072",
    ]


def test_the_nearest_reference_is_named() -> None:
    score = exact("rome", ["Paris", "Rome"])

    assert score.details["expected"] == "Rome"
    assert score.details["reference_index"] == 1


def test_the_explanation_tells_what_was_removed() -> None:
    lines = metrics.explain(exact("The capital, \x1b[1mCusco!", "Lima"))

    assert lines == [
        "expected  Lima",
        r"reply     The capital, \x1b[1mCusco!",
        "diff      [-lima-] {+capital 1mcusco+}",
        r"removed   invisible characters: \x1b; letter case; articles: the;",
        "          punctuation: , [ !",
    ]


@settings(max_examples=150)
@given(st.text(max_size=40))
def test_every_text_equals_itself_in_every_preset(text: str) -> None:
    scores = [
        exact(text, text, preset=p) for p in ("default", "squad_v1", "teff", "raw")
    ]

    assert all(score == 1 for score in scores)


@settings(max_examples=150)
@given(st.text(max_size=40), st.text(max_size=40))
def test_the_order_of_the_texts_does_not_matter(left: str, right: str) -> None:
    assert exact(left, right).value == exact(right, left).value

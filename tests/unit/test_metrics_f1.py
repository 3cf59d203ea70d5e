"""Token F1: the official scripts to the last digit, and our own preset."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval import metrics
from pytest_llmeval.diffs import columns
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics import exact, f1, token_f1

DATA = Path(__file__).parents[1] / "data"


def rows(kind: str) -> list[dict[str, Any]]:
    text = (DATA / "f1_vectors.jsonl").read_text("utf-8")
    found = [json.loads(line) for line in text.split("\n") if line]
    return [row for row in found if row["kind"] == kind]


SINGLE = rows("single")
SEVERAL = rows("multi_reference_max")


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row["id"])
def test_hotpotqa_is_the_official_script(row: dict[str, Any]) -> None:
    score = f1(row["prediction"], row["reference"], preset="hotpotqa")

    found = (score.value, score.details["precision"], score.details["recall"])
    right = (row["f1"], row["precision"], row["recall"])
    assert found == pytest.approx(right, abs=1e-12, rel=0)


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row["id"])
def test_squad_v1_is_the_official_script(row: dict[str, Any]) -> None:
    score = f1(row["prediction"], row["reference"], preset="squad_v1")

    right = row["others"]["squad_v1"]["f1"]
    assert score.value == pytest.approx(right, abs=1e-12, rel=0)


@pytest.mark.parametrize(
    "row", [r for r in SEVERAL if r["reference"]], ids=lambda row: row["id"]
)
def test_squad_v1_takes_the_best_reference(row: dict[str, Any]) -> None:
    score = f1(row["prediction"], row["reference"], preset="squad_v1")

    right = row["others"]["squad_v1"]["f1"]
    assert score.value == pytest.approx(right, abs=1e-12, rel=0)


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row["id"])
def test_squad_v2_is_the_official_script(row: dict[str, Any]) -> None:
    right = row["others"]["squad_v2"]

    score = f1(row["prediction"], row["reference"], preset="squad_v2")
    equal = exact(row["prediction"], row["reference"], preset="squad_v2")

    assert score.value == pytest.approx(right["f1"], abs=1e-12, rel=0)
    assert equal.value == right["em"]


@pytest.mark.parametrize("row", SEVERAL, ids=lambda row: row["id"])
def test_squad_v2_takes_the_best_reference_that_says_something(
    row: dict[str, Any],
) -> None:
    score = f1(row["prediction"], row["reference"], preset="squad_v2")
    equal = exact(row["prediction"], row["reference"], preset="squad_v2")

    assert score.value == pytest.approx(row["f1"], abs=1e-12, rel=0)
    assert equal.value == row["em"]


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row["id"])
def test_aflows_f1_is_squad_v1_with_one_reference(row: dict[str, Any]) -> None:
    score = f1(row["prediction"], row["reference"], preset="squad_v1")

    right = row["others"]["metagpt_aflow_hotpotqa"]["f1"]
    assert score.value == pytest.approx(right, abs=1e-12, rel=0)


@pytest.mark.parametrize("preset", ["default", "squad_v1", "squad_v2", "hotpotqa"])
@pytest.mark.parametrize("row", SINGLE[::7], ids=lambda row: row["id"])
def test_the_bare_value_is_that_of_the_score(row: dict[str, Any], preset: str) -> None:
    texts = row["prediction"], row["reference"]

    score = f1(*texts, preset=preset)

    assert token_f1(*texts, preset=preset) == score.value
    precision, recall = score.details["precision"], score.details["recall"]
    total = precision + recall
    harmonic = 2 * precision * recall / total if total else 0
    assert harmonic == pytest.approx(score.value)


def test_raw_compares_words_as_they_stand() -> None:
    assert f1("The  cat", "The cat", preset="raw") == 1
    assert f1("the cat", "The cat", preset="raw") == 0.5
    assert f1("", "", preset="raw") == 1


@pytest.mark.parametrize(
    "row", [r for r in SEVERAL if not r["reference"]], ids=lambda row: row["id"]
)
def test_no_reference_at_all_is_a_broken_row(row: dict[str, Any]) -> None:
    score = f1(row["prediction"], row["reference"], preset="squad_v1")

    assert (score.value, score.cause) == (None, "data")


@pytest.mark.parametrize("preset", ["squad_v1", "hotpotqa"])
def test_two_empty_texts_are_worth_nothing_officially(preset: str) -> None:
    assert f1("the", "", preset=preset) == 0


def test_two_empty_texts_are_equal_by_default() -> None:
    assert f1("", " ") == 1


def test_hotpotqa_gives_nothing_for_a_part_of_yes() -> None:
    assert f1("not yes", "yes", preset="hotpotqa") == 0


def test_repeated_words_count_as_often_as_in_both() -> None:
    assert f1("ha ha ha", "ha ha", preset="squad_v1").value == pytest.approx(0.8)


def test_long_texts_count_repeated_words_alike() -> None:
    score = f1("ha " * 60, "ha " * 40, preset="squad_v1")

    assert score.value == pytest.approx(0.8)


def test_cjk_is_compared_by_character() -> None:
    assert f1("東京", "東京都").value == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("reply", "expected", "value"),
    [("A", "A", 1), ("The", "An", 0), ("A", "B", 0), ("the cat", "cat", 1)],
)
def test_articles_never_empty_an_answer(reply: str, expected: str, value: int) -> None:
    assert f1(reply, expected) == value


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
    assert f1(reply, expected) == value


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row["id"])
def test_what_is_exact_has_full_f1(row: dict[str, Any]) -> None:
    is_exact = exact(row["prediction"], row["reference"]).value == 1

    assert is_exact <= (f1(row["prediction"], row["reference"]).value == 1)


@settings(max_examples=150)
@given(st.text(max_size=40), st.text(max_size=40))
def test_the_value_is_a_share_and_symmetric(left: str, right: str) -> None:
    value = token_f1(left, right)

    assert 0 <= value <= 1
    assert value == pytest.approx(token_f1(right, left))
    assert value == f1(left, right).value


def test_the_first_of_equally_good_references_is_named() -> None:
    score = f1("Rome", ["Paris", "Rome Italy", "Rome Italia"])

    assert score.details["expected"] == "Rome Italy"
    assert score.details["reference_index"] == 1


def test_the_details_hold_words_and_texts() -> None:
    details = f1("The capital is Cusco!", "Lima in Peru").details

    assert details["normalised_response"] == "capital is cusco"
    assert details["normalised_expected"] == "lima in peru"
    assert details["missing"] == ("lima", "in", "peru")
    assert details["extra"] == ("capital", "is", "cusco")
    assert details["removed"] == ("letter case", "articles: the", "punctuation: !")


def test_the_details_can_be_pickled() -> None:
    details = f1("a b", "b c").details

    assert pickle.loads(pickle.dumps(details)) == dict(details)


def test_an_unknown_preset_names_those_there_are() -> None:
    with pytest.raises(ConfigError, match="there are: default, raw, squad_v1"):
        f1("a", "b", preset="teff")


def test_the_explanation_shows_words() -> None:
    lines = metrics.explain(f1("the capital is Cusco", ["Quito", "Lima in Peru"]))

    assert lines == [
        "expected  Quito",
        "reply     the capital is Cusco",
        "diff      [-quito-] {+capital is cusco+}",
        "removed   letter case; articles: the",
        "nearest   of 2 acceptable texts, number 1 is shown",
        "missing   quito",
        "extra     capital is cusco",
        "precision 0.00, recall 0.00",
    ]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "\x1b[2J" * 999,
        "x" * 99_999,
        "東京" * 9999,
        "a\n" * 999,
        "\ud800 \u202e" * 99,
    ],
)
def test_an_explanation_is_short_and_inert(reply: str) -> None:
    lines = metrics.explain(f1(reply, "Lima"))

    assert len(lines) <= 20
    assert all(line.isprintable() and columns(line) <= 76 for line in lines)

"""Text metrics against the official scripts' values, row by row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.metrics import contains, exact, f1, number

DATA = Path(__file__).parents[1] / "data"


def rows(name: str) -> list[dict[str, Any]]:
    text = (DATA / name).read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


VECTORS = rows("f1_vectors.jsonl")
SINGLE = [row for row in VECTORS if row["kind"] == "single"]
SQUAD = [row for row in VECTORS if "squad_v1" in row["others"]]
JUDGED = [row for row in VECTORS if row.get("human_equal") is not None]
NUMBERS = rows("aflow_number_vectors.jsonl")
EXTRACTED = [row for row in NUMBERS if row["kind"] == "gsm8k_extract_number"]

#: Rows in which the default says otherwise than a person would, and why.
DISAGREES = {
    "f1-189": "a city's name with and without its suffix is a matter of knowledge",
    "f1-351": "a sentence that holds the answer is F1's matter, not equality's",
}


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row["id"])
def test_hotpotqa_is_the_official_script(row: dict[str, Any]) -> None:
    score = f1(row["prediction"], row["reference"], preset="hotpotqa")
    equal = exact(row["prediction"], row["reference"], preset="hotpotqa")

    assert score.value == pytest.approx(row["f1"], abs=1e-12)
    assert score.details["precision"] == pytest.approx(row["precision"], abs=1e-12)
    assert score.details["recall"] == pytest.approx(row["recall"], abs=1e-12)
    assert equal.value == row["em"]


@pytest.mark.parametrize("row", SQUAD, ids=lambda row: row["id"])
def test_squad_v1_is_the_official_script(row: dict[str, Any]) -> None:
    official = row["others"]["squad_v1"]

    score = f1(row["prediction"], row["reference"], preset="squad_v1")
    equal = exact(row["prediction"], row["reference"], preset="squad_v1")

    for found, right in ((score, official.get("f1")), (equal, official.get("em"))):
        if right is not None:
            assert found.value == pytest.approx(right, abs=1e-12)


@pytest.mark.parametrize("row", JUDGED, ids=lambda row: row["id"])
def test_the_default_agrees_with_a_person(row: dict[str, Any]) -> None:
    says_equal = exact(row["prediction"], row["reference"]).value == 1

    assert (says_equal == row["human_equal"]) is (row["id"] not in DISAGREES)


@pytest.mark.parametrize("row", EXTRACTED, ids=lambda row: row["id"])
def test_the_right_number_is_read(row: dict[str, Any]) -> None:
    if row["right_value"] is None:
        assert number(row["text"], 123456789).value == 0
        return
    assert number(row["text"], row["right_value"]).value == 1


@pytest.mark.parametrize(
    ("prediction", "reference", "same", "overlap"),
    [
        ("A", "A", 1, 1),
        ("The", "An", 0, 0),
        ("A", "B", 0, 0),
        ("the cat", "cat", 1, 1),
        ("Zu\u0308rich", "Z\u00fcrich", 1, 1),
        ("10\u00a0km", "10 km", 1, 1),
        ("STRASSE", "straße", 1, 1),
        ("7.25", "8.25", 0, 0),
        ("", "", 1, 1),
    ],
)
def test_the_default_on_texts_that_look_alike(
    prediction: str, reference: str, same: int, overlap: int
) -> None:
    assert exact(prediction, reference).value == same
    assert f1(prediction, reference).value == overlap


@pytest.mark.parametrize(
    ("prediction", "target", "value"),
    [
        ("They sold 37", "7", 0),
        ("8", "-8", 0),
        ("it fell to -8 overnight", "-8", 1),
        ("12.75", "2.75", 0),
        ("18.00", "18", 1),
        ("2e3", "2000", 1),
    ],
)
def test_a_number_is_compared_whole(prediction: str, target: str, value: int) -> None:
    assert number(prediction, target).value == value


async def answer() -> str:
    return "fine"


def test_a_reply_nobody_awaited_is_never_scored() -> None:
    waiting = answer()

    score = contains(waiting, "error", negate=True)

    waiting.close()
    assert (score.value, score.cause) == (None, "suite")
    assert "await it" in score.reason


def test_a_model_in_place_of_its_reply_is_never_scored() -> None:
    score = contains(str.upper, "error", negate=True)

    assert score.value is None
    assert "call it with the case" in score.reason

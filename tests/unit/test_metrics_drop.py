"""DROP's exact match and F1: to the last bit those of the official script."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval import metrics
from pytest_llmeval.metrics import exact, f1
from pytest_llmeval.metrics._drop_align import best_pairs
from pytest_llmeval.types import Case, Response, Source

DATA = Path(__file__).parents[1] / "data" / "f1_vectors.jsonl"


def rows() -> list[tuple[str, Any, Any, float, float]]:
    """Return id, prediction, reference and the two values of each row of DROP's."""
    found = []
    for line in DATA.read_text("utf-8").split("\n"):
        row = json.loads(line) if line else {}
        right = row if row.get("kind") == "list_alignment" else {}
        right = right or row.get("others", {}).get("drop")
        if right:
            values = (float(right["em"]), float(right["f1"]))
            found.append((row["id"], row["prediction"], row["reference"], *values))
    return found


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_both_values_are_those_of_the_official_script(
    row: tuple[str, Any, Any, float, float],
) -> None:
    _, reply, expected, em, value = row

    assert exact(reply, expected, preset="drop").value == em
    assert f1(reply, expected, preset="drop").value == value


@pytest.mark.parametrize(
    ("reply", "expected", "value"),
    [
        ("Bears|Lions|Packers|Jets", ["Vikings", "Packers"], 0.25),
        ("Vikings | Packers", ["Packers", "Vikings"], 1),
        ("43 yards", "23 yards", 0),
        ("36 yard td", "36", 0.5),
        ("a|b", "ab", 1),
        ("Packers", [["Vikings", "Packers"], ["Packers"]], 1),
        (["x"], [[], ["x", "y"]], 0.5),
        ("12", 12.0, 1),
        ("17", {"number": "17", "spans": [], "date": {}}, 1),
        ("b|a", {"number": "", "spans": ["a", "b"]}, 1),
        ("2 May 1990", {"date": {"day": "2", "month": "May", "year": "1990"}}, 1),
        ("a", [{"number": "3"}, {"spans": ["a"]}], 1),
        ([], [], 1),
        ([], ["x"], 0),
    ],
)
def test_spans_annotations_and_drops_own_form(
    reply: Any, expected: Any, value: float
) -> None:
    assert f1(reply, expected, preset="drop").value == value


def test_the_rounding_is_that_of_numpy() -> None:
    # A fifth of 0.125 is 0.025, which times 100 is 2.5 exactly: half to even.
    expected = ["q b2 c2 d2 e2 f2 g2 h2", "v", "w", "x", "y"]

    assert f1(["q b c d e f g h"], expected, preset="drop").value == 0.02
    assert round(0.025, 2) == 0.03


def test_a_case_and_a_response_are_read() -> None:
    case = Case(id="a", expected=["Vikings", "Packers"])

    assert f1(Response(text="Packers|Vikings"), case, preset="drop") == 1
    assert exact(Response(text="Packers"), case, preset="drop") == 0


def test_an_empty_reply_of_a_model_is_unscored() -> None:
    silent = Response(text="", provider="openai", model="m-1")

    assert f1(silent, "x", preset="drop").cause == "empty"


def test_a_form_without_an_answer_makes_the_case_unscored() -> None:
    case = Case(
        id="a", expected={"number": "", "x": 1}, source=Source(file="d", line=2)
    )

    score = f1("x", case, preset="drop")

    assert (score.value, score.cause) == (None, "data")
    assert score.reason == (
        "case 'a' (d:2): expected has neither number nor spans nor date; it has: "
        "number, x"
    )


def test_the_explanation_shows_the_spans_and_the_best_annotation() -> None:
    lines = metrics.explain(f1("a cat", [["cat"], ["dog", "cat"]][1], preset="drop"))

    assert lines == [
        "expected  dog | cat",
        "reply     a cat",
        "diff      [-dog |-] cat",
        "missing   dog",
    ]


@settings(max_examples=60)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.67, 1.0]), min_size=width,
                     max_size=width),
            min_size=1, max_size=4,
        )
    )
)  # fmt: skip
def test_the_best_pairing_is_found(values: list[list[float]]) -> None:
    pairs = best_pairs(values)

    height, width = len(values), len(values[0])
    size = min(height, width)
    ways = (
        zip(rows_of, columns_of, strict=True)
        for rows_of in permutations(range(height), size)
        for columns_of in permutations(range(width), size)
    )
    best = max(sum(values[r][c] for r, c in way) for way in ways)
    assert sum(values[r][c] for r, c in pairs) == pytest.approx(best)
    assert len(pairs) == size

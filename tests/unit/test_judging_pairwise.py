"""Labels, and what two of them say together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.judging import check_score_map, read_label, settle

DATA = Path(__file__).parents[1] / "data" / "pairwise_vectors.jsonl"
VECTORS: list[dict[str, Any]] = [
    json.loads(line) for line in DATA.read_text("utf-8").split("\n") if line
]
#: Rows that show a fault of langcheck's own.
FAULTS = {
    "p17": "the same label in both orders is a contradiction, and passed",
    "p23": "a tie whose score another label shares was refused",
    "p27": "a tie was refused since a label below it shares a score",
}
LABELS = ("Response A", "Tie", "Response B")


@pytest.mark.parametrize(
    "row",
    [row for row in VECTORS if row["id"] not in FAULTS],
    ids=lambda row: row["id"],
)
def test_a_handed_pair_is_settled_as_langcheck_does(row: dict[str, Any]) -> None:
    found = settle(row["label_ab"], row["label_swapped"], score_map=row["score_map"])

    assert found.score == row["enforce_consistency_true"]
    assert (found.first, found.swapped) == (row["label_ab"], row["label_swapped"])


@pytest.mark.parametrize(("name", "score"), [("p17", None), ("p23", 0.5), ("p27", 0.5)])
def test_a_fault_of_langchecks_is_not_ours(name: str, score: float | None) -> None:
    row = next(row for row in VECTORS if row["id"] == name)

    found = settle(row["label_ab"], row["label_swapped"], score_map=row["score_map"])

    assert found.score == score


@pytest.mark.parametrize(
    ("first", "swapped", "outcome", "cause"),
    [
        ("Response B", "Response A", "win", None),
        ("Response A", "Response B", "loss", None),
        ("Tie", "Tie", "tie", None),
        ("tie", "TIE", "tie", None),
        ("Response A", "Response A", None, "inconsistent"),
        ("Response B", "Response B", None, "inconsistent"),
        ("Response A", "Tie", None, "inconsistent"),
        ("Response A", None, None, "judge"),
        (None, None, None, "judge"),
        ("Response A", "Neither", None, "judge"),
    ],
)
def test_what_two_labels_say_together(
    first: str | None, swapped: str | None, outcome: str | None, cause: str | None
) -> None:
    found = settle(first, swapped)

    assert (found.outcome, found.cause) == (outcome, cause)


def test_a_contradiction_and_a_missing_label_say_so() -> None:
    assert "contradicted itself: 'Tie'" in settle("Tie", "Response A").reason
    assert "no label in the swapped order" in settle("Tie", None).reason
    assert "no label in the first and the swapped" in settle(None, None).reason


def test_a_tie_is_in_the_middle_of_the_ranks_whatever_its_score() -> None:
    found = settle("Tie", "Tie", score_map={"A": 0, "Tie": 0.2, "B": 1})

    assert (found.outcome, found.score) == ("tie", 0.2)


def test_a_mirror_can_be_given() -> None:
    scores = {"left": 0.0, "right": 1.0}

    found = settle("right", "left", score_map=scores, mirror={"left": "right"})

    assert found.outcome == "win"


@pytest.mark.parametrize(
    "scores",
    [
        {"A much better": 0, "A slightly better": 1, "B slightly better": 2},
        {"A": 0, "Tie": 0.5},
    ],
)
def test_a_map_that_is_not_symmetric_is_refused(scores: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="not symmetric: no label is .*mirror="):
        check_score_map(scores, None)


def test_a_map_with_one_value_is_refused() -> None:
    with pytest.raises(ConfigError, match="tells at least two values apart"):
        check_score_map({"A": 1, "B": 1}, None)


def test_a_symmetric_map_is_taken() -> None:
    check_score_map({"A": 0, "Equal": 0.5, "Both bad": 0.5, "B": 1}, None)


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("Response B", "Response B"),
        ("response b.", "Response B"),
        ("**Response B**", "Response B"),
        ("A names the date.\nVerdict: Response B", "Response B"),
        ("Winner: **Tie**", "Tie"),
        ("Final verdict: Response A - it is right", "Response A"),
        ("Response A: it is right.", "Response A"),
        ('{"winner": "Response B", "reason": "x"}', "Response B"),
        ('```json\n{"label": "tie"}\n```', "Tie"),
        ("<think>Response A?</think>\nVerdict: Response B", "Response B"),
        ("Verdict： Ｒｅｓｐｏｎｓｅ Ｂ", "Response B"),
        ("Response A is worse than Response B", None),
        ("Response A", "Response A"),
        ("Verdict: not Response A", None),
        ("Verdict: neither", None),
        ("Verdict: Response A\nVerdict: Response B", None),
        ("Response A or Response B", None),
        ('{"winner": 3}', None),
        ('{"winner": "Response A"} {"winner": "Response B"}', None),
        ("Verdict: Response AB", None),
        ("I prefer the second.", None),
        ("", None),
    ],
)
def test_a_label_is_read_where_it_is_plain(reply: str, label: str | None) -> None:
    assert read_label(reply, LABELS) == label


def test_the_longest_label_wins_over_one_that_it_contains() -> None:
    labels = ("Good", "Good enough", "Not good")

    assert read_label("Verdict: good enough", labels) == "Good enough"
    assert read_label("Verdict: not good", labels) == "Not good"

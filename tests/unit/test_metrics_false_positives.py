"""What other tools count as right and a person does not, and how far we agree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.metrics import contains, exact, f1, math, number, read_choices

DATA = Path(__file__).parents[1] / "data"

#: Rows in which the default says otherwise than a person would, and why.
DISAGREES = {
    "f1-189": "a city's name with and without its suffix is a matter of knowledge",
    "f1-351": "a sentence that holds the answer is F1's matter, not equality's",
    "dq-15": "words around a number are `number`'s matter",
    "dq-35": "a share as a percentage is `number`'s matter",
}
STATUS = {"no_answer": "none", "empty": "none", "none_selected": "ok"}


def rows(name: str) -> list[dict[str, Any]]:
    lines = (DATA / name).read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def judged() -> Iterator[tuple[str, bool]]:
    """Yield for each row a person judged its id and whether the default agrees."""
    for row in rows("f1_vectors.jsonl"):
        if row.get("human_equal") is not None:
            says = exact(row["prediction"], row["reference"]).value == 1
            yield row["id"], says == row["human_equal"]
    for row in rows("dataflow_qa_vectors.jsonl"):
        if row["right"] is not None:
            value = exact(row["prediction"], row["reference"]).value
            yield row["id"], value == row["right"]
    for row in rows("choice_vectors.jsonl"):
        reading = read_choices(
            row["reply"], row["choices"], multiple=row["kind"] == "multi"
        )
        status = STATUS.get(row["expected_status"], row["expected_status"])
        found = (list(reading.labels), reading.status)
        yield row["id"], found == (row["expected_labels"], status)
    for row in rows("aflow_number_vectors.jsonl"):
        if row["kind"] == "gsm8k_extract_number" and row["right_value"] is not None:
            yield row["id"], number(row["text"], row["right_value"]).value == 1


def test_the_default_agrees_with_a_person_in_all_but_a_few_known_rows() -> None:
    found = list(judged())

    disagreeing = {row for row, agrees in found if not agrees}
    assert disagreeing == set(DISAGREES)
    assert len(disagreeing) <= 0.03 * len(found)


@pytest.mark.parametrize(
    "metric", [exact, f1, contains, math], ids=lambda m: m.__name__
)
@pytest.mark.parametrize(
    ("reply", "reference"),
    [
        ("P", "Paris"),
        ("Joanna", "Ann"),
        ("eyes only", "yes"),
        ("The total is 14.", "4"),
        ("4", "42"),
        ("-5", "5"),
        ("1", "10"),
        ("100", "0"),
    ],
)
def test_a_part_of_a_word_or_number_is_no_answer(
    metric: Any, reply: str, reference: str
) -> None:
    """DataFlow counts each as right: its rule is containment in either direction."""
    assert metric(reply, reference).value == 0


@pytest.mark.parametrize("metric", [exact, math], ids=lambda m: m.__name__)
@pytest.mark.parametrize(
    ("reply", "reference"),
    [
        ("It is not Paris, it is Lyon", "Paris"),
        ("I do not know", "no"),
        ("guilty", "not guilty"),
    ],
)
def test_an_answer_within_another_one_is_none(
    metric: Any, reply: str, reference: str
) -> None:
    assert metric(reply, reference).value == 0


@pytest.mark.parametrize(
    "metric", [exact, f1, contains, number, math], ids=lambda m: m.__name__
)
def test_a_missing_reference_makes_the_row_broken(metric: Any) -> None:
    score = metric("banana", float("nan"))

    assert (score.value, score.cause) == (None, "data")

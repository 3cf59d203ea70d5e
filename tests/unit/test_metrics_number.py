"""Numbers: which one a reply gives, and when two are the same."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval import metrics
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics import number
from pytest_llmeval.metrics._number import read_number
from pytest_llmeval.types import Case, Source

DATA = Path(__file__).parents[1] / "data"


def rows(kind: str) -> list[dict[str, Any]]:
    text = (DATA / "aflow_number_vectors.jsonl").read_text("utf-8")
    found = [json.loads(line) for line in text.split("\n") if line]
    return [row for row in found if row["kind"] == kind]


def value_of(text: str) -> float | None:
    value = read_number(text).value
    return None if value is None else float(value)


@pytest.mark.parametrize("row", rows("gsm8k_extract_number"), ids=lambda row: row["id"])
def test_the_right_number_is_read(row: dict[str, Any]) -> None:
    assert value_of(row["text"]) == row["right_value"]


@pytest.mark.parametrize("row", rows("gsm8k_score"), ids=lambda row: row["id"])
def test_the_tolerance_is_absolute(row: dict[str, Any]) -> None:
    score = number(str(row["prediction"]), row["expected"])

    assert score.value == row["aflow_score"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # marked answers
        ("The answer is 18. See step 2.", 18),
        ("The answer is 5. Wait, the answer is 6.", 6),
        ("the answer is not 5 but 6", 6),
        ("The answer is:\n\n**42**", 42),
        ("The answer is 5 because there are 3 dogs and 2 cats", 5),
        ("The answer is that she has 5 apples", 5),
        ("The answer is approximately 3.14.", 3.14),
        ("Answer: 1 1/2", 1.5),
        ("So 4 + 5 = 9\nA: 9", 9),
        ("#### 1,234", 1234),
        ("Then #### $5 and 6", None),
        (r"\boxed{42} (units: m^2)", 42),
        (r"It is $\boxed{\frac{3}{4}}$.", 0.75),
        ("答案是18个", 18),
        # the last number
        ("She had 3, then 5", 5),
        ("5 + 3 = 8", 8),
        ("= 168 hours (7 days)", 168),
        ("x = 4 so there are 12 in total", 12),
        ("1. First\n2. Then\nResult: 7", 7),
        # forms of numbers
        ("−5", -5),
        ("-$5", -5),
        ("$-5", -5),
        ("minus 5", -5),
        ("it fell to -8 overnight", -8),
        ("- 5 apples\n- 3 pears", 3),
        (".5", 0.5),
        ("1/2", 0.5),
        ("1½", 1.5),
        ("1 000 000", 1_000_000),
        ("1.234.567", 1_234_567),
        ("1.234,50", 1234.5),
        ("1'000", 1000),
        ("1_000", 1000),
        ("10,00,000", 1_000_000),
        ("１８", 18),
        ("١٨", 18),
        ("5e-3", 0.005),
        ("3 × 10^8", 3e8),
        ("$1.5M", 1_500_000),
        ("300K", 300),
        ("1.5 million", 1_500_000),
        ("18%", 18),
        ("5°C", 5),
        ("twenty-one", 21),
        ("She has five apples", 5),
        (r"\\frac12", 0.5),
        ("3bn", 3e9),
        ("minus five", -5),
        # no single number
        ("two thirds", None),
        ("five point five", None),
        ("0x10", None),
        ("5 ± 1", None),
        ("5+-1", None),
        ("", None),
        ("No one knows", None),
        ("NaN", None),
        ("12,34", None),
        ("2.0.1", None),
        ("10:30", None),
        ("2024-05-06", None),
        ("5/6/2024", None),
        ("18th", None),
        ("so 3-2", None),
        ("7 * 6", None),
        ("2^3", None),
        ("$5-$7", None),
        ("between 5 and 7", None),
        ("The answer is 5 or 6", None),
        (r"\boxed{\sqrt{12}}", None),
        (r"\boxed{x+1}", None),
        ("1e999999", None),
        ("9" * 5000, None),
        ("1/0", None),
    ],
)
def test_a_reply_gives_its_number(text: str, value: float | None) -> None:
    assert value_of(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("reply", "expected", "value"),
    [
        ("They sold 37", "7", 0),
        ("8", "-8", 0),
        ("it fell to -8 overnight", "-8", 1),
        ("12.75", "2.75", 0),
        ("18.00", "18", 1),
        ("2e3", "2000", 1),
    ],
)
def test_a_suffix_of_a_number_is_another_one(
    reply: str, expected: str, value: int
) -> None:
    assert number(reply, expected) == value


@pytest.mark.parametrize(
    ("reply", "expected", "value"),
    [
        ("1.1", 1.0, 1),
        ("1.11", 1.0, 0),
        ("0.9", Case(id="a", expected="#### 1"), 1),
        ("7", [5, 6.95], 1),
    ],
)
def test_the_tolerance_can_be_set(reply: str, expected: Any, value: int) -> None:
    assert number(reply, expected, tolerance=0.1) == value


@pytest.mark.parametrize(
    ("reply", "expected", "value"),
    [
        ("50%", 50, 1),
        ("50%", 0.5, 1),
        ("0.5", "50%", 1),
        ("0.5%", "50%", 0),
        ("1e400", "2e400", 0),
        ("100000000000000001", 100000000000000000, 0),
        ("0.1e20", 1e19, 1),
        ("3333333333.3333333", "3333333333.33333335", 1),
    ],
)
def test_values_decide(reply: str, expected: Any, value: int) -> None:
    assert number(reply, expected) == value


def test_a_reply_without_a_number_is_wrong() -> None:
    score = number("I don't know", 5)

    assert score == 0
    assert score.reason == "the reply gives no number: there is none"


def test_the_reason_names_both_numbers() -> None:
    assert number("A: 12", "13").reason == "the reply says 12, not 13"


def test_a_row_without_a_number_is_broken() -> None:
    case = Case(id="peru", expected="Lima", source=Source(file="d.jsonl", line=3))

    score = number("5", case)

    assert (score.value, score.cause) == (None, "data")
    assert score.reason == (
        "case 'peru' (d.jsonl:3): expected 'Lima' gives no number: there is none"
    )


@pytest.mark.parametrize("tolerance", [-1, float("nan"), float("inf")])
def test_a_tolerance_that_is_none_is_refused(tolerance: float) -> None:
    with pytest.raises(ConfigError, match="tolerance is a number of 0 or more, not"):
        number("1", "1", tolerance=tolerance)


def test_the_explanation_shows_where_the_number_stands() -> None:
    lines = metrics.explain(
        number("So 5 and 6 is 11. The answer is 12 apples.", [13, 14])
    )

    assert lines == [
        "expected  13",
        "read      12 (after 'answer is')",
        "in        … 6 is 11. The answer is 12 apples.",
        "reply     So 5 and 6 is 11. The answer is 12 apples.",
        "nearest   of 2 acceptable texts, number 1 is shown",
    ]


def test_the_explanation_says_why_no_number_was_read() -> None:
    lines = metrics.explain(number("On 2024-05-06", 13))

    assert lines[1:] == [
        "read      no number: '06' is part of a sum or range without a result",
        "reply     On 2024-05-06",
    ]


@settings(max_examples=200)
@given(st.text(alphabet="0123456789.,-+eE/%$ ()[]=#:A\\{}^*x½²'_\n", max_size=40))
def test_any_text_is_read(text: str) -> None:
    reading = read_number(text)

    assert (reading.value is None) == bool(reading.problem)


@pytest.mark.parametrize(
    "piece", ["1 000 ", "1,", "[1", "= 1 ", "1-2 ", "A: ", "\\boxed{"]
)
def test_a_long_reply_takes_linear_time(piece: str) -> None:
    start = process_time()
    number(piece * 100_000, "5")

    assert process_time() - start < 2

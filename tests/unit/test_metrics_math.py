"""Formulas compared by math-verify, in a process of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval import metrics
from pytest_llmeval.errors import ConfigError, MissingExtraError
from pytest_llmeval.metrics import math
from pytest_llmeval.metrics._math_process import PROCESS, MathProcess
from pytest_llmeval.metrics._math_worker import as_formula

DATA = Path(__file__).parents[1] / "data"


def rows(name: str) -> list[dict[str, Any]]:
    lines = (DATA / name).read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


FORMULAS = [r for r in rows("aflow_number_vectors.jsonl") if r["kind"] == "math_equal"]
ANSWERS = rows("dataflow_qa_vectors.jsonl")


@pytest.mark.parametrize(
    "row", [r for r in FORMULAS if r["right"] is not None], ids=lambda row: row["id"]
)
def test_a_person_finds_the_same_formulas_equal(row: dict[str, Any]) -> None:
    assert math(row["prediction"], row["expected_solution"]).value == row["right"]


@pytest.mark.parametrize(
    "row", [r for r in ANSWERS if r["right"] is not None], ids=lambda row: row["id"]
)
def test_a_person_finds_the_same_answers_right(row: dict[str, Any]) -> None:
    assert math(row["prediction"], row["reference"]).value == row["right"]


@pytest.mark.parametrize(
    ("reply", "expected", "value"),
    [
        ("1+x", "x+1", 1),
        (r"so the answer is $\frac{3}{4}$.", "0.75", 1),
        (r"\boxed{\sin x}", r"\sin(x)", 1),
        (r"\boxed{\{2,1\}}", r"\{1,2\}", 1),
        ("(2,1)", "(1,2)", 0),
        ("1/3", "0.333", 0),
        ("12", "#### 12", 1),
        ("11", ["13", "11"], 1),
        ("I don't know", "5", 0),
        ("", "5", 0),
    ],
)
def test_formulas_are_compared(reply: str, expected: Any, value: int) -> None:
    assert math(reply, expected) == value


@pytest.mark.parametrize("piece", ["[open('{}','w')]", "__import__('os').mkdir('{}')"])
def test_nothing_of_a_reply_is_run(tmp_path: Path, piece: str) -> None:
    code = piece.format(tmp_path / "made")

    assert math(code, r"\boxed{5}").value == 0
    assert math(rf"\boxed{{{code}}}", r"\boxed{5}").value == 0
    assert list(tmp_path.iterdir()) == []


def test_what_takes_too_long_is_killed_and_the_next_one_is_compared() -> None:
    assert math("2+2", "4") == 1
    process = PROCESS._process
    assert process is not None

    score = math(r"\boxed{9^{9^{9^{9}}}}", "5", seconds=0.5)

    assert (score.value, score.cause) == (None, "suite")
    assert score.reason == (
        "comparing the formulas took longer than 0.5 s and was stopped; seconds= gives "
        "it longer"
    )
    assert process.poll() is not None
    assert math("2+2", "4") == 1


def test_a_worker_that_ended_is_started_again() -> None:
    assert math("2+2", "4") == 1
    process = PROCESS._process
    assert process is not None
    process.kill()
    process.wait()

    assert math("2+3", "5") == 1


def test_a_missing_library_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "math_verify", None)

    with pytest.raises(MissingExtraError) as caught:
        MathProcess().compare("1", "2", seconds=1)

    assert str(caught.value) == (
        "math needs the extra 'math' (no module 'math_verify'): "
        "pip install 'pytest-llm-regression[math]'"
    )


def test_the_same_answer_needs_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "math_verify", None)

    assert math("The answer is Paris.", "Paris") == 1


def test_words_are_compared_as_words() -> None:
    score = math("It is Lyon", "not Paris???")

    assert (score.value, score.reason) == (0, "the reply is not 'not Paris???'")


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), True])
def test_a_time_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(ConfigError, match="seconds is a number above 0"):
        math("1", "1", seconds=seconds)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("x+1", "$x+1$"),
        (r"\frac12", r"$\frac12$"),
        (r"\sin x + 2", r"$\sin x + 2$"),
        ("it is x+1", "$it is x+1$"),
        ("The answer is 5", "The answer is 5"),
        ("$x$", "$x$"),
        (r"\boxed{x}", r"\boxed{x}"),
        (r"\boxed{2} or \boxed{3}.", r"\boxed{3}."),
        ("6*3=18\n#### 18", "$18$"),
        ("x\ny", "x\ny"),
    ],
)
def test_a_bare_formula_is_marked_as_one(text: str, formula: str) -> None:
    assert as_formula(text) == formula


def test_the_reason_and_the_explanation_show_what_was_read() -> None:
    score = math(r"so $\frac{1}{3}$", ["0.25", "x"])

    assert score.reason == r"the reply says \frac{1}{3}, not 0.25"
    assert metrics.explain(score) == [
        "expected  0.25",
        r"read      \frac{1}{3}",
        r"reply     so $\frac{1}{3}$",
        "nearest   of 2 acceptable texts, number 1 is shown",
    ]
    assert math("???", "5").reason == "the reply has no formula that can be read"

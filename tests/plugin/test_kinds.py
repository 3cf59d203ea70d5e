"""Kinds in a suite: columns, prompts, the report, mistakes told at collection."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Suite

APP = """
from pytest_llmeval import Prompt

ASKED = []

class Model:
    def generate(self, prompt, **params):
        ASKED.append(prompt.text)
        return "A and C" if "Any number" in prompt.text else "B"

    def loglikelihood(self, context, continuation):
        ASKED.append(context + continuation)
        return -float(len(continuation))

    def loglikelihood_rolling(self, text):
        return -float(len(text))

model = Model()
"""


def body(
    dataset: str, kind: object, call: str = "assert_case(case, generator)", **more: Any
) -> str:
    keywords = "".join(f", {name}={value!r}" for name, value in more.items())
    return f"""
        import pytest
        from pytest_llmeval import assert_case
        import app

        @pytest.mark.llmeval({dataset!r}, kind={kind!r}, generator="python:app:model"{keywords})
        def test_kind(case, generator):
            {call}
            print(app.ASKED)
    """.replace("\n        ", "\n")


def test_a_body_is_one_line(suite: Suite) -> None:
    rows = [
        {"id": "a", "question": "?", "choices": ["x", "y", "z"], "labels": [0, 2]},
        {"id": "b", "question": "?", "choices": ["x", "y", "z"], "labels": [0]},
    ]
    suite.rows("data.jsonl", rows)
    suite.write(app=APP, test_kinds=body("data.jsonl", "choice_multi"))

    result, report = suite.report()

    result.assert_outcomes(passed=1, failed=1)
    metric = report["tests"][0]["metrics"]["choice"]
    assert metric["mean"] == pytest.approx((1 + 2 / 3) / 2)
    assert (metric["pooled"], metric["pooled_as"]) == (pytest.approx(6 / 7), "micro")
    assert "choice 0.83 (micro 0.86, n 2)" in result.stdout.str()
    assert (
        "Choices:\nA. x\nB. y"
        in report["cases"][0]["samples"][0]["prompt"][0]["content"]
    )


def test_a_text_is_scored_without_a_reply_or_a_bar(suite: Suite) -> None:
    suite.rows("data.jsonl", [{"text": "a b"}, {"text": "a bb"}])
    suite.write(app=APP, test_kinds=body("data.jsonl", "key1_text_score"))

    result, report = suite.report()

    result.assert_outcomes(passed=2)
    metric = report["tests"][0]["metrics"]["perplexity"]
    assert (metric["n"], metric["higher_is_better"], metric["pooled_as"]) == (
        2,
        False,
        "corpus",
    )


def test_a_prompt_of_the_test_comes_before_the_kinds(suite: Suite) -> None:
    suite.rows(
        "data.jsonl", [{"question": "Capital?", "choices": ["x", "yy"], "label": 0}]
    )
    kind = {"name": "choice", "metric": "choice_loglik"}
    suite.write(
        app=APP, test_kinds=body("data.jsonl", kind, prompt="Q {{ question }} A:")
    )

    result = suite.run("-rP")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*'Q Capital? A: x', 'Q Capital? A: yy'*"])


def test_a_kind_reads_its_columns_before_others(suite: Suite) -> None:
    row = {"question": "?", "target": "B", "answer": "no"}
    suite.rows("data.jsonl", [row])
    suite.write(app=APP, test_kinds=body("data.jsonl", "qa"))

    suite.run().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("kind", "row", "message"),
    [
        ("chioce", {"question": "?"}, "there is no kind 'chioce' (did you mean 'choice'?)"),
        (3, {"question": "?"}, "llmeval marker: kind is the name of a kind, or a mapping"),
        ({"name": "qa", "metric": "nope"}, {"question": "?"}, "there is no metric 'nope'"),
        ("choice", {"question": "?", "label": 1}, "and it has no choices; columns: question, label"),
        (
            "choice",
            {"question": "?", "choices": ["x", "y"], "label": 2},
            "which counts them from 1, not from 0",
        ),
    ],
)  # fmt: skip
def test_mistakes_are_collection_errors(
    suite: Suite, kind: Any, row: dict[str, Any], message: str
) -> None:
    suite.rows("data.jsonl", [row])
    suite.write(app=APP, test_kinds=body("data.jsonl", kind))

    result = suite.run()

    result.assert_outcomes(errors=1)
    assert message in result.stdout.str().replace("\n", " ").replace("E   ", "")


def test_a_missing_extra_is_a_collection_error(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rouge_score", None)
    suite.rows("data.jsonl", [{"question": "?", "answer": "B"}])
    kind = {"name": "qa", "metric": "rougeL", "threshold": 0.5}
    suite.write(app=APP, test_kinds=body("data.jsonl", kind))

    result = suite.run()

    result.assert_outcomes(errors=1)
    assert "pip install 'pytest-llm-regression[overlap]'" in result.stdout.str()


def test_broken_rows_stay_and_are_unscored(suite: Suite) -> None:
    good = {"question": "?", "choices": ["x", "y"], "label": 1}
    rows = [
        good,
        {**good, "label": None},
        {**good, "label": 7},
        {**good, "choices": []},
    ]
    suite.rows("data.jsonl", rows)
    suite.write(app=APP, test_kinds=body("data.jsonl", "choice"))

    _, report = suite.report()

    totals = report["totals"]
    assert (totals["passed"], totals["unscored"]) == (1, 3)
    assert {case["cause"] for case in report["cases"][1:]} == {"data"}


def test_a_model_without_log_probabilities_is_unscored_with_the_reason(
    suite: Suite,
) -> None:
    row = {"question": "?", "better": "x", "rejected": "yy", "reply": "x"}
    suite.rows("data.jsonl", [row])
    text = body("data.jsonl", "preference").replace("python:app:model", "column:reply")
    suite.write(app=APP, test_kinds=text)

    _, report = suite.report()

    (case,) = report["cases"]
    assert case["status"] == "unscored"
    assert "column:reply gives no log-probabilities of a given text" in case["reason"]


def test_an_awaited_reply_is_scored(suite: Suite) -> None:
    suite.rows("data.jsonl", [{"question": "?", "choices": ["x", "y"], "label": 1}])
    text = body(
        "data.jsonl", "choice", "assert_case(case, await generator.acall(case))"
    )
    suite.write(app=APP, test_kinds=text.replace("def test", "async def test"))

    result = suite.run("-rP")

    result.assert_outcomes(passed=1)
    assert "Reply with the letter" in result.stdout.str()

"""The budget: what is spent, what is not begun any more, what the run says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

APP = """
def answer(text):
    return (text, 0.10)

def free(text):
    return text

async def grade(prompt):
    return ('{"reason": "fine", "verdict": "PASS"}', 0.30)
"""

TEST = """
import pytest
from pytest_llmeval import assert_exact, assert_judge

@pytest.mark.llmeval("rows.jsonl", generator="python:app:MODEL", judge="python:app:grade")
def test_it(case, generatorJUDGE):
    response = generator(case)
    assert_exact(response, "a")
    BODY
"""
ONE_BY_ONE = "--llmeval-concurrency=1"


def write(
    suite: Suite, rows: int, *, model: str = "answer", judged: bool = False
) -> None:
    text = TEST.replace("MODEL", model)
    text = text.replace("JUDGE", ", judge" if judged else "")
    body = "assert_judge(response, case, judge, rubric='Good.')" if judged else "pass"
    suite.write(app=APP, test_it=text.replace("BODY", body))
    suite.pytester.makeini("[pytest]\npythonpath = .\n")
    suite.rows("rows.jsonl", [{"id": f"c{n}", "input": "a"} for n in range(rows)])


def test_what_is_over_the_budget_is_not_run(suite: Suite) -> None:
    write(suite, 10)

    result, report = suite.report("--llmeval-budget=0.30", ONE_BY_ONE, "-rs")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=3, skipped=7)
    assert report["totals"]["not_run"] == 7
    assert report["totals"]["skipped"] == 0
    result.stdout.fnmatch_lines(
        [
            "budget: $0.3000 of $0.3000 spent, and 7 cases were not run (--llmeval-budget)",
            "SKIPPED ?7? test_it.py:*: not run: the budget is spent (--llmeval-budget)",
        ]
    )


def test_a_budget_that_is_just_enough_ends_nothing(suite: Suite) -> None:
    write(suite, 3)

    result = suite.run("--llmeval-budget=0.30", ONE_BY_ONE)

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=3)


def test_judges_count(suite: Suite) -> None:
    write(suite, 4, judged=True)

    result, report = suite.report("--llmeval-budget=0.75", ONE_BY_ONE)

    result.assert_outcomes(passed=2, skipped=2)
    assert report["totals"]["not_run"] == 2


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["ahead", "xdist"])
def test_what_has_begun_is_finished(suite: Suite, workers: list[str]) -> None:
    write(suite, 60)

    result, report = suite.report("--llmeval-budget=0.30", *workers)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    totals = report["totals"]
    # Up to ten have begun before the first reply has come.
    assert 3 <= totals["passed"] <= 3 + 20
    assert totals["passed"] + totals["not_run"] == 60


def test_the_samples_of_a_case_stop_too(suite: Suite) -> None:
    write(suite, 2)

    result, report = suite.report(
        "--llmeval-budget=0.30", "--llmeval-repeat=5", ONE_BY_ONE
    )

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert report["totals"]["not_run"] == 2
    assert [len(case["samples"]) for case in report["cases"]] == [3, 1]


def test_recorded_replies_cost_nothing(suite: Suite) -> None:
    write(suite, 5)
    suite.run("--llmeval-mode=record")

    result = suite.run("--llmeval-mode=replay", "--llmeval-budget=0.01")

    result.assert_outcomes(passed=5)


def test_a_gate_over_cases_that_were_not_run_is_not_evaluated(suite: Suite) -> None:
    write(suite, 4)
    suite.write(llmeval_yaml="gates: ['pass_rate >= 0.5']")

    _, report = suite.report("--llmeval-budget=0.10", ONE_BY_ONE)

    assert [gate["state"] for gate in report["gates"]] == ["not evaluated"]
    assert report["gates"][0]["reason"] == "1 of 4 cases ran"


def test_cases_that_were_not_run_are_neither_lost_nor_saved(suite: Suite) -> None:
    write(suite, 3)
    suite.run("--llmeval-save=main")

    result, report = suite.report(
        "--llmeval-budget=0.10",
        ONE_BY_ONE,
        "--llmeval-compare=main",
        "--llmeval-save=b",
    )

    assert len(report["comparison"]["not_run"]) == 2
    assert report["comparison"]["missing"] == []
    result.stdout.fnmatch_lines(["not saved as 'b': 2 of 3 cases did not run*"])


def test_an_unknown_price_is_told(suite: Suite) -> None:
    write(suite, 2)
    suite.write(
        conftest="""
from pytest_llmeval import Response

class Paid:
    name = "paid"

    def generate(self, prompt, **params):
        return Response(text="a", model="x", provider="openai")
"""
    )
    text = (suite.path / "test_it.py").read_text("utf-8")
    text = text.replace('"python:app:answer"', "Paid()")
    suite.write(test_it="from conftest import Paid" + text)

    result = suite.run("--llmeval-budget=5", ONE_BY_ONE)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        ["budget: what 2 of 2 calls cost is unknown, and is not*"]
    )


@pytest.mark.parametrize("value", ["0", "-1", "much", "nan", "inf", "5$"])
def test_a_budget_that_is_none_is_told(suite: Suite, value: str) -> None:
    write(suite, 1)

    result = suite.run(f"--llmeval-budget={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*--llmeval-budget is US dollars above 0, such as 2.50*"]
    )

"""The calibration marker: a judge's verdicts against people's, weighed by a gate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

APP = """
def grade(prompt):
    reply = prompt.rpartition("<<<reply ")[2]
    if "boom" in reply:
        raise RuntimeError("no more credit")
    if "mumble" in reply:
        return "PASS or FAIL?"
    return "PASS: right" if "Lima" in reply else "FAIL: wrong city"
"""
TEST = """
import pytest
from pytest_llmeval import assert_judge

@pytest.mark.llmeval_calibration("labels.jsonl", judge="python:app:grade"OPTIONS)
def test_grader(case, judge):
    assert_judge(case["response"], case, judge, rubric="Names the city.")
"""
AGREED = [("Lima", "PASS")] * 4 + [("Cusco", "FAIL")] * 4


def calibrated(suite: Suite, labels: list[tuple[str, str]], options: str = "") -> Suite:
    suite.rows(
        "labels.jsonl",
        [
            {"id": f"r{n}", "question": "Peru?", "response": reply, "label": label}
            for n, (reply, label) in enumerate(labels)
        ],
    )
    suite.write(app=APP, test_a=TEST.replace("OPTIONS", options))
    return suite


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "xdist"])
def test_a_judge_that_agrees_holds_its_gate(suite: Suite, workers: list[str]) -> None:
    calibrated(suite, [*AGREED, ("Cusco?", "PASS")])

    result, data = suite.report(*workers)

    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "    calibration of python:app:grade: 9 labelled replies",
            "      accuracy   89 % (8 of 9, *)",
            "      kappa      0.78 (*)",
            "      base rate  56 %: what saying PASS every time would score",
            "      undecided  0 % (0 of 9)",
            "      FAIL                   4       0",
            "      PASS                   1       4",
            "  holds  test_grader  kappa 0.78 >= 0.60 (n 9, * to *)",
            "*agreement failed: label PASS, the judge FAIL: the judge said FAIL: *",
        ]
    )
    counts = data["totals"]
    assert (counts["passed"], counts["gated"], counts["failed"]) == (8, 1, 0)
    (test,) = data["tests"]
    assert test["calibration"]["kappa"] == pytest.approx(0.78, abs=0.01)
    assert test["metrics"]["agreement"]["mean"] == pytest.approx(8 / 9)
    assert data["gates"][0]["state"] == "holds"


def test_a_judge_that_does_not_agree_fails_the_run(suite: Suite) -> None:
    calibrated(suite, [*AGREED, *[("Cusco", "PASS")] * 4])

    result, data = suite.report()

    assert result.ret == 1
    assert data["gates"][0]["state"] == "fails"
    assert data["totals"]["failed"] == 4


@pytest.mark.parametrize(("reply", "word"), [("mumble", "FAIL"), ("boom", "FAIL")])
def test_a_reply_without_a_verdict_is_unscored_and_counts_as_undecided(
    suite: Suite, reply: str, word: str
) -> None:
    calibrated(suite, [*AGREED, (reply, word)])

    result, data = suite.report()

    assert result.ret == 1
    assert data["totals"]["unscored"] == 1
    assert data["tests"][0]["calibration"]["undecided"] == 1
    assert data["gates"][0]["state"] == "holds"
    assert suite.run("--llmeval-max-unscored=1").ret == 0


def test_the_gate_is_one_s_own(suite: Suite) -> None:
    calibrated(
        suite,
        [*AGREED, ("Cusco", "PASS")],
        ", gate=['kappa >= 0.95', 'accuracy >= 0.8']",
    )

    result, data = suite.report()

    assert result.ret == 1
    assert [gate["state"] for gate in data["gates"]] == ["fails", "holds"]


def test_a_part_of_the_labels_decides_nothing(suite: Suite) -> None:
    calibrated(suite, [*AGREED, ("Cusco", "PASS")])

    result = suite.run("-k", "r1 or r2")

    assert result.ret == 0
    result.stdout.fnmatch_lines(["*not evaluated*2 of 9 cases ran*"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (", gate='kapa >= 0.6'", "did you mean 'kappa'"),
        (", gate='pass_rate >= 0.6'", "a calibration has no 'pass_rate'"),
        (", judg='x'", "no keyword 'judg' (did you mean 'judge'?)"),
        (", label=3", "label is the name of a column, not 3"),
        (", limit=0", "limit is"),
    ],
)
def test_a_mistake_in_the_marker_is_a_collection_error(
    suite: Suite, options: str, message: str
) -> None:
    calibrated(suite, AGREED, options)

    result = suite.run()

    result.assert_outcomes(errors=1)
    assert message in result.stdout.str()


def test_a_label_that_the_judge_can_not_say_is_a_broken_row(suite: Suite) -> None:
    calibrated(suite, [*AGREED, ("Lima", "so so")])

    _, data = suite.report()

    case = data["cases"][-1]
    assert (case["status"], case["cause"]) == ("unscored", "data")
    assert "'so so' is none of PASS, FAIL" in case["reason"]


def test_a_body_makes_one_check_by_a_judge(suite: Suite) -> None:
    calibrated(suite, AGREED[:1])
    suite.write(
        test_a="""
import pytest
from pytest_llmeval import assert_contains, assert_judge

given = pytest.mark.llmeval_calibration("labels.jsonl", judge="python:app:grade")

@given
def test_none(case):
    assert_contains("a", "a")

@given
def test_two(case, judge):
    assert_judge("Lima", case, judge)
    assert_judge("Lima", case, judge, name="again")

@given
def test_other(case, judge):
    assert_judge("Lima", case, judge)
    assert_contains("a", "b")
"""
    )

    _, data = suite.report()

    cases = {case["nodeid"].partition("::")[2]: case for case in data["cases"]}
    for name, count in (("none", "no"), ("two", "2")):
        case = cases[f"test_{name}[r0]"]
        assert (case["status"], case["cause"]) == ("unscored", "suite")
        assert f"the body made {count} checks by a judge" in case["reason"]
    assert cases["test_other[r0]"]["reason"].startswith("contains failed")


def test_comparisons_are_held_against_win_tie_and_loss(suite: Suite) -> None:
    suite.rows(
        "labels.jsonl",
        [
            {"id": str(n), "question": "q", "new": new, "old": old, "human": human}
            for n, (new, old, human) in enumerate(
                [("Lima", "Cusco", "win"), ("Cusco", "Lima", "loss"), ("a", "b", "tie")]
            )
        ],
    )
    suite.write(
        app="""
def prefer(prompt):
    a, _, b = prompt.partition("<<<response B")
    if ("Lima" in a) == ("Lima" in b):
        return "Verdict: Tie"
    return "Verdict: Response " + ("A" if "Lima" in a else "B")
""",
        test_a="""
import pytest
from pytest_llmeval import assert_pairwise

@pytest.mark.llmeval_calibration(
    "labels.jsonl", judge="python:app:prefer", label="human"
)
def test_pairs(case, judge):
    assert_pairwise(case["new"], case, judge, against=case["old"])
""",
    )

    result, data = suite.report()

    assert result.ret == 0, result.stdout.str()
    assert data["tests"][0]["calibration"]["kappa"] == 1


def test_the_fingerprint_of_the_judge_stands_beside_every_verdict(suite: Suite) -> None:
    calibrated(suite, AGREED[:1])

    _, data = suite.report()

    checks: list[Any] = data["cases"][0]["samples"][0]["scores"]
    assert set(checks[0]["judge"]["fingerprint"]) >= {"models", "rubric", "template"}
    assert json.dumps(data["cases"][0]["calibration"]) == json.dumps(
        {"true": "PASS", "said": "PASS", "judge": "python:app:grade"}
    )

"""passed, failed, unscored: letters, words, counts, exit status, JUnit, --lf, -x."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

ROWS = [
    {"id": "right", "question": "2 + 2?", "expected": "4", "reply": "4"},
    {"id": "wrong", "question": "2 + 3?", "expected": "5", "reply": "6"},
    {"id": "gone", "question": "2 + 4?", "expected": "6"},
    {"id": "again", "question": "2 + 5?", "expected": "7", "reply": "7"},
]

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("sums.jsonl", generator="column:reply")
def test_sums(case, generator):
    assert_exact(generator(case), case)
"""

BOTH = pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "xdist"])
#: Where it only matters that what a worker found out arrives, one is enough.
ONE = pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "xdist"])


@pytest.fixture
def sums(suite: Suite) -> Suite:
    suite.rows("sums.jsonl", ROWS)
    suite.write(test_sums=TEST)
    return suite


def test_letters_stand_in_order(sums: Suite) -> None:
    result = sums.run()

    result.stdout.fnmatch_lines(["test_sums.py .FU. *"])


@BOTH
def test_words_and_counts(sums: Suite, workers: list[str]) -> None:
    result = sums.run("-v", *workers)

    result.stdout.re_match_lines_random(
        [
            r".*test_sums\[right\].*PASSED.*|.*PASSED.*test_sums\[right\].*",
            r".*test_sums\[wrong\].*FAILED.*|.*FAILED.*test_sums\[wrong\].*",
            r".*test_sums\[gone\].*UNSCORED.*|.*UNSCORED.*test_sums\[gone\].*",
        ]
    )
    result.stdout.re_match_lines([r".*1 failed, 2 passed, 1 unscored in .*"])
    assert result.ret == 1


@ONE
def test_an_unscored_case_alone_fails_the_run(sums: Suite, workers: list[str]) -> None:
    result = sums.run("-k", "gone", *workers)

    assert result.ret == 1
    result.stdout.re_match_lines([r".*1 unscored.*"])


@BOTH
def test_the_records_arrive_with_and_without_workers(
    sums: Suite, workers: list[str]
) -> None:
    _, report = sums.report(*workers)

    statuses = {case["case_id"]: case["status"] for case in report["cases"]}
    assert statuses == {
        "right": "passed",
        "wrong": "failed",
        "gone": "unscored",
        "again": "passed",
    }
    assert report["totals"]["cases"] == 4
    assert report["totals"]["pass_rate"] == pytest.approx(2 / 3)


@ONE
def test_junit_says_error_for_unscored_and_failure_for_failed(
    sums: Suite, workers: list[str]
) -> None:
    sums.run("--junitxml=junit.xml", *workers)

    root = ElementTree.parse(sums.path / "junit.xml").getroot()
    kinds = {
        case.get("name"): [node.tag for node in case if node.tag != "properties"]
        for case in root.iter("testcase")
    }
    assert kinds["test_sums[wrong]"] == ["failure"]
    assert kinds["test_sums[gone]"] == ["error"]
    suite_node = next(root.iter("testsuite"))
    assert (suite_node.get("failures"), suite_node.get("errors")) == ("1", "1")


def test_junit_points_at_the_row(sums: Suite) -> None:
    sums.run("--junitxml=junit.xml")

    text = (sums.path / "junit.xml").read_text("utf-8")
    assert 'name="llmeval_source" value="sums.jsonl:2"' in text


def test_last_failed_runs_failed_and_unscored_again(sums: Suite) -> None:
    sums.run_with_cache()

    result = sums.run_with_cache("--lf", "-v")

    result.stdout.re_match_lines([r".*1 failed, 1 unscored.*"])


def test_exitfirst_counts_unscored(sums: Suite) -> None:
    result = sums.run("-x", "-k", "gone or again")

    result.stdout.re_match_lines([r".*1 deselected.*|.*2 deselected.*"])
    result.stdout.fnmatch_lines(["*stopping after 1 failures*"])


def test_a_run_of_unscored_cases_alone_ends_red(sums: Suite) -> None:
    result = sums.run("-k", "gone", "--color=yes")

    assert "\x1b[31m" in result.outlines[-1]


def test_the_short_summary_lists_unscored_below_failed(sums: Suite) -> None:
    result = sums.run()

    result.stdout.fnmatch_lines(
        [
            "*short test summary info*",
            "FAILED test_sums.py::test_sums?wrong?*",
            "UNSCORED test_sums.py::test_sums?gone? - *'gone' has no column 'reply'*",
        ]
    )


def test_the_short_summary_has_its_header_with_unscored_alone(sums: Suite) -> None:
    result = sums.run("-k", "gone")

    result.stdout.fnmatch_lines(["*short test summary info*", "UNSCORED test_sums*"])


def test_a_crash_in_the_body_is_unscored_not_failed(suite: Suite) -> None:
    suite.write(
        test_crash="""
import pytest

@pytest.mark.llmeval([{"id": "a", "input": "x"}])
def test_crash(case):
    raise KeyError("no such key")
"""
    )

    result, report = suite.report()

    result.stdout.re_match_lines([r".*1 unscored.*"])
    assert report["cases"][0]["cause"] == "application"
    assert "no such key" in result.stdout.str()


def test_a_failing_fixture_is_unscored_with_its_cause(suite: Suite) -> None:
    suite.write(
        test_setup="""
import pytest

@pytest.fixture
def database():
    raise OSError("no database")

@pytest.mark.llmeval([{"id": "a", "input": "x"}])
def test_setup(case, database):
    assert case
"""
    )

    result, report = suite.report()

    assert report["cases"][0]["status"] == "unscored"
    assert report["cases"][0]["cause"] == "setup"
    assert report["totals"]["unscored"] == 1
    assert result.ret == 1


@pytest.mark.parametrize("arguments", ["", ", treshold=0.5"])
def test_a_helper_that_is_called_wrongly_is_a_mistake_in_the_suite(
    suite: Suite, arguments: str
) -> None:
    suite.write(
        test_miscalled=f"""
import pytest
from pytest_llmeval import assert_f1

@pytest.mark.llmeval([{{"input": "?"}}], generator=lambda prompt: "a")
def test_miscalled(case, generator):
    assert_f1(generator(case), "a"{arguments})
"""
    )

    _, report = suite.report()

    (case,) = report["cases"]
    assert (case["status"], case["cause"]) == ("unscored", "suite")
    assert case["reason"].startswith("TypeError: assert_f1() ")


def test_a_fixture_that_is_not_there_is_named(suite: Suite) -> None:
    suite.write(
        test_misspelt="""
import pytest

@pytest.mark.llmeval([{"input": "?"}], generator=lambda prompt: "a")
def test_misspelt(case, genrator):
    genrator(case)
"""
    )

    _, report = suite.report()

    (case,) = report["cases"]
    assert (case["status"], case["cause"]) == ("unscored", "setup")
    assert case["reason"] == "fixture 'genrator' not found (did you mean 'generator'?)"


def test_a_plain_assert_and_pytest_fail_are_failures(suite: Suite) -> None:
    suite.write(
        test_plain="""
import pytest

@pytest.mark.llmeval([{"id": "a", "input": "x"}, {"id": "b", "input": "y"}])
def test_plain(case):
    if case.id == "a":
        pytest.fail("by hand")
    assert case.input == "x"
"""
    )

    result = suite.run()

    result.assert_outcomes(failed=2)


def test_an_expected_failure_needs_a_check_that_did_not_hold(suite: Suite) -> None:
    rows = [
        {"id": "held", "expected": "a", "reply": "b", "xfail": "known bad"},
        {"id": "crash", "expected": "a", "xfail": "known bad"},
    ]
    suite.rows("sums.jsonl", rows)
    suite.write(test_sums=TEST)

    result = suite.run()

    result.stdout.re_match_lines([r".*1 xfailed, 1 unscored.*"])


def test_a_row_can_ask_to_be_skipped(suite: Suite) -> None:
    suite.rows("sums.jsonl", [{"id": "a", "reply": "b", "skip": "not yet"}])
    suite.write(test_sums=TEST)

    result = suite.run("-rs")

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*not yet*"])


def test_unscored_texts_alike_are_shown_once(suite: Suite) -> None:
    rows = [{"id": f"c{n}", "input": "hi", "expected": "b"} for n in range(5)]
    suite.rows("rows.jsonl", rows)
    suite.write(
        down_jsonl='{"error": "the server is down"}\n',
        test_down="""
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", generator="fake:down.jsonl")
def test_down(case, generator):
    assert_exact(generator(case), case)
""",
    )

    result = suite.run()

    text = result.stdout.str()
    assert text.count("UnscoredError: the server is down") == 1
    result.stdout.fnmatch_lines(["the same reason: test_down?c1?*and 1 more*"])


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="subtests came with pytest 9")
@ONE
def test_a_case_with_a_failed_subtest_is_no_pass(
    sums: Suite, workers: list[str]
) -> None:
    sums.write(
        test_sums=TEST.replace(
            "(case, generator):\n    ",
            '(case, generator, subtests):\n    with subtests.test("one"): ',
        )
    )

    result, report = sums.report(*workers)

    statuses = {case["case_id"]: case["status"] for case in report["cases"]}
    assert statuses == {
        "right": "passed",
        "wrong": "failed",
        "gone": "unscored",
        "again": "passed",
    }
    assert result.parseoutcomes()["unscored"] == 1
    assert result.ret == 1


def test_a_case_whose_worker_died_is_unscored_and_the_others_stay(sums: Suite) -> None:
    sums.write(
        test_sums=TEST.replace(
            "assert_exact(",
            'import os; case.id == "right" and os._exit(3); assert_exact(',
        )
    )

    result, report = sums.report("-n2")

    found = {c["case_id"]: (c["status"], c["cause"]) for c in report["cases"]}
    assert found == {
        "right": ("unscored", "crashed"),
        "wrong": ("failed", None),
        "gone": ("unscored", "data"),
        "again": ("passed", None),
    }
    assert result.parseoutcomes() == {"failed": 1, "passed": 1, "unscored": 2}
    result.stdout.fnmatch_lines(["*worker 'gw?' crashed while running*"])


@pytest.mark.parametrize("fault", ['assert 0, "down"', 'pytest.fail("down")'])
def test_a_fixture_that_fails_by_a_check_is_no_wrong_answer(
    suite: Suite, fault: str
) -> None:
    suite.write(
        test_setup=f"""
import pytest

@pytest.fixture
def database():
    {fault}

@pytest.mark.llmeval([{{"id": "a", "input": "x"}}])
def test_setup(case, database):
    assert case
"""
    )

    result, report = suite.report()

    assert (report["totals"]["failed"], report["totals"]["unscored"]) == (0, 1)
    assert report["cases"][0]["cause"] == "setup"
    result.stdout.re_match_lines([r".*1 unscored.*"])


@pytest.mark.parametrize("call", ["pytest.fail", "pytest.skip"])
def test_an_application_can_not_decide_its_own_case(suite: Suite, call: str) -> None:
    suite.rows("rows.jsonl", [{"id": "a", "input": "x", "expected": "x"}])
    suite.write(
        app=f"import pytest\n\ndef answer(prompt):\n    {call}('done')\n",
        test_it=TEST.replace("sums.jsonl", "rows.jsonl").replace(
            "column:reply", "python:app:answer"
        ),
    )

    _, report = suite.report()

    assert report["cases"][0]["cause"] == "application"


@ONE
def test_half_a_character_in_an_exception_stops_no_run(
    suite: Suite, workers: list[str]
) -> None:
    rows = [{"id": name, "input": "x", "expected": "x"} for name in "abcd"]
    suite.rows("rows.jsonl", rows)
    suite.write(
        test_it="""
import pytest

@pytest.mark.llmeval("rows.jsonl")
def test_it(case):
    if case.id == "b":
        raise ValueError("cut \\ud83d \\x1b]0;title\\x07")
    assert case.id
"""
    )

    result, report = suite.report(*workers)

    assert (report["totals"]["passed"], report["totals"]["unscored"]) == (3, 1)
    assert "\x1b]0;" not in result.stdout.str()


def test_a_dataset_on_a_unittest_class_is_refused(suite: Suite) -> None:
    suite.write(
        test_it="""
import unittest
import pytest

@pytest.mark.llmeval([{"id": "a"}, {"id": "b"}])
class TestIt(unittest.TestCase):
    def test_it(self):
        pass
"""
    )

    result = suite.run()

    result.stderr.fnmatch_lines(["*methods of a unittest.TestCase can't receive its*"])

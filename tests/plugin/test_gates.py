"""Gates: what holds failures below the bar, and when it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", generator="column:reply", gate={gate!r})
def test_it(case, generator):
    assert_exact(generator(case), case)
"""

WORKERS = pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "xdist"])


@pytest.fixture
def rows(suite: Suite) -> Suite:
    """Ten cases, of which two fail."""
    suite.rows(
        "rows.jsonl",
        [
            {
                "id": f"c{n}",
                "input": "?",
                "expected": "a",
                "reply": "b" if n < 2 else "a",
                "tags": ["hard"] if n < 4 else ["easy"],
            }
            for n in range(10)
        ],
    )
    return suite


def write(suite: Suite, gate: object) -> None:
    suite.write(test_it=TEST.format(gate=gate))


@WORKERS
def test_a_gate_that_holds_holds_its_failures(rows: Suite, workers: list[str]) -> None:
    write(rows, "pass_rate >= 0.8")

    result, report = rows.report("-x", "--junitxml=j.xml", *workers)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "gates",
            "  holds *test_it  pass_rate 0.80 >= 0.80 (n 10, 49–94 %)",
            "2 gated",
            "  g test_it?c0?  rows.jsonl:1",
        ]
    )
    result.stdout.re_match_lines([r"=* 8 passed, 2 gated in .*"])
    assert report["totals"]["gated"] == 2
    assert report["gates"][0]["state"] == "holds"
    tree = ElementTree.parse(rows.path / "j.xml")
    types = [node.get("type") for node in tree.iter("skipped")]
    assert types == ["llmeval-gated"] * 2
    assert [one.get("failures") for one in tree.iter("testsuite")] == ["0"]


@WORKERS
def test_a_gate_that_breaks_counts_them_as_failed(
    rows: Suite, workers: list[str]
) -> None:
    write(rows, "pass_rate >= 0.9")

    result, report = rows.report("--junitxml=j.xml", *workers)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*= FAILURES =*",
            "  fails *test_it  pass_rate 0.80 >= 0.90 (n 10, 49–94 %)",
            "2 failed",
            "FAILED test_it.py::test_it?c0? - *",
        ]
    )
    result.stdout.re_match_lines([r"=* 2 failed, 8 passed in .*"])
    assert report["totals"]["failed"] == 2
    (suite,) = ElementTree.parse(rows.path / "j.xml").iter("testsuite")
    assert (suite.get("failures"), suite.get("skipped")) == ("2", "0")


def test_cases_below_the_bar_are_run_again_by_lf(rows: Suite) -> None:
    write(rows, "pass_rate >= 0.8")
    rows.run_with_cache()

    result = rows.run_with_cache("--lf")

    # Two of ten cases say nothing about the rate, and nothing holds them then.
    result.assert_outcomes(failed=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["  not evaluated*pass_rate >= 0.8 (2 of 10 cases ran)"]
    )


def test_an_unscored_case_leaves_a_gate_undecided(rows: Suite) -> None:
    path = rows.path / "rows.jsonl"
    path.write_text(path.read_text("utf-8").replace('"reply": "a"', '"x": "a"', 1))
    write(rows, "pass_rate >= 0.75")

    result = rows.run("--llmeval-max-unscored=1")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["  undecided *(n 9, 45–94 %, 1 unknown decides)"])


def test_a_case_that_must_pass_is_held_by_no_gate(rows: Suite) -> None:
    path = rows.path / "rows.jsonl"
    path.write_text(
        path.read_text("utf-8").replace('"id"', '"must_pass": true, "id"', 1)
    )
    write(rows, "pass_rate >= 0.8")

    result = rows.run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.re_match_lines([r"=* 1 failed, 8 passed, 1 gated in .*"])


def test_a_gate_on_money_holds_no_failures(rows: Suite) -> None:
    write(rows, ["tokens <= 100"])

    result = rows.run()

    result.assert_outcomes(failed=2, passed=8)


@pytest.mark.parametrize(
    ("gates", "status", "lines"),
    [
        ('["pass_rate >= 0.8"]', 0, ["  holds *the run  pass_rate 0.80 >= 0.80 *"]),
        ('["pass_rate >= 0.9"]', 1, ["  fails *the run  pass_rate 0.80 >= 0.90 *"]),
        (
            '["tag hard: pass_rate >= 0.5", "tag easy: pass_rate >= 1"]',
            0,
            [
                "  holds *tag hard  pass_rate 0.50 *",
                "  holds *tag easy  pass_rate 1.00 *",
            ],
        ),
    ],
)
def test_gates_of_the_run_and_of_tags(
    rows: Suite, gates: str, status: int, lines: list[str]
) -> None:
    rows.write(llmeval_yaml=f"gates: {gates}\n")
    write(rows, None)

    result = rows.run()

    assert result.ret == status
    result.stdout.fnmatch_lines(lines)


def test_a_gate_on_a_tag_is_not_evaluated_where_cases_were_left_out(
    rows: Suite,
) -> None:
    rows.write(llmeval_yaml='gates: ["tag hard: pass_rate >= 1"]\n')
    write(rows, None)

    result = rows.run("-k", "easy")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        ["  not evaluated  tag hard  pass_rate >= 1 (6 of 10 cases ran)"]
    )


def test_a_gate_on_a_tag_that_no_case_has_says_which_there_are(rows: Suite) -> None:
    rows.write(llmeval_yaml='gates: ["tag hadr: pass_rate >= 0.1"]\n')
    write(rows, None)

    result = rows.run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "  undecided  tag hadr  pass_rate >= 0.1 (no case has this tag)",
            "tag hadr: no case of this run has this tag (did you mean 'hard'?); "
            "tags: easy, hard",
        ]
    )


def test_a_gate_that_is_none_is_a_collection_error(rows: Suite) -> None:
    write(rows, "pass_rate over 9000")

    result = rows.run()

    result.stdout.fnmatch_lines(["*a gate is a quantity, >= or <=, and a number*9000*"])


def test_a_gate_in_the_configuration_that_is_none_is_told(rows: Suite) -> None:
    rows.write(llmeval_yaml="gates: [pass_rate]\n")
    write(rows, None)

    result = rows.run()

    result.stdout.fnmatch_lines(["*llmeval.yaml: gates: a gate is a quantity*"])


def test_a_gate_on_a_check_that_is_not_there_fails(rows: Suite) -> None:
    write(rows, "f1 >= 0.5")

    result = rows.run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["  undecided*f1 >= 0.5 (nothing to measure)", "test_it: no case has a check *"]
    )


def test_each_model_of_a_matrix_is_held_by_itself(rows: Suite) -> None:
    rows.write(
        test_it=TEST.format(gate="pass_rate >= 0.9").replace(
            '"column:reply"', '["column:reply", "column:expected"]'
        )
    )

    result = rows.run()

    result.stdout.fnmatch_lines(
        [
            "  fails *test_it?column:reply?     pass_rate 0.80 *",
            "  holds *test_it?column:expected?  pass_rate 1.00 *",
        ]
    )

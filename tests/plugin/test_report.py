"""The summary, the JSON report, the journal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_f1

@pytest.mark.llmeval("cities.jsonl", generator="column:reply")
def test_cities(case, generator):
    assert_f1(generator(case), case, threshold=0.6)

def test_other():
    pass
"""


@pytest.fixture
def cities(suite: Suite) -> Suite:
    rows = [
        {"id": "peru", "expected": "Lima", "reply": "Lima"},
        {"id": "spain", "expected": "Madrid", "reply": "Rome \x1b[31m‮ <b>"},
        {"id": "kenya", "expected": "Nairobi"},
    ]
    suite.rows("cities.jsonl", rows)
    suite.write(test_cities=TEST)
    return suite


BOTH = pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "xdist"])


@BOTH
def test_the_summary_has_rows_failures_and_the_next_command(
    cities: Suite, workers: list[str]
) -> None:
    result = cities.run_with_cache(*workers)

    result.stdout.re_match_lines(
        [
            r"=+ llmeval =+",
            r" +cases +passed +failed +unscored +rate +95 % CI",
            r"test_cities +3 +1 +1 +1 +50 % .*",
            r" +f1 0\.50 \(n 2\)",
            r"column 2.*",
            r"1 failed",
            r" +F test_cities\[spain\]  cities\.jsonl:2",
            r" +f1 = 0\.00, below the bar of 0\.6",
            r"1 unscored.*",
            r" +U test_cities\[kenya\]  cities\.jsonl:3",
            r" +case 'kenya' has no column 'reply'.*",
            r"next: pytest --lf -m llmeval",
        ]
    )


def test_nothing_is_next_when_all_passed(cities: Suite) -> None:
    result = cities.run("-k", "peru")

    result.stdout.no_fnmatch_line("next:*")
    result.stdout.re_match_lines([r"test_cities +1 +1 +0 +0 +100 % .*"])


@pytest.mark.parametrize(("show", "listed"), [("none", 0), ("failures", 2), ("all", 3)])
def test_show_decides_which_cases_are_listed(
    cities: Suite, show: str, listed: int
) -> None:
    result = cities.run(f"--llmeval-show={show}")

    lines = [line for line in result.outlines if line.startswith("  ")]
    cases = [line for line in lines if line.split()[1:2] and "test_cities[" in line]
    assert len(cases) == listed


def test_model_text_reaches_the_terminal_inert(cities: Suite) -> None:
    text = cities.run("--color=no").stdout.str()

    assert "\x1b[31m" not in text
    assert "\u202e" not in text
    assert r"\x1b[31m" in text


@BOTH
def test_the_json_report_has_totals_tests_and_cases(
    cities: Suite, workers: list[str]
) -> None:
    _, report = cities.report(*workers)

    assert report["format"] == 1
    totals = report["totals"]
    assert (totals["cases"], totals["passed"], totals["failed"]) == (3, 1, 1)
    assert totals["unscored"] == 1
    test = report["tests"][0]
    assert test["name"] == "test_cities"
    assert test["nodeid"] == "test_cities.py::test_cities"
    assert test["metrics"]["f1"]["n"] == 2
    cases = {case["case_id"]: case for case in report["cases"]}
    assert cases["spain"]["source"] == "cities.jsonl:2"
    score = cases["spain"]["samples"][0]["scores"][0]
    assert (score["metric"], score["value"], score["threshold"]) == ("f1", 0.0, 0.6)
    assert score["passed"] is False
    assert cases["kenya"]["cause"] == "data"
    assert cases["peru"]["samples"][0]["origin"] == "column"


def test_a_report_can_go_into_a_folder_that_is_not_there(cities: Suite) -> None:
    result = cities.run("--llmeval-report=out/new/report.json")

    data = json.loads((cities.path / "out/new/report.json").read_text("utf-8"))
    assert data["totals"]["cases"] == 3
    result.stdout.fnmatch_lines(["report written to out/new/report.json"])


def test_a_report_that_can_not_be_written_fails_the_run(cities: Suite) -> None:
    (cities.path / "report.json").mkdir()

    result = cities.run("--llmeval-report=report.json", "-k", "peru")

    assert result.ret == 1
    result.stdout.fnmatch_lines(["could not write the report *report.json'*"])


@BOTH
def test_the_journal_has_a_line_a_case(cities: Suite, workers: list[str]) -> None:
    cities.run(*workers)

    header, *cases, footer = cities.journal()
    assert header["format"] == 1
    assert {case["status"] for case in cases} == {"passed", "failed", "unscored"}
    assert footer["exit_status"] == 1
    assert (cities.path / ".llmeval" / ".gitignore").read_text("utf-8").endswith("*\n")


def test_a_folder_that_can_not_be_written_costs_one_line(cities: Suite) -> None:
    (cities.path / ".llmeval").write_text("in the way", encoding="utf-8")

    result = cities.run()

    result.stdout.fnmatch_lines(["*.llmeval*"])
    assert result.parseoutcomes() == {"failed": 1, "passed": 2, "unscored": 1}


def test_without_a_terminal_the_run_is_the_same(cities: Suite) -> None:
    result = cities.run("-p", "no:terminal", "--llmeval-report=report.json")

    assert result.ret == 1
    assert (cities.path / "report.json").exists()


def test_a_suite_in_a_folder_is_named_from_where_pytest_began(
    cities: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cities.path / "evals"
    folder.mkdir()
    for name in ("cities.jsonl", "test_cities.py"):
        (cities.path / name).rename(folder / name)
    monkeypatch.chdir(folder)

    result = cities.run("-k", "spain")

    result.stdout.fnmatch_lines(["*rerun     pytest 'test_cities.py::test_cities?sp*"])
    result.stdout.fnmatch_lines(["*row       evals/cities.jsonl:2"])


@pytest.mark.parametrize("option", ["--collect-only", "--deselect=test_cities.py"])
def test_a_run_in_which_nothing_ran_leaves_nothing(cities: Suite, option: str) -> None:
    cities.run(option)

    assert not (cities.path / ".llmeval").exists()


def test_what_is_pasted_back_repeats_where_the_run_was_aimed(
    cities: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cities.path / "evals"
    folder.mkdir()
    for name in ("cities.jsonl", "test_cities.py", "tox.ini"):
        (cities.path / name).rename(folder / name)

    result = cities.run_with_cache("evals", "--llmeval-limit=3")

    result.stdout.fnmatch_lines(
        [
            "next: pytest evals --lf -m llmeval",
            "UNSCORED evals/test_cities.py::test_cities?kenya? - *",
        ]
    )


def test_without_a_summary_there_is_no_report(cities: Suite) -> None:
    result = cities.run("--no-summary")

    result.stdout.no_fnmatch_line("=* llmeval =*")
    result.stdout.no_fnmatch_line("*UNSCORED*")
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_the_short_summary_says_what_did_not_hold(cities: Suite) -> None:
    result = cities.run()

    result.stdout.fnmatch_lines(
        ["FAILED test_cities.py::test_cities[[]spain] - f1 = 0.00, *"]
    )


def test_a_long_list_names_the_option_that_shows_it_whole(suite: Suite) -> None:
    rows = [{"id": str(n), "expected": "a", "reply": "b"} for n in range(11)]
    suite.rows("rows.jsonl", rows)
    suite.write(
        test_many="""
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", generator="column:reply")
def test_many(case, generator):
    assert_exact(generator(case), case)
"""
    )

    result = suite.run()

    result.stdout.fnmatch_lines(["  and 1 more (--llmeval-show=all lists them)"])


def test_twice_verbose_shows_all_of_what_a_failures_text_has_parts_of(
    suite: Suite,
) -> None:
    words = " ".join(f"word{number}" for number in range(400))
    row = {"id": "a", "input": f"Q {words} Q", "expected": words, "r": f"No. {words} R"}
    suite.rows("rows.jsonl", [row])
    suite.write(
        test_long="""
import pytest
from pytest_llmeval import assert_exact, assert_judge

def says(prompt):
    return "FAIL: " + "because " * 200

@pytest.mark.llmeval("rows.jsonl", generator="column:r", judge=says)
def test_it(case, generator, judge):
    reply = generator(case)
    with pytest.raises(AssertionError):
        assert_judge(reply, case, judge, rubric="Is it right?")
    assert_exact(reply, case)
"""
    )
    whole = [f"Q {words} Q", f"No. {words} R", "because " * 199, "Is it right?"]

    short = suite.run().stdout.str()
    long = suite.run("-vv").stdout.str()

    assert not any(text in short for text in whole[:3])
    assert all(text in long for text in whole)
    assert "llmeval: request" not in short
    assert "{+No.+}" in long.partition("expected to reply, as they are:")[2]

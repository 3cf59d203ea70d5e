"""Runs of parts of a suite, united: judged, shown and kept as one run of the whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.cli import main
from pytest_llmeval.store.runs import read_run, run_files

if TYPE_CHECKING:
    from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", generator="column:reply", gate=["exact >= 0.5"])
def test_it(case, generator):
    assert_exact(generator(case), case)
"""
FIRST, SECOND = ("-k", "c0 or c1 or c2"), ("-k", "c3 or c4 or c5")


def rows_of(suite: Suite, *wrong: str) -> None:
    suite.rows(
        "rows.jsonl",
        [
            {"id": f"c{n}", "reply": "b" if f"c{n}" in wrong else "a", "expected": "a"}
            for n in range(6)
        ],
    )


@pytest.fixture
def sharded(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """A suite with a baseline, and one case that has failed since."""
    monkeypatch.chdir(suite.path)
    rows_of(suite)
    suite.write(test_it=TEST, llmeval_yaml='gates: ["pass_rate >= 0.8"]\n')
    suite.run("--llmeval-save=main")
    rows_of(suite, "c4")
    return suite


def ran(suite: Suite, *args: str) -> tuple[pytest.RunResult, str]:
    """Run a part; return the result and its journal."""
    result = suite.run(*args)
    return result, str(run_files(suite.path / ".llmeval" / "runs")[0])


def report_of(run: str | Path, suite: Suite) -> Any:
    assert main(["report", str(run), "-o", "merged.json"]) == 0
    return json.loads((suite.path / "merged.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("bar", "fail_on", "status"), [(0.8, "none", 0), (0.8, "any", 1), (0.9, "none", 1)]
)
def test_two_halves_are_judged_as_the_whole(
    sharded: Suite,
    bar: float,
    fail_on: str,
    status: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sharded.write(llmeval_yaml=f'gates: ["pass_rate >= {bar}"]\n')
    options = ("--llmeval-compare=main", f"--llmeval-fail-on={fail_on}")
    whole, report = sharded.report(*options)
    result, first = ran(sharded, *FIRST, *options)
    _, second = ran(sharded, *SECOND, *options)
    assert "not evaluated" in result.stdout.str()
    capsys.readouterr()

    assert main(["merge", first, second, "-o", "whole.jsonl"]) == status == whole.ret
    shown = capsys.readouterr().out
    again = report_of("whole.jsonl", sharded)

    for part in ("totals", "gates", "comparison", "tests"):
        assert again[part] == report[part]
    assert len(again["cases"]) == 6
    for line in whole.outlines:
        if line.startswith(("compared with", "  holds", "  fails")):
            assert line in shown
    assert f"merged 2 runs: 3 of {Path(first).name}, 3 of" in shown
    footer = read_run(Path("whole.jsonl")).footer
    assert footer is not None
    assert footer["exit_status"] == status


def test_what_another_part_failed_at_fails_the_whole(sharded: Suite) -> None:
    sharded.write(test_it=TEST.replace(', gate=["exact >= 0.5"]', ""), llmeval_yaml="")
    _, first = ran(sharded, *FIRST)
    _, second = ran(sharded, *SECOND)

    assert main(["merge", first, "-o", "a.jsonl"]) == 0
    assert main(["merge", first, second, "-o", "b.jsonl"]) == 1


def test_parts_of_other_files_and_plain_tests_are_united(sharded: Suite) -> None:
    sharded.write(
        test_other=TEST.replace("test_it", "test_other"),
        test_plain="def test_it():\n    assert False\n",
    )
    _, first = ran(sharded, "test_it.py")
    _, second = ran(sharded, "test_other.py", "test_plain.py", "-k", "not c4")
    assert main(["merge", first, second, "-o", "whole.jsonl"]) == 1
    report = report_of("whole.jsonl", sharded)

    assert report["totals"]["cases"] == 11
    assert {gate["scope"]: gate["reason"] for gate in report["gates"]} == {
        "test_it": "",
        "test_other": "5 of 6 cases ran",
        "the run": "11 of 12 cases ran",
    }
    footer = read_run(Path("whole.jsonl")).footer
    assert footer is not None
    assert footer["ended"]["failed"] == 1  # the plain test, which is no case


def test_the_tolerated_number_of_unscored_cases_is_that_of_the_whole(
    sharded: Suite,
) -> None:
    rows = [{"id": f"c{n}", "reply": "a", "expected": "a"} for n in range(6)]
    del rows[0]["reply"], rows[5]["reply"]
    sharded.rows("rows.jsonl", rows)
    sharded.write(llmeval_yaml="", test_it=TEST.replace(', gate=["exact >= 0.5"]', ""))
    for allowed, status in ((1, 1), (2, 0)):
        option = f"--llmeval-max-unscored={allowed}"
        result, first = ran(sharded, *FIRST, option)
        assert result.ret == 0
        _, second = ran(sharded, *SECOND, option)

        assert main(["merge", first, second, "-o", f"{allowed}.jsonl"]) == status


def test_a_case_in_two_parts_counts_once_if_both_say_the_same(sharded: Suite) -> None:
    sharded.write(llmeval_yaml="", test_it=TEST.replace(', gate=["exact >= 0.5"]', ""))
    _, first = ran(sharded, "-k", "c3 or c4", "--llmeval-max-unscored=1")
    _, second = ran(sharded, *SECOND, "--llmeval-max-unscored=1")
    assert main(["merge", first, second, "-o", "whole.jsonl"]) == 1

    assert report_of("whole.jsonl", sharded)["totals"]["cases"] == 3


def test_what_a_part_left_out_is_taken_from_another(sharded: Suite) -> None:
    sharded.write(
        llmeval_yaml="",
        spender_py="def answer(prompt):\n    return 'a', 1.0\n",
        test_it=TEST.replace("column:reply", "python:spender:answer").replace(
            "gate", "prompt='{{ id }}', gate"
        ),
    )
    _, first = ran(sharded, "--llmeval-budget=3", "--llmeval-concurrency=1")
    _, second = ran(sharded, "--llmeval-budget=3", "--llmeval-concurrency=1", *SECOND)
    assert main(["merge", first, second, "-o", "whole.jsonl"]) == 0

    totals = report_of("whole.jsonl", sharded)["totals"]
    assert (totals["cases"], totals["not_run"]) == (6, 0)


def test_an_interrupted_part_decides_nothing(
    sharded: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    _, first = ran(sharded, *FIRST)
    _, second = ran(sharded, *SECOND)
    lines = Path(second).read_text("utf-8").splitlines(keepends=True)
    Path(second).write_text("".join(lines[:2]), "utf-8")
    arguments = ["merge", first, second, "-o", "whole.jsonl", "--save=new"]

    assert main(arguments) == pytest.ExitCode.INTERRUPTED
    shown = capsys.readouterr().out
    assert f"{Path(second).name} was interrupted: it has the 1 cases" in shown
    assert "not evaluated" in shown
    assert "not saved as 'new': a part was interrupted" in shown
    assert read_run(Path("whole.jsonl")).footer is None
    assert report_of("whole.jsonl", sharded)["run"]["interrupted"] is True


def test_the_whole_can_be_kept_as_a_baseline_though_no_part_can(
    sharded: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    result, first = ran(sharded, *FIRST, "--llmeval-save=part")
    result.stdout.fnmatch_lines(["not saved as 'part': 3 of 6 cases did not run *"])
    _, second = ran(sharded, *SECOND)

    assert main(["merge", first, "-o", "a.jsonl", "--save=part"]) == 1
    assert "3 of 6 cases did not run (--save-force saves" in capsys.readouterr().out
    assert main(["merge", first, second, "-o", "b.jsonl", "--save=main"]) == 0
    assert main(["compare", "main", "b.jsonl"]) == 0
    result = sharded.run("--llmeval-compare=main")
    result.stdout.fnmatch_lines(["compared with main (*): holds (nothing got worse)"])


def test_a_folder_is_all_its_journals_and_a_folder_gets_one(sharded: Suite) -> None:
    artifacts = sharded.path / "artifacts"
    for name, args in (("a", FIRST), ("b", SECOND)):
        _, run = ran(sharded, *args)
        (artifacts / name).mkdir(parents=True)
        Path(run).rename(artifacts / name / "run.jsonl")

    assert main(["merge", "artifacts", "-o", "united"]) == 0
    (found,) = (sharded.path / "united").iterdir()
    assert len(read_run(found).records) == 6
    assert read_run(found).header["merged"] == [
        "artifacts/a/run.jsonl",
        "artifacts/b/run.jsonl",
    ]


# --- what can't be united ------------------------------------------------------------


def refused(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    capsys.readouterr()
    assert main(["merge", *args]) == 2
    return capsys.readouterr().err


def test_a_case_with_two_results_is_refused(
    sharded: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    _, first = ran(sharded)
    rows_of(sharded)
    _, second = ran(sharded, *SECOND)
    told = refused(capsys, first, second)

    assert f"[c4] is gated in {Path(first).name} and passed in" in told
    assert len(run_files(sharded.path / ".llmeval" / "runs")) == 3


def test_parts_of_two_states_of_the_suite_are_refused(
    sharded: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    _, first = ran(sharded, *FIRST)
    sharded.write(test_it=TEST + "\n")
    _, second = ran(sharded, *SECOND)

    assert "different states of the suite: the file of test_it.py::test_it differs" in (
        refused(capsys, first, second)
    )


@pytest.mark.parametrize(
    ("option", "part"),
    [
        ("--llmeval-max-unscored=3", "max-unscored differs (0 and 3)"),
        ("--llmeval-compare=main", "baseline differs (what they are compared with)"),
    ],
)
def test_parts_that_are_held_to_different_things_are_refused(
    sharded: Suite, option: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, first = ran(sharded, *FIRST)
    _, second = ran(sharded, *SECOND, option)

    assert part in refused(capsys, first, second)


def test_mistakes_in_the_call_are_told(
    sharded: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    _, first = ran(sharded, *FIRST)
    (sharded.path / "empty").mkdir()

    assert "there is no run 'nope'" in refused(capsys, "nope")
    assert "has no journals" in refused(capsys, "empty")
    assert "is named twice" in refused(capsys, first, first)
    assert "is one of the runs" in refused(capsys, first, "-o", first)
    assert "a journal ends in .jsonl" in refused(capsys, first, "-o", "a.html")
    assert "'a/b' is no name for a baseline" in refused(capsys, first, "--save", "a/b")


def test_a_file_that_can_not_be_written_is_told(
    sharded: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    _, first = ran(sharded)
    (sharded.path / "file").touch()

    assert main(["merge", first, "-o", "file/whole.jsonl"]) == 1
    assert "could not write 'file/whole.jsonl'" in capsys.readouterr().out

"""Baselines through pytest: saved, compared with, decided."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", generator="python:app:answer", prompt="{prompt}")
def test_it(case, generator):
    assert_exact(generator(case), case)
"""

WORKERS = pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "xdist"])
#: Where it only matters that what a worker found out arrives, one is enough.
ONE = pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "xdist"])


def rows_of(suite: Suite, count: int = 4, **changes: Any) -> None:
    """Write rows c0, c1, …; a keyword changes (or, by None, drops) the one it names."""
    rows = {
        f"c{n}": {"id": f"c{n}", "input": f"q{n}", "expected": "a"}
        for n in range(count)
    }
    for name, change in changes.items():
        if change is None:
            del rows[name]
        else:
            rows[name] = {**rows.get(name, {"input": "q", "expected": "a"}), **change}
    suite.rows("rows.jsonl", list(rows.values()))


def app_of(suite: Suite, *wrong: str) -> None:
    """Write an application that answers these questions wrongly."""
    suite.write(
        app=f"def answer(prompt):\n    return 'b' if prompt in {wrong!r} else 'a'\n"
    )


@pytest.fixture
def saved(suite: Suite) -> Suite:
    """A suite with a baseline in which c3 failed."""
    rows_of(suite)
    app_of(suite, "q3")
    suite.write(test_it=TEST.format(prompt="{{ input }}"))
    result = suite.run("--llmeval-save=main")
    result.stdout.fnmatch_lines(["saved as llmeval_baselines/main.json: 4 cases; *"])
    return suite


def compare(suite: Suite, *args: str) -> tuple[pytest.RunResult, dict[str, Any]]:
    result, report = suite.report("--llmeval-compare=main", *args)
    return result, report["comparison"]


def ids(identities: list[str]) -> list[str]:
    return [identity.rpartition("::")[2] for identity in identities]


@ONE
def test_the_same_run_holds_and_what_failed_before_is_known(
    saved: Suite, workers: list[str]
) -> None:
    result, comparison = compare(saved, *workers)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["compared with main (*): holds (nothing got worse)"])
    result.stdout.re_match_lines([r"=* 3 passed, 1 known in .*"])
    assert ids(comparison["known"]) == ["c3"]
    assert ids(comparison["same"]) == ["c0", "c1", "c2"]


@ONE
def test_a_regressed_case_fails_the_run(saved: Suite, workers: list[str]) -> None:
    app_of(saved, "q1")

    result, comparison = compare(saved, *workers)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "compared with main (*): fails (1 regressed)",
            "  1 regressed · 1 fixed · 2 same · p 1 · 75 % passed before, 75 % now",
            "  1 regressed: prompt, model, row and metric are the same",
            "    - test_it?c1?  rows.jsonl:2",
            "    + test_it?c3?  rows.jsonl:4",
        ]
    )
    assert (ids(comparison["regressed"]), ids(comparison["fixed"])) == (["c1"], ["c3"])


@WORKERS
def test_a_gone_case_is_missing(saved: Suite, workers: list[str]) -> None:
    rows_of(saved, c1=None)

    result, comparison = compare(saved, *workers)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["*: fails (1 case that passed is missing (--llmeval-allow-missing *"]
    )
    assert ids(comparison["missing"]) == ["c1"]
    assert compare(saved, "--llmeval-allow-missing")[0].ret == pytest.ExitCode.OK


def test_a_renamed_case_is_missing_and_new(saved: Suite) -> None:
    rows_of(saved, c1={"id": "other"})

    result, comparison = compare(saved)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert (ids(comparison["missing"]), ids(comparison["new"])) == (["c1"], ["other"])
    result.stdout.fnmatch_lines(
        ["  1 missing: not there any more; the new case other has the same row"]
    )


def test_a_test_that_is_gone_is_missing(saved: Suite) -> None:
    path = saved.path / "test_it.py"
    path.write_text(path.read_text("utf-8").replace("test_it", "test_other"))

    _, comparison = compare(saved)

    assert ids(comparison["missing"]) == ["c0", "c1", "c2", "c3"]


def test_a_skipped_case_that_passed_is_missing(saved: Suite) -> None:
    rows_of(saved, c1={"skip": "too hard"})

    result, comparison = compare(saved)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert ids(comparison["missing"]) == ["c1"]


@pytest.mark.parametrize(
    "args",
    [
        ["-k", "c0"],
        ["test_it.py::test_it[c0]"],
        ["--llmeval-limit=1"],
        ["--llmeval-sample=1"],
        ["--llmeval-cases=c0"],
    ],
    ids=" ".join,
)
def test_what_was_left_out_is_not_missing(saved: Suite, args: list[str]) -> None:
    result, comparison = compare(saved, *args)

    assert result.ret == pytest.ExitCode.OK
    assert (comparison["missing"], len(comparison["not_run"])) == ([], 3)


def test_a_file_that_was_not_asked_for_is_out_of_sight(saved: Suite) -> None:
    saved.write(
        test_more=TEST.format(prompt="{{ input }}").replace("test_it", "test_m")
    )

    _, comparison = compare(saved, "test_more.py")

    assert (comparison["missing"], comparison["not_run"]) == ([], [])
    assert len(comparison["new"]) == 4


@pytest.mark.parametrize(
    ("change", "kind", "part"),
    [
        ("row", "incomparable", "row (expected)"),
        ("prompt", "same", "prompt template"),
    ],
)
def test_what_changed_is_said(saved: Suite, change: str, kind: str, part: str) -> None:
    if change == "row":
        rows_of(saved, c0={"expected": "A"})
    else:
        saved.write(test_it=TEST.format(prompt="{{ input }}!"))

    _, comparison = compare(saved)

    first = next(name for name in comparison["changed"] if name.endswith("::c0"))
    assert comparison["changed"][first]["parts"] == [part]
    assert "c0" in ids(comparison[kind])


def test_a_prompt_that_changed_is_said_though_nothing_flipped(saved: Suite) -> None:
    saved.write(test_it=TEST.format(prompt="{{ input }}!"))
    app_of(saved, "q3!")

    result, _ = compare(saved)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["  changed: prompt template in 4 cases"])


JUDGED = """
import pytest
from pytest_llmeval import assert_exact, assert_judge

@pytest.mark.llmeval(
    "rows.jsonl", generator="python:app:answer", judge="fake:judge.jsonl",
    prompt="{{{{ input }}}}", gate=["pass_rate >= {bar}"],
)
def test_it(case, generator, judge):
    reply = generator(case)
    assert_exact(reply, case)
    assert_judge(reply, case, judge, rubric="{rubric}")
"""
GONE = "fails (1 case that passed is missing (*))"


@pytest.mark.parametrize(
    ("rows", "rubric", "wrong", "said"),
    [
        # Beside a case that has regressed: the run stays red whatever else is edited.
        ({}, "Kind.", "q1", "fails (1 regressed)"),
        ({"c0": None}, "Kind.", "q1", GONE),
        ({"c0": {"id": "z"}}, "Kind.", "q1", GONE),
        ({"c9": {"id": "c9"}}, "Kind.", "q1", "fails (1 regressed)"),
        ({"c0": {"context": "x"}}, "Kind.", "q1", "fails (1 regressed)"),
        ({"c0": {"input": "q1"}}, "Kind.", "q1", "fails (1 regressed)"),
        # It is no way out to edit what it is judged by: it failed before that.
        ({}, "Short.", "q1", "fails (1 regressed)"),
        # Nor to take it out, to rename it, to skip it or to expect its failure.
        ({"c1": None}, "Kind.", "q1", GONE),
        ({"c1": {"id": "z"}}, "Kind.", "q1", GONE),
        ({"c1": {"skip": "later"}}, "Kind.", "q1", GONE),
        ({"c1": {"xfail": "later"}}, "Kind.", "q1", GONE),
    ],
)
def test_no_edit_turns_a_red_comparison_green(
    suite: Suite, rows: dict[str, Any], rubric: str, wrong: str, said: str
) -> None:
    suite.rows("judge.jsonl", [{"reply": "VERDICT: PASS"}])
    rows_of(suite)
    app_of(suite, "q3")
    suite.write(test_it=JUDGED.format(bar=0.1, rubric="Kind."))
    suite.run("--llmeval-save=main")
    suite.write(test_it=JUDGED.format(bar=0.1, rubric=rubric))
    rows_of(suite, **rows)
    app_of(suite, "q3", wrong)

    result, _ = compare(suite)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"compared with main (*): {said}"])


@pytest.mark.parametrize(
    "rows",
    [
        {"c0": None},
        {"c0": {"id": "z"}},
        {"c9": {"id": "c9", "input": "q3"}},
        {"c0": {"context": "x"}},
        {"c0": {"expected": "z"}},
    ],
    ids=["removed", "renamed", "added", "edited", "broken"],
)
def test_no_edit_turns_a_gate_green(suite: Suite, rows: dict[str, Any]) -> None:
    suite.rows("judge.jsonl", [{"reply": "VERDICT: PASS"}])
    suite.write(test_it=JUDGED.format(bar=0.8, rubric="Kind."))
    rows_of(suite)
    app_of(suite, "q3")
    assert suite.run("--llmeval-save=main").ret == pytest.ExitCode.TESTS_FAILED
    rows_of(suite, **rows)

    result, report = suite.report("--llmeval-compare=main", "--llmeval-allow-missing")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert [gate["state"] for gate in report["gates"]] == ["fails"]


def test_another_judge_leaves_nothing_to_compare(suite: Suite) -> None:
    suite.rows("judge.jsonl", [{"reply": "VERDICT: PASS"}])
    suite.write(test_it=JUDGED.format(bar=0.1, rubric="Kind."))
    rows_of(suite)
    app_of(suite, "q3")
    suite.run("--llmeval-save=main")
    suite.write(test_it=JUDGED.format(bar=0.1, rubric="Short."))

    result, comparison = compare(suite)

    assert ids(comparison["incomparable"]) == ["c0", "c1", "c2"]
    result.stdout.fnmatch_lines(
        [
            "*: holds (nothing got worse in the 1 of 4 cases that can be compared)",
            "  changed: judge in 3 cases",
            "  3 incomparable: judge changed",
        ]
    )


def test_noise_is_no_regression_under_significant(saved: Suite) -> None:
    app_of(saved, "q1")

    result, _ = compare(saved, "--llmeval-fail-on=significant")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["compared with main (*): holds (1 lost, 1 gained)"])
    result.stdout.re_match_lines([r"=* 1 failed, 3 passed in .*"])


def test_a_loss_too_small_to_show_says_what_would_show(saved: Suite) -> None:
    app_of(saved, "q1", "q3")

    result, _ = compare(saved, "--llmeval-fail-on=significant")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        ["compared with main (*): inconclusive (1 lost, 0 gained; 6 would show)"]
    )


def test_a_significant_loss_fails(suite: Suite) -> None:
    rows_of(suite, 8)
    app_of(suite)
    suite.write(test_it=TEST.format(prompt="{{ input }}"))
    suite.run("--llmeval-save=main")
    app_of(suite, *(f"q{n}" for n in range(6)))

    result, _ = compare(suite, "--llmeval-fail-on=significant")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*: fails (6 lost, 0 gained, p 0.031)"])


def test_a_lost_case_that_must_pass_fails_under_significant(suite: Suite) -> None:
    rows_of(suite, c1={"must_pass": True})
    app_of(suite)
    suite.write(test_it=TEST.format(prompt="{{ input }}"))
    suite.run("--llmeval-save=main")
    app_of(suite, "q1")

    result, _ = compare(suite, "--llmeval-fail-on=significant")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*: fails (must pass, and lost: c1)"])


def test_without_a_baseline_one_line_says_how_to_make_it(suite: Suite) -> None:
    rows_of(suite)
    app_of(suite)
    suite.write(test_it=TEST.format(prompt="{{ input }}"))

    result = suite.run("--llmeval-compare=main")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        ["no baseline 'main' yet: --llmeval-save=main makes it"]
    )


def test_a_misspelt_baseline_says_which_there_are(suite: Suite) -> None:
    rows_of(suite)
    app_of(suite)
    suite.write(test_it=TEST.format(prompt="{{ input }}"))
    suite.run("--llmeval-save=main")

    result = suite.run("--llmeval-compare=mian")

    result.stdout.fnmatch_lines(
        [
            "no baseline 'mian' yet (did you mean 'main'?); there are: main; "
            "--llmeval-save=mian makes it"
        ]
    )


def test_a_baseline_can_be_required(suite: Suite) -> None:
    rows_of(suite)
    suite.write(test_it=TEST.format(prompt="{{ input }}"))

    result = suite.run("--llmeval-compare=main", "--llmeval-require-baseline")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no baseline 'main' yet*"])


def test_a_damaged_baseline_is_told_before_anything_runs(saved: Suite) -> None:
    (saved.path / "llmeval_baselines" / "main.json").write_text("{", "utf-8")

    result = saved.run("--llmeval-compare=main")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*llmeval_baselines/main.json is no baseline *"])


def test_the_last_run_can_be_compared_with(saved: Suite) -> None:
    app_of(saved, "q1", "q3")

    result = saved.run("--llmeval-compare=last")

    result.stdout.fnmatch_lines(["compared with last (*): fails (1 regressed)"])


def test_comparing_comes_before_saving(saved: Suite) -> None:
    app_of(saved, "q1", "q3")

    result, comparison = compare(saved, "--llmeval-save=main")

    assert ids(comparison["regressed"]) == ["c1"]
    result.stdout.fnmatch_lines(["saved as llmeval_baselines/main.json: 4 cases; *"])
    # What was known is kept as what it is: failed.
    data = json.loads((saved.path / "llmeval_baselines" / "main.json").read_text())
    assert [case["status"] for case in data["cases"]] == [
        *("passed", "failed", "passed", "failed")
    ]


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["-k", "c0"], "3 of 4 cases did not run"),
        (["--llmeval-limit=2"], "1 of 1 tests ran a part of their data"),
        (["--llmeval-generator=column:input", "--collect-only"], None),
    ],
)
def test_a_partial_run_is_not_saved(
    saved: Suite, args: list[str], why: str | None
) -> None:
    result = saved.run("--llmeval-save=other", *args)

    assert not (saved.path / "llmeval_baselines" / "other.json").exists()
    if why is not None:
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines([f"not saved as 'other': {why} (*-save-force *"])


def test_a_run_with_unscored_cases_is_not_saved_unless_forced(saved: Suite) -> None:
    saved.write(app="def answer(prompt):\n    raise OSError('down')\n")

    refused = saved.run("--llmeval-save=other")
    forced = saved.run("--llmeval-save=other", "--llmeval-save-force")

    refused.stdout.fnmatch_lines(["not saved as 'other': 4 unscored (*"])
    forced.stdout.fnmatch_lines(["saved as llmeval_baselines/other.json: 4 cases; *"])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--llmeval-save=../x", "*'../x' is no name for a baseline: it has letters*"),
        (
            "--llmeval-fail-on=some",
            "*--llmeval-fail-on is any, significant, none, not*",
        ),
        ("--llmeval-compare=git:main", "*'git:main' is to be git:REF:NAME*"),
    ],
)
def test_a_wrong_value_is_told_at_the_start(
    saved: Suite, option: str, message: str
) -> None:
    result = saved.run(option)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_switches_have_ini_twins(saved: Suite) -> None:
    saved.pytester.makeini(
        "[pytest]\nllmeval_compare = main\nllmeval_allow_missing = true\n"
    )
    rows_of(saved, c1=None)

    assert saved.run().ret == pytest.ExitCode.OK


def test_rows_without_ids_pair_by_content(saved: Suite) -> None:
    rows = [{"input": f"q{n}", "expected": "a"} for n in range(3)]
    saved.rows("rows.jsonl", rows)
    saved.run("--llmeval-save=main")
    saved.rows("rows.jsonl", [{"input": "q9", "expected": "a"}, *rows])

    _, comparison = compare(saved)

    assert (len(comparison["new"]), len(comparison["same"])) == (1, 3)


def test_v_shows_how_the_metrics_moved(saved: Suite) -> None:
    app_of(saved, "q1", "q3")

    result, _ = compare(saved, "-v")

    result.stdout.fnmatch_lines(["  test_it exact 0.75 → 0.50 (-0.250, 95 % *, n 4)"])


def test_what_got_worse_below_a_bar_that_holds_is_told_how_to_rerun(
    saved: Suite,
) -> None:
    gated = TEST.replace('prompt="{prompt}"', 'gate="pass_rate >= 0.1"')
    saved.write(test_it=gated)
    app_of(saved, "q1", "q3")

    result = saved.run_with_cache("--llmeval-compare=main")

    result.stdout.fnmatch_lines(["compared with main *: fails (1 regressed)"])
    result.stdout.fnmatch_lines(["next: pytest 'test_it.py::test_it[[]c1[]]'"])


def test_a_very_quiet_run_says_what_was_decided(saved: Suite) -> None:
    app_of(saved, "q1", "q3")

    result = saved.run("--llmeval-compare=main", "-qq")

    result.stdout.fnmatch_lines(["compared with main *: fails (1 regressed)"])
    result.stdout.no_fnmatch_line("*95 % CI*")

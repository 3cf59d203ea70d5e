"""Going on with an interrupted run: what was scored there is not asked again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.store.journal import KEPT
from pytest_llmeval.store.runs import run_files

if TYPE_CHECKING:
    from tests.conftest import Suite

APP = """
import pathlib

def answer(prompt):
    with (pathlib.Path(__file__).parent / "asked.txt").open("a") as file:
        file.write(prompt + "\\n")
    if prompt == "q2" and (pathlib.Path(__file__).parent / "down").exists():
        raise RuntimeError("down")
    if prompt == "stop" and (pathlib.Path(__file__).parent / "halt").exists():
        raise KeyboardInterrupt
    return "b" if prompt == "q1" else "a"

other = answer
"""
TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", prompt="p.j2", gate=["exact >= 0.5"])
def test_it(case, generator):
    assert_exact(generator(case), case)
"""
CONFIG = """
generator: app
models:
  app: {provider: python, model: "resumable:answer"}
"""
ROWS: list[dict[str, Any]] = [
    {"id": f"c{n}", "input": f"q{n}", "expected": "a"} for n in range(5)
]
WORKERS = pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "xdist"])
#: Where it only matters that what a worker found out arrives, one is enough.
ONE = pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "xdist"])


@pytest.fixture
def asking(suite: Suite) -> Suite:
    """A suite whose application writes down what it is asked."""
    suite.rows("rows.jsonl", ROWS)
    suite.write(test_it=TEST, llmeval_yaml=CONFIG, p_j2="{{ input }}", resumable_py=APP)
    return suite


def newest(suite: Suite) -> Path:
    return run_files(suite.path / ".llmeval" / "runs")[0]


def interrupt(suite: Suite, ended: int) -> None:
    """Leave of the newest run what it had when so many cases had ended."""
    lines = newest(suite).read_text("utf-8").splitlines(keepends=True)
    newest(suite).write_text("".join(lines[: ended + 1]) + lines[-1][:20], "utf-8")
    (suite.path / "asked.txt").unlink(missing_ok=True)


def asked(suite: Suite) -> list[str]:
    path = suite.path / "asked.txt"
    return sorted(path.read_text("utf-8").split()) if path.exists() else []


def told(result: pytest.RunResult) -> str:
    """Return what the summary says was taken over, without the run's name."""
    line = next(line for line in result.outlines if line.startswith("resumed "))
    return line.partition(".jsonl: ")[2]


@WORKERS
def test_what_was_scored_is_taken_over_and_the_whole_is_judged(
    asking: Suite, workers: list[str]
) -> None:
    asking.run("--llmeval-save=main")
    _, whole = asking.report("--llmeval-compare=main")
    interrupt(asking, 3)
    result, report = asking.report(
        "--llmeval-resume", "--llmeval-compare=main", *workers
    )

    assert asked(asking) == ["q3", "q4"]
    assert told(result) == "3 taken over, 2 run (2 not ended)"
    assert report["totals"] == whole["totals"]
    assert report["gates"] == whole["gates"]
    assert report["comparison"]["state"] == "holds"
    assert result.ret == pytest.ExitCode.OK
    by_id = {case["case_id"]: case for case in report["cases"]}
    for case in whole["cases"][:3]:
        assert by_id[case["case_id"]]["samples"] == case["samples"]
        assert by_id[case["case_id"]]["seconds"] == case["seconds"]


def test_a_case_that_failed_fails_again_with_its_diff(asking: Suite) -> None:
    asking.write(test_it=TEST.replace(', gate=["exact >= 0.5"]', ""))
    asking.run()
    interrupt(asking, 2)
    result = asking.run("--llmeval-resume", "-x", "--llmeval-concurrency=1")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert asked(asking) == []
    result.stdout.fnmatch_lines(
        [
            "exact failed: the reply is not 'a'",
            "  expected  a",
            "  reply     b",
            "  row       rows.jsonl:2",
            "  (taken over from an earlier run: --llmeval-resume)",
            "FAILED test_it.py::test_it[[]c1] - exact failed: the reply is not 'a'",
        ]
    )
    result.assert_outcomes(passed=1, failed=1)


def test_what_could_not_be_scored_is_asked_again(asking: Suite) -> None:
    (asking.path / "down").touch()
    asking.run()
    (asking.path / "down").unlink()
    (asking.path / "asked.txt").unlink()
    result = asking.run("--llmeval-resume=last")

    assert asked(asking) == ["q2"]
    assert told(result) == "4 taken over, 1 run (1 unscored)"
    result.stdout.re_match_lines([r"=* 4 passed, 1 gated in .*"])


@pytest.mark.parametrize(
    ("files", "rows", "reason"),
    [
        ({}, [{**ROWS[0], "expected": ["a", "b"]}, *ROWS[1:]], "1 row changed"),
        ({"p_j2": "{{ input }}!"}, ROWS, "3 prompt changed"),
        ({"test_it": TEST + "\n"}, ROWS, "3 test file changed"),
        ({"conftest": "BAR = 0.5\n"}, ROWS, "3 test file changed"),
        ({"resumable_py": APP + "\n"}, ROWS, "3 generator changed"),
        (
            {"llmeval_yaml": CONFIG.replace("answer", "other")},
            ROWS,
            "3 generator changed",
        ),
    ],
    ids=["row", "prompt", "test", "conftest", "application", "configuration"],
)
def test_what_has_changed_since_is_run_again(
    asking: Suite, files: dict[str, str], rows: list[dict[str, Any]], reason: str
) -> None:
    asking.run()
    interrupt(asking, 3)
    asking.write(**files)
    asking.rows("rows.jsonl", rows)
    result = asking.run("--llmeval-resume")

    changed = int(reason.split()[0])
    assert len(asked(asking)) == 2 + changed
    assert told(result).startswith(f"{3 - changed} taken over, {2 + changed} run (")
    assert reason in told(result)


def test_repeats_are_taken_over_whole_and_run_again_when_there_are_more(
    asking: Suite,
) -> None:
    asking.run("--llmeval-repeat=2")
    interrupt(asking, 3)
    asking.run("--llmeval-repeat=2", "--llmeval-resume")

    # One that fails is decided by its first sample.
    assert asked(asking) == ["q3", "q3", "q4", "q4"]

    interrupt(asking, 4)
    result = asking.run("--llmeval-repeat=3", "--llmeval-resume")

    assert "repeats changed" in told(result)


def test_each_model_of_a_matrix_is_gone_on_with(asking: Suite) -> None:
    models = ("--llmeval-generator=app", "--llmeval-generator=python:resumable:answer")
    asking.run(*models)
    interrupt(asking, 7)
    result = asking.run(*models, "--llmeval-resume")

    assert len(asked(asking)) == 3
    assert told(result) == "7 taken over, 3 run (3 not ended)"


@ONE
def test_a_yaml_task_is_gone_on_with(asking: Suite, workers: list[str]) -> None:
    (asking.path / "test_it.py").unlink()
    task = """
    task: capital
    dataset: rows.jsonl
    prompt: "{{ input }}"
    assert: [exact]
    """
    (asking.path / "a.llmeval.yaml").write_text(
        "\n".join(line[4:] for line in task.splitlines()), "utf-8"
    )
    asking.run()
    interrupt(asking, 2)
    result = asking.run("--llmeval-resume", *workers)

    assert asked(asking) == ["q2", "q3", "q4"]
    assert told(result) == "2 taken over, 3 run (3 not ended)"
    result.assert_outcomes(passed=4, failed=1)


def test_a_run_that_went_on_and_was_interrupted_loses_nothing(asking: Suite) -> None:
    asking.run()
    interrupt(asking, 4)
    asking.run("--llmeval-resume", "--llmeval-concurrency=1")
    interrupt(asking, 1)
    result = asking.run("--llmeval-resume")

    assert asked(asking) == ["q4"]
    assert told(result) == "4 taken over, 1 run (1 not ended)"
    assert asking.journal()[0]["resumed"].endswith(".jsonl")


def test_what_a_stopped_run_did_not_come_to_is_taken_from_the_one_before(
    asking: Suite,
) -> None:
    asking.run()
    interrupt(asking, 4)
    asking.rows("rows.jsonl", [{**ROWS[0], "input": "stop"}, *ROWS[1:]])
    (asking.path / "halt").touch()
    stopped = asking.run_alone("--llmeval-resume", "--llmeval-concurrency=1")
    assert stopped.ret == pytest.ExitCode.INTERRUPTED
    (asking.path / "halt").unlink()
    (asking.path / "asked.txt").unlink()
    result = asking.run("--llmeval-resume")

    assert asked(asking) == ["q4", "stop"]
    assert told(result) == "3 taken over, 2 run (1 unscored, 1 not run)"


def test_tags_and_expected_failures_are_those_of_today(asking: Suite) -> None:
    asking.run()
    interrupt(asking, 5)
    asking.rows(
        "rows.jsonl",
        [{**row, "xfail": "not yet", "tags": ["geo"]} for row in ROWS[:2]] + ROWS[2:],
    )
    result, report = asking.report("--llmeval-resume", "-m", "llmeval")

    assert asked(asking) == []
    result.assert_outcomes(passed=3, xfailed=1, xpassed=1)
    assert report["cases"][0]["tags"] == ["geo"]


def test_the_run_that_is_gone_on_with_is_not_deleted(asking: Suite) -> None:
    asking.run()
    interrupt(asking, 3)
    runs = newest(asking).parent
    old = newest(asking).rename(runs / "2020-01-01T000000.000Z-00000000.jsonl")
    for number in range(KEPT):
        (runs / f"2021-01-01T000000.000Z-{number:08x}.jsonl").touch()
    result = asking.run(f"--llmeval-resume={old.stem}")

    assert told(result) == "3 taken over, 2 run (2 not ended)"
    assert old.exists()
    assert len(run_files(runs)) == KEPT + 1


# --- what can't be gone on with ------------------------------------------------------


def refused(suite: Suite, *args: str) -> str:
    result = suite.run(*args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert asked(suite) == []
    return result.stderr.str()


def test_no_run_and_a_run_that_is_not_there_are_told(asking: Suite) -> None:
    assert "there is no run in" in refused(asking, "--llmeval-resume")
    assert "there is no run 'nope'; the newest runs here: none" in refused(
        asking, "--llmeval-resume=nope"
    )


def test_a_complete_run_is_told(asking: Suite) -> None:
    asking.run()
    (asking.path / "asked.txt").unlink()

    assert "is complete: all of its 5 cases ended" in refused(
        asking, "--llmeval-resume"
    )


def test_the_run_of_another_suite_is_told(asking: Suite) -> None:
    asking.run()
    interrupt(asking, 2)
    (asking.path / "test_it.py").rename(asking.path / "test_that.py")

    assert "it has none of those collected here, but test_it.py::test_it" in refused(
        asking, "--llmeval-resume"
    )


def test_a_damaged_line_is_told(asking: Suite) -> None:
    asking.run()
    interrupt(asking, 3)
    text = newest(asking).read_text("utf-8").replace('"samples"', '"sample"', 1)
    newest(asking).write_text(text, "utf-8")

    assert f"{newest(asking)}:2: not a whole case" in refused(
        asking, "--llmeval-resume"
    )


def test_a_path_taken_for_the_run_is_told(asking: Suite) -> None:
    assert "write --llmeval-resume=last test_it.py" in refused(
        asking, "--llmeval-resume", "test_it.py"
    )


@pytest.mark.parametrize(
    "option",
    ["--llmeval-mutate", "--llmeval-mode=record", "--llmeval-log-samples=logs"],
)
def test_what_needs_each_case_to_be_asked_is_refused(
    asking: Suite, option: str
) -> None:
    assert "don't go together: it needs every case to be run" in refused(
        asking, "--llmeval-resume", option
    )


def test_a_run_whose_budget_was_spent_goes_on(asking: Suite) -> None:
    asking.write(
        resumable_py=APP.replace('return "b" if', 'return "b", 1.0 if').replace(
            'return "b", 1.0 if prompt == "q1" else "a"',
            'return ("b" if prompt == "q1" else "a"), 1.0',
        )
    )
    asking.run("--llmeval-budget=2", "--llmeval-concurrency=1")
    (asking.path / "asked.txt").unlink()
    result = asking.run(
        "--llmeval-resume", "--llmeval-budget=2", "-n0", "--llmeval-concurrency=1"
    )

    assert asked(asking) == ["q2", "q3"]
    assert told(result) == "2 taken over, 3 run (3 not run)"
    result.stdout.fnmatch_lines(
        ["budget: $2.00 of $2.00 spent, and 1 case was not run*"]
    )

"""What --collect-only says of evaluations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_exact, assert_judge

@pytest.mark.llmeval("rows.jsonl", repeat=2, prompt="{{ input }}?")
def test_it(case, generator, judge):
    reply = generator(case)
    assert_exact(reply, case)
    assert_judge(reply, case, judge, rubric="Is kind.", votes=3)
"""
ROWS = [
    {"id": "a", "input": "q1", "expected": "yes"},
    {"id": "b", "input": "q2", "expected": "yes"},
    {"id": "c", "input": "q3", "expected": "yes", "skip": "later"},
]
FAKE = {"provider": "fake", "cache": True}


def config(**entry: object) -> str:
    models = {
        "app": {**FAKE, "model": "app.jsonl", **entry},
        "grader": {**FAKE, "model": "grader.jsonl"},
    }
    return f"generator: app\njudge: grader\nmodels: {json.dumps(models)}\n"


@pytest.fixture
def planned(suite: Suite) -> Suite:
    suite.rows("rows.jsonl", ROWS)
    suite.rows("app.jsonl", [{"reply": "yes"}])
    suite.rows("grader.jsonl", [{"reply": "VERDICT: PASS"}])
    suite.write(llmeval_yaml=config(), test_it=TEST)
    return suite


def plan(suite: Suite, *args: str) -> list[str]:
    """Return the lines of the plan, of one test."""
    result = suite.run("--collect-only", *args)
    assert result.ret == pytest.ExitCode.OK
    lines = [line.strip() for line in result.outlines]
    return lines[lines.index("test_it") + 1 : -1]


def test_what_never_ran_is_not_known(planned: Suite) -> None:
    assert plan(planned) == [
        "3 cases · 4 samples · 1 skipped",
        "calls not known",
        "2 cases not run before",
    ]
    assert not (planned.path / ".llmeval").exists()


WORKERS = pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "xdist"])


@WORKERS
def test_what_ran_is_told_with_what_is_on_file(
    planned: Suite, workers: list[str]
) -> None:
    planned.run(*workers)

    assert plan(planned, *workers) == [
        "3 cases · 4 samples · 1 skipped",
        "generator 4 calls · judge 12 calls",
        "cached 16",
        "tokens unknown for 16 calls",
    ]


def test_recordings_are_told_apart(planned: Suite) -> None:
    planned.run("--llmeval-mode=record")

    assert "recorded 16" in plan(planned)


def test_without_a_cache_verdicts_wait_for_their_replies(planned: Suite) -> None:
    planned.run()
    (planned.path / ".llmeval" / "cache.sqlite").unlink()

    assert "to ask 4 · not known 12" in plan(planned)


def test_a_row_and_a_prompt_that_changed_are_not_guessed_at(
    planned: Suite,
) -> None:
    planned.run()

    planned.rows("rows.jsonl", [{**ROWS[0], "input": "another"}, *ROWS[1:]])
    assert plan(planned)[1:] == [
        "generator 2 calls · judge 6 calls",
        "cached 8",
        "tokens unknown for 8 calls",
        "1 case with another row or prompt than before",
    ]
    planned.write(test_it=TEST.replace("}}?", "}}!"))
    assert plan(planned)[1:] == [
        "calls not known",
        "2 cases with another row or prompt than before",
    ]


def test_more_samples_than_ran_are_told(planned: Suite) -> None:
    planned.run()

    lines = plan(planned, "--llmeval-repeat=5")

    assert lines[0] == "3 cases · 10 samples · 1 skipped"
    assert lines[-1] == "6 samples not run the last time"


def test_deselected_cases_are_no_part_of_it(planned: Suite) -> None:
    planned.run()

    assert plan(planned, "--llmeval-cases=a")[:2] == [
        "1 case · 2 samples",
        "generator 2 calls · judge 6 calls",
    ]


def test_q_says_it_in_a_line_and_qq_not_at_all(planned: Suite) -> None:
    planned.run()

    quiet = planned.run("--collect-only", "-q")
    quieter = planned.run("--collect-only", "-qq")

    (line,) = [line for line in quiet.outlines if line.startswith("llmeval:")]
    assert "generator 4 calls, judge 12 calls, cached 16" in line
    assert "llmeval" not in quieter.stdout.str()


def test_a_suite_without_evaluations_has_no_plan(suite: Suite) -> None:
    suite.write(test_plain="def test_it(): pass\n")

    assert "llmeval:" not in suite.run("--collect-only", "-q").stdout.str()
    assert "= llmeval =" not in suite.run("--collect-only").stdout.str()


def test_models_of_a_matrix_have_a_block_each(planned: Suite) -> None:
    planned.run("--llmeval-generator=app", "--llmeval-generator=fake:app.jsonl")

    result = planned.run(
        "--collect-only",
        "--llmeval-generator=app",
        "--llmeval-generator=fake:app.jsonl",
    )

    result.stdout.fnmatch_lines(
        [
            "test_it[[]app[]]",
            "*generator 4 calls*",
            "test_it[[]fake:app.jsonl[]]",
            "*generator 4 calls*",
            "all",
            "*6 cases*",
            "*generator 8 calls*",
        ]
    )


def test_a_yaml_task_has_a_plan(suite: Suite) -> None:
    suite.rows("rows.jsonl", ROWS[:2])
    suite.rows("app.jsonl", [{"reply": "yes"}])
    suite.write(
        **{
            "geo.llmeval_yaml": "task: geo\ndataset: rows.jsonl\nprompt: '{{ input }}'\n"
            "assert: [exact]\n",
            "llmeval_yaml": f"generator: app\nmodels: "
            f"{json.dumps({'app': {**FAKE, 'model': 'app.jsonl'}})}\n",
        }
    )
    ran = suite.run()
    assert ran.ret == pytest.ExitCode.OK

    result = suite.run("--collect-only")

    result.stdout.fnmatch_lines(["geo", "*2 cases", "*generator 2 calls", "*cached 2"])


def test_columns_are_no_calls(suite: Suite) -> None:
    suite.rows("rows.jsonl", [{**ROWS[0], "reply": "yes"}])
    suite.write(
        test_it="import pytest\nfrom pytest_llmeval import assert_exact\n"
        "@pytest.mark.llmeval('rows.jsonl', generator='column:reply')\n"
        "def test_it(case, generator):\n    assert_exact(generator(case), case)\n"
    )
    suite.run()

    assert plan(suite) == ["1 case", "no calls"]


def test_a_plan_decides_and_writes_nothing(planned: Suite) -> None:
    planned.run("--llmeval-save=main", "--llmeval-report=report.json")
    before = (planned.path / "report.json").read_bytes()
    runs = sorted((planned.path / ".llmeval" / "runs").iterdir())

    plan(
        planned,
        *("--llmeval-report=report.json", "--llmeval-save=other"),
        *("--llmeval-compare=main", "--llmeval-require=all"),
    )

    assert (planned.path / "report.json").read_bytes() == before
    assert sorted((planned.path / ".llmeval" / "runs").iterdir()) == runs
    assert not (planned.path / "llmeval_baselines" / "other.json").exists()

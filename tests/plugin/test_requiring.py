"""A run in which nothing was scored never looks green."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", generator="fake:script.jsonl"{marker})
def test_it(case, generator):
    {body}

def test_plain():
    pass
"""
CHECK = "assert_exact(generator(case), case)"


def write(
    suite: Suite, *, body: str = CHECK, marker: str = "", reply: Any = "a", **row: Any
) -> None:
    """Write a suite of two cases."""
    rows = [{"id": n, "input": "q", "expected": "a", **row} for n in ("x", "y")]
    suite.rows("rows.jsonl", rows)
    answer = {"error": "down"} if reply is None else {"reply": reply}
    suite.rows("script.jsonl", [answer])
    suite.write(test_it=TEST.format(body=body, marker=marker))


WAYS: dict[str, tuple[dict[str, Any], list[str], str]] = {
    "skipped": ({"skip": "later"}, [], "0 of 2"),
    "skipped inside": ({"body": "pytest.skip('later')"}, [], "0 of 2"),
    "expected to fail": ({"reply": "b", "xfail": "later"}, [], "0 of 2"),
    "unscored": ({"reply": None}, ["--llmeval-max-unscored=9"], "0 of 2"),
    "deselected by k": ({}, ["-k", "nothing"], "0 of 0"),
    "deselected by m": ({}, ["-m", "not llmeval"], "0 of 0"),
    "deselected by id": ({}, ["--deselect", "test_it.py::test_it"], "0 of 0"),
    "left alone": ({}, ["-k", "plain"], "0 of 0"),
    "not collected": ({}, ["--ignore=test_it.py"], "0 of 0"),
    "checked nothing": (
        {"body": "generator(case)"},
        [],
        "0 of 2 cases were scored (2 checked nothing)",
    ),
}


@pytest.mark.parametrize("required", ["1", "all"])
@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_scored_nothing_fails_where_scores_are_required(
    suite: Suite, way: str, required: str
) -> None:
    keywords, args, counted = WAYS[way]
    write(suite, **keywords)

    result = suite.run(f"--llmeval-require={required}", "-q", *args)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"{counted}*--llmeval-require={required} asks for *"])


@pytest.mark.parametrize("way", ["skipped", "unscored", "deselected by k"])
def test_workers_make_no_difference(suite: Suite, way: str) -> None:
    keywords, args, counted = WAYS[way]
    write(suite, **keywords)

    result = suite.run("--llmeval-require=1", "-n2", *args)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"{counted}*--llmeval-require=1 asks for *"])


def test_no_tolerance_covers_a_run_that_scored_nothing(suite: Suite) -> None:
    write(suite, reply=None)

    result = suite.run("--llmeval-max-unscored=9")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["no case was scored, so nothing is tolerated"])


@pytest.mark.parametrize("row", [{"skip": "later"}, {"xfail": "later", "reply": "b"}])
def test_a_gate_over_nothing_is_undecided(suite: Suite, row: dict[str, Any]) -> None:
    write(suite, marker=', gate="pass_rate >= 0.5"', **row)

    result = suite.run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["  undecided  test_it  pass_rate >= 0.5 *"])


@pytest.mark.parametrize("required", [[], ["--llmeval-require=1"]])
def test_an_empty_dataset_is_an_error(suite: Suite, required: list[str]) -> None:
    write(suite)
    (suite.path / "rows.jsonl").write_text("")

    result = suite.run(*required)

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*the dataset 'rows.jsonl' holds no cases*"])


def test_a_plain_assert_is_a_check(suite: Suite) -> None:
    write(suite, body="assert generator(case).text")

    assert suite.run("--llmeval-require=all").ret == pytest.ExitCode.OK

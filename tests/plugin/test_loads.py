"""What rides on reports, and what of a case is kept to the end of a run."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.fixture
def case_report(request):
    yield
    print("torn down:", sorted(request.node.reports["call"].llmeval)[:3])

@pytest.mark.llmeval("rows.jsonl", generator="column:reply")
def test_it(case, generator, case_report):
    assert_exact(generator(case), case)
"""
#: Reads reports as any plugin may: as they are logged, in a teardown, at the end.
CONFTEST = """
import json
import pytest

SEEN = []

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    vars(item).setdefault("reports", {})[report.when] = report
    return report

@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    if hasattr(report, "llmeval"):
        (sample,) = report.llmeval["samples"]
        SEEN.append([report.llmeval["row"], sample["checks"][0]["value"]])

@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary(terminalreporter):
    yield
    left = {}
    for kind in ("passed", "failed"):
        for report in terminalreporter.stats[kind]:
            others = [name for name in vars(report) if name.startswith("llmeval_")]
            left[report.nodeid] = [*report.llmeval, *others]
    with open("seen.json", "w") as file:
        json.dump({"seen": SEEN, "left": left}, file)
"""


@pytest.fixture
def read(suite: Suite) -> Suite:
    """A suite with a plugin that reads reports; one of two cases fails."""
    suite.rows(
        "rows.jsonl",
        [
            {"id": "right", "input": "1", "reply": "a", "expected": "a"},
            {"id": "wrong", "input": "2", "reply": "b", "expected": "a"},
        ],
    )
    suite.write(test_it=TEST, conftest=CONFTEST)
    return suite


def seen(suite: Suite) -> Any:
    return json.loads((suite.path / "seen.json").read_text("utf-8"))


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "xdist"])
def test_plugins_see_the_whole_record_as_a_report_is_logged(
    read: Suite, workers: list[str]
) -> None:
    read.run(*workers)

    assert seen(read)["seen"] == [
        [{"input": "1", "expected": "a"}, 1.0],
        [{"input": "2", "expected": "a"}, 0.0],
    ]


def test_a_teardown_sees_the_whole_record(read: Suite) -> None:
    result = read.run("-s")

    assert result.stdout.str().count("torn down: ['calibration', 'case_id'") == 2


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "xdist"])
def test_a_case_that_passed_is_let_go_of_and_a_failure_is_not(
    read: Suite, workers: list[str]
) -> None:
    read.rows(
        "rows.jsonl",
        [
            {"id": i, "reply": r, "expected": "a"}
            for i, r in zip("xyz", "aab", strict=True)
        ],
    )
    read.run(*workers)
    left = seen(read)["left"]

    # Of the very first report a controller only learns that there is something to do.
    assert left["test_it.py::test_it[y]"] == ["status"]
    assert {"samples", "llmeval_answers"} <= {*left["test_it.py::test_it[z]"]}


def _cases(report: dict[str, Any]) -> Any:
    return [{**case, "seconds": 0} for case in report["cases"]]


def test_the_report_of_a_run_without_a_journal_is_whole(read: Suite) -> None:
    _, report = read.report()
    (read.path / ".llmeval" / "runs").rename(read.path / "runs")
    (read.path / ".llmeval" / "runs").write_text("a file where the folder should be")
    result, without = read.report()

    result.stdout.fnmatch_lines(["*could not write the journal of this run*"])
    assert _cases(without) == _cases(report)
    assert without["totals"] == report["totals"]


@pytest.mark.skipif(os.name == "nt", reason="an open file can't be deleted there")
def test_the_report_of_a_run_whose_journal_was_deleted_is_whole(read: Suite) -> None:
    _, report = read.report()
    read.write(
        test_z="""
        import shutil

        def test_cleans():
            shutil.rmtree(".llmeval")
        """.replace("        ", "")
    )
    _, without = read.report()

    assert _cases(without) == _cases(report)

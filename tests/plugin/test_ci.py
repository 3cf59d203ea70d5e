"""What CI systems read: JUnit's properties, GitHub's summary and annotations."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_f1

@pytest.mark.llmeval("data/rows.jsonl", generator="column:reply")
def test_a(case, generator):
    assert_f1(generator(case), case, threshold=0.6, name=case["name"])
"""
HOSTILE = "]]> </testcase> \x1b[31m\x00 \u202e ::error::x\n::warning::y 50%"


@pytest.fixture
def rows(suite: Suite) -> Suite:
    suite.write(test_it=TEST)
    (suite.path / "data").mkdir()
    suite.rows(
        "data/rows.jsonl",
        [
            {
                "id": "good",
                "input": "?",
                "expected": "a b",
                "reply": "a b",
                "name": "f",
            },
            {
                "id": "bad",
                "input": HOSTILE,
                "expected": "a b",
                "reply": HOSTILE,
                "name": f"f {HOSTILE}",
            },
        ],
    )
    return suite


@pytest.fixture
def github(rows: Suite, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    summary = tmp_path / "summary.md"
    summary.write_text("from another step\n", "utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(rows.path.parent))
    return summary


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "xdist"])
def test_scores_are_properties_of_junit(rows: Suite, workers: list[str]) -> None:
    rows.run("--junitxml=junit.xml", *workers)

    cases = {
        case.get("name"): {
            str(node.get("name")): node.get("value") for node in case.iter("property")
        }
        for case in ElementTree.parse(rows.path / "junit.xml").iter("testcase")
    }
    assert cases["test_a[good]"]["llmeval_score_f"] == "1.0"
    (name,) = [key for key in cases["test_a[bad]"] if key.startswith("llmeval_score")]
    assert cases["test_a[bad]"][name] == "0.0"


def test_github_gets_a_summary_below_what_is_there(rows: Suite, github: Path) -> None:
    rows.run()

    text = github.read_text("utf-8")
    assert text.startswith("from another step\n### llmeval: 1 passed, 1 failed\n")


def test_github_gets_an_annotation_on_the_row(rows: Suite, github: Path) -> None:
    result = rows.run()

    (line,) = [line for line in result.outlines if line.startswith("::error ")]
    place = f"file={rows.path.name}/data/rows.jsonl,line=2,title=failed%3A test_a[bad]"
    assert line.startswith(f"::error {place}::f1")
    assert "%0Apytest" in line
    assert not [line for line in result.outlines if line.startswith("::warning")]


def test_github_gets_at_most_ten_annotations(rows: Suite, github: Path) -> None:
    row = {"input": "?", "expected": "a", "reply": "b", "name": "f"}
    rows.rows("data/rows.jsonl", [{"id": f"c{n}", **row} for n in range(30)])

    result = rows.run()

    assert sum(line.startswith("::error ") for line in result.outlines) == 10


def test_a_summary_that_can_not_be_written_is_told(
    rows: Suite, github: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(rows.path))

    result = rows.run("-k", "good")

    result.stdout.fnmatch_lines(["*could not write the summary of the GitHub step*"])
    assert result.ret == 0


def test_elsewhere_nothing_is_annotated(
    rows: Suite, github: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS")

    result = rows.run()

    assert github.read_text("utf-8") == "from another step\n"
    assert not [line for line in result.outlines if line.startswith("::")]


def test_an_interrupted_run_can_still_be_reported(
    rows: Suite, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pytest_llmeval.cli import main

    rows.run()
    (journal,) = (rows.path / ".llmeval" / "runs").glob("*.jsonl")
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    journal.write_text("".join(lines[:2]) + lines[2][:40], "utf-8")
    monkeypatch.chdir(rows.path)
    capsys.readouterr()

    status = main(["report", "last", "-o", "out/r.html", "-o", "r.csv", "-o", "r.md"])

    assert status == 0
    assert "has the 1 cases that had ended" in capsys.readouterr().err
    assert "interrupted" in (rows.path / "out" / "r.html").read_text("utf-8")
    assert (rows.path / "r.csv").read_text("utf-8").count("\n") == 2
    title = "### llmeval: 1 passed; the run was interrupted\n"
    assert (rows.path / "r.md").read_text("utf-8").startswith(title)

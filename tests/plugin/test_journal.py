"""What a journal keeps of a run, and the report that is made of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.cli import main

if TYPE_CHECKING:
    from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", generator="column:reply", gate=["exact >= 0.5"])
def test_it(case, generator):
    assert_exact(generator(case), case)
"""
#: Two tasks with a function that puts values together, and a run-wide gate.
CONFIG = 'gates: ["pass_rate >= 0.9", "tag hard: exact >= 0.1"]\n'


@pytest.fixture
def held(suite: Suite) -> Suite:
    """A suite with gates of each kind and a baseline in which other cases failed."""
    rows = [
        {"id": f"c{n}", "reply": "a" if n % 3 else "b", "expected": "a"}
        for n in range(6)
    ]
    suite.rows("rows.jsonl", rows)
    suite.write(test_it=TEST, llmeval_yaml=CONFIG)
    suite.run("--llmeval-save=main")
    rows[1]["reply"] = "b"
    rows[3]["reply"] = "a"
    suite.rows("rows.jsonl", [{**row, "tags": ["hard"]} for row in rows])
    return suite


def from_journal(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(suite.path)
    assert main(["report", "last", "-o", "again.json", "-o", "again.md"]) == 0
    return json.loads((suite.path / "again.json").read_text("utf-8"))


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "xdist"])
def test_the_report_of_a_journal_is_that_of_its_run(
    held: Suite, workers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, report = held.report(
        "--llmeval-compare=main", "--llmeval-report=report.md", *workers
    )
    again = from_journal(held, monkeypatch)

    assert [gate["state"] for gate in again["gates"]] == ["holds", "fails", "holds"]
    assert len(again["comparison"]["regressed"]) == 1
    assert again == report
    written, made = ((held.path / f"{n}.md").read_text() for n in ("report", "again"))
    assert made == written


def test_the_footer_says_how_the_run_ended_and_why(held: Suite) -> None:
    held.run("--llmeval-compare=main", "--llmeval-require=9")
    *_, footer = held.journal()

    assert footer["exit_status"] == 1
    assert footer["ended"] == {"status": 0, "failed": 0, "is_cut": False}
    assert (
        "6 of 6 cases were scored, and --llmeval-require=9 asks for 9"
        in (footer["notes"])
    )


def test_the_report_of_an_interrupted_run_decides_nothing_and_says_so(
    held: Suite,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    held.run("--llmeval-compare=main")
    (journal,) = sorted((held.path / ".llmeval" / "runs").iterdir())[1:]
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    journal.write_text("".join(lines[:4]) + lines[4][:50], "utf-8")
    report = from_journal(held, monkeypatch)

    assert "the run was interrupted: the report has the 3 cases" in (
        capsys.readouterr().err
    )
    assert report["run"]["interrupted"] is True
    assert {gate["state"] for gate in report["gates"]} == {"not evaluated"}
    assert {gate["reason"] for gate in report["gates"]} == {"the run was interrupted"}
    assert report["comparison"] is None


@pytest.mark.parametrize(
    ("line", "change", "complaint"),
    [
        (0, {"terms": {"gates": [], "colour": "red"}}, "colour"),
        (
            0,
            {"terms": {"baseline": {"format": 1, "cases": [{}]}}},
            "case 1 is not whole",
        ),
        (-1, {"ended": {"status": 0, "reason": "none"}}, "reason"),
        (-1, {"collected": {"tests": {"test_it.py::test_it": 3}}}, "is 3"),
    ],
    ids=["terms", "baseline", "ended", "collected"],
)
def test_a_damaged_header_or_footer_is_told(
    held: Suite,
    line: int,
    change: dict[str, Any],
    complaint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    journal = max((held.path / ".llmeval" / "runs").iterdir())
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    lines[line] = json.dumps({**json.loads(lines[line]), **change}) + "\n"
    journal.write_text("".join(lines), "utf-8")
    monkeypatch.chdir(held.path)

    assert main(["report", "last", "-o", "again.json"]) == 2
    assert complaint in capsys.readouterr().err

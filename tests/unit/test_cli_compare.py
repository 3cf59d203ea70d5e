"""``compare``: two runs or baselines, and what became of their cases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_llmeval.cli import main
from pytest_llmeval.store.journal import Journal
from pytest_llmeval.types import Record


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_of(folder: str, cases: Mapping[str, str], *, is_whole: bool = True) -> str:
    """Write the journal of a run, and return its path."""
    journal = Journal.open(Path(folder), {"started": "2026-01-05T00:00:00Z"})
    for name, status in cases.items():
        record = Record(
            nodeid=f"t.py::t[{name}]", test="t.py::t", case_id=name, status=status
        )
        journal.append(record.to_json())
    if is_whole:
        journal.close({})
    (path,) = Path(folder, "runs").glob("*.jsonl")
    return str(path)


def test_a_regressed_case_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    before = run_of("a", {"x": "passed", "y": "failed", "z": "passed"})
    now = run_of("b", {"x": "failed", "y": "passed", "z": "gated"})

    assert main(["compare", before, now]) == 1

    out = capsys.readouterr().out
    assert "fails (2 regressed)" in out
    assert "2 regressed · 1 fixed" in out
    assert "t[x]" in out


def test_a_run_is_as_good_as_itself(capsys: pytest.CaptureFixture[str]) -> None:
    path = run_of("a", {"x": "passed", "y": "failed"})

    assert main(["compare", path, path]) == 0

    assert "holds (nothing got worse)" in capsys.readouterr().out


def test_noise_fails_nothing_where_that_is_asked() -> None:
    before = run_of("a", {"x": "passed", "y": "passed"})
    now = run_of("b", {"x": "failed", "y": "passed"})

    assert main(["compare", before, now, "--fail-on=significant"]) == 0
    assert main(["compare", before, now, "--fail-on=none"]) == 0
    assert main(["compare", before, now, "-v"]) == 1


def test_a_case_that_is_gone_fails_and_one_not_run_does_not() -> None:
    before = run_of("a", {"x": "passed", "y": "passed"})
    gone = run_of("b", {"x": "passed"})
    left = run_of("c", {"x": "passed", "y": "not_run"})

    assert main(["compare", before, gone]) == 1
    assert main(["compare", before, gone, "--allow-missing"]) == 0
    assert main(["compare", before, left]) == 0


def test_an_interrupted_run_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    before = run_of("a", {"x": "passed"})
    now = run_of("b", {"x": "passed"}, is_whole=False)

    assert main(["compare", before, now]) == 0

    assert "interrupted: it has the 1 cases that had ended" in capsys.readouterr().err


def test_what_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    now = run_of("b", {"x": "passed"})

    assert main(["compare", "main", now]) == 2

    assert "no baseline 'main' yet" in capsys.readouterr().err

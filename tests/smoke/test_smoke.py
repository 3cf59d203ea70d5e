"""The installed plugin as its users have it: also run from a copy beside the wheel."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HEAVY = {"asyncio", "httpx", "jinja2", "sqlite3", "tenacity", "yaml"}


def run_python(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    # Not under coverage, which loads sqlite3 itself, nor with options of the outer run.
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COVERAGE_", "PYTEST_"))
    }
    return subprocess.run(
        [sys.executable, *args],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def run_suite(
    tmp_path: Path, *args: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    suite = tmp_path / "suite"
    shutil.copytree(Path(__file__).parent / "suite", suite)
    report = tmp_path / "report.json"
    result = run_python("-m", "pytest", f"--llmeval-report={report}", *args, cwd=suite)
    return result, json.loads(report.read_text("utf-8")) if report.exists() else {}


def counts(result: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """Return the counts of pytest's last line."""
    lines = result.stdout.splitlines() or [result.stderr]
    found = re.findall(r"(\d+) ([a-z]+)", lines[-1].partition(" in ")[0])
    return {word: int(number) for number, word in found}


@pytest.mark.parametrize(
    "args", [["-p", "no:xdist"], ["-n", "2"]], ids=["without xdist", "with xdist"]
)
def test_outcomes_of_a_suite_with_failures_on_purpose(
    tmp_path: Path, args: list[str]
) -> None:
    result, report = run_suite(tmp_path, *args)

    assert result.returncode == 1, result.stdout + result.stderr
    assert counts(result) == {"failed": 2, "passed": 7, "unscored": 3}
    totals = report["totals"]
    assert (totals["passed"], totals["failed"], totals["unscored"]) == (6, 2, 3)


def test_selection_by_marker_leaves_ordinary_tests_out(tmp_path: Path) -> None:
    result, _ = run_suite(tmp_path, "-m", "llmeval")

    expected = {"failed": 2, "passed": 6, "deselected": 1, "unscored": 3}
    assert counts(result) == expected, result.stdout + result.stderr


def test_loading_the_plugin_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import pytest_llmeval.plugin; "
        "print(*sorted(set(sys.modules) - before))"
    )

    result = run_python("-c", code, cwd=tmp_path)

    loaded = set(result.stdout.split())
    assert "pytest_llmeval.plugin" in loaded, result.stderr
    assert not loaded & HEAVY


def test_a_run_without_evaluations_shows_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text("def test_plain(): pass\n", "utf-8")

    result = run_python("-B", "-m", "pytest", "-p", "no:cacheprovider", cwd=tmp_path)

    assert counts(result) == {"passed": 1}
    # Its name stands among the plugins, and nowhere else.
    shown = [line for line in result.stdout.splitlines() if "plugins: " not in line]
    assert not any("llm" in line.replace(str(tmp_path), "") for line in shown)
    assert [path.name for path in tmp_path.iterdir()] == ["test_plain.py"]

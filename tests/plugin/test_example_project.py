"""The example project does what the README says it does."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OUTCOMES = "3 failed, 12 passed, 2 unscored"


@pytest.fixture
def example(pytester: pytest.Pytester) -> pytest.Pytester:
    shutil.copytree(
        ROOT / "example_project",
        pytester.path / "example_project",
        ignore=shutil.ignore_patterns(".*", "__pycache__"),
    )
    return pytester


def test_it_runs_from_the_folder_above(example: pytest.Pytester) -> None:
    result = example.runpytest_subprocess("example_project")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"*= {OUTCOMES} in *"])


def test_it_runs_from_its_own_folder_by_the_marker(
    example: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(example.path / "example_project")

    result = example.runpytest_subprocess("-m", "llmeval")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"*= {OUTCOMES} in *"])


def test_what_fails_and_what_is_unscored_is_on_purpose(
    example: pytest.Pytester,
) -> None:
    result = example.runpytest_subprocess("example_project")

    bad = re.findall(
        r"^(FAILED|UNSCORED) \S*::(\S+)", result.stdout.str(), re.MULTILINE
    )
    assert sorted(bad) == [
        ("FAILED", "test_capitals[australia]"),
        ("FAILED", "test_capitals[kazakhstan]"),
        ("FAILED", "test_prices[number-as-word]"),
        ("UNSCORED", "test_capitals[norway]"),
        ("UNSCORED", "test_prices[unknown-article]"),
    ]


def test_the_readme_states_the_outcomes() -> None:
    assert OUTCOMES in (ROOT / "README.md").read_text("utf-8")

"""The tutorial, word for word: its files written, its commands run, its output seen."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import QUIET

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
STEPS = re.compile(
    r"^( *)```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^\1```$", re.MULTILINE | re.DOTALL
)

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is needed")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [*os.environ]:
        if name.startswith(("PYTEST_", "GIT_", "GITHUB_")) or name == "CI":
            monkeypatch.delenv(name)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ada@example.org")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # edits within a second are seen
    monkeypatch.setenv("PATH", os.pathsep.join([_bin(), os.environ["PATH"]]))
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=tmp_path, check=True)
    return tmp_path


def _bin() -> str:
    return str(Path(sys.executable).parent)


def test_it_ends_as_it_says(folder: Path) -> None:
    told = PAGE.read_text("utf-8").partition("## 7.")[0]
    commands = 0
    for indent, language, title, body in STEPS.findall(told):
        text = re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
        if title:
            path = folder / title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        elif language == "console":
            for command, shown in _commands(text):
                _check(command, shown, folder)
                commands += 1
        elif language == "python":
            assert text in (folder / "evals" / "test_answers.py").read_text("utf-8")
    assert commands == 10
    _runs_in_ci(folder)


def _runs_in_ci(folder: Path) -> None:
    """Run the command of the GitHub workflow where a checkout would: it passes."""
    flow = yaml.safe_load((folder / ".github/workflows/evals.yml").read_text("utf-8"))
    (command,) = [
        step["run"]
        for step in flow["jobs"]["evals"]["steps"]
        if step.get("run", "").startswith("pytest")
    ]
    subprocess.run(
        ["git", "update-ref", "refs/remotes/origin/main", "main"],
        cwd=folder,
        check=True,
    )
    _check(command, ["compared with main (…): holds", "4 passed"], folder)
    assert (folder / "report.html").stat().st_size > 1000


def _commands(text: str) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def _check(command: str, shown: list[str], folder: Path) -> None:
    """Run a command: each line that is shown comes, in order, and fails as it says."""
    done = subprocess.run(
        command.replace("pytest evals", f"pytest {' '.join(QUIET)} evals"),
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    output = done.stdout + done.stderr
    place = 0
    for line in shown:
        pattern = ".*".join(map(re.escape, line.strip().split("…")))
        match = re.compile(pattern).search(output, place)
        assert match, f"$ {command}\n{output}\n--- lacks, in this order: {line}"
        place = match.end()
    fails = any(re.search(r"\d failed", line) for line in shown)
    assert (done.returncode != 0) == fails, output


def test_gitlab_runs_what_github_runs() -> None:
    told = PAGE.read_text("utf-8")
    github, gitlab = re.findall(r"- (?:run: )?(pytest evals .*)$", told, re.MULTILINE)

    assert gitlab.startswith(github)

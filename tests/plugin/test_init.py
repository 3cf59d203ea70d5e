"""init: a first suite that runs at once, and never writes over anything."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_llmeval.cli import main

if TYPE_CHECKING:
    from tests.conftest import Suite

FILES = [
    "evals/data/answers.jsonl",
    "evals/test_answers.py",
    "evals_app.py",
    "llmeval.yaml",
]


@pytest.fixture(autouse=True)
def clean_imports() -> Iterator[None]:
    path, modules = sys.path[:], set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith(("evals_app", "init_own")):
            del sys.modules[name]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files_in(folder: Path) -> list[str]:
    paths = (p for p in folder.rglob("*") if p.is_file())
    names = {p.relative_to(folder).as_posix() for p in paths}
    return sorted(n for n in names if ".llmeval" not in n and "__pycache__" not in n)


def test_the_suite_runs_at_once_and_shows_a_failing_check(suite: Suite) -> None:
    assert main(["init"]) == 0

    result = suite.run("evals")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*the reply does not contain 'Canberra'",
            "*row       evals/data/answers.jsonl:2",
            "next: pytest *test_answers*australia*",
        ]
    )


def test_what_was_written_and_what_comes_next_is_printed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["init"])

    out = capsys.readouterr().out
    assert status == 0
    assert files_in(folder) == [*FILES, "pytest.ini"]
    assert all(f"wrote  {name}\n" in out for name in files_in(folder))
    steps = out.partition("next\n")[2].splitlines()
    assert [step.split("  ")[1] for step in steps] == [
        "pytest evals",
        "edit evals_app.py",
        "edit evals/data/answers.jsonl",
        "pytest evals --llmeval-save=main",
        "pytest evals --llmeval-compare=main",
    ]


def test_an_application_of_your_own_stands_in_no_file_of_ours(suite: Suite) -> None:
    suite.write(init_own_py="def reply(question):\n    return 'words of mine'\n")

    assert main(["init", "checks/llm", "--app", "init_own:reply"]) == 0

    assert files_in(suite.path) == [
        "checks/llm/data/answers.jsonl",
        "checks/llm/test_answers.py",
        "init_own.py",
        "llmeval.yaml",
        "tox.ini",  # of the fixture, which makes the root
    ]
    result = suite.run("checks")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*reply     words of mine"])


def test_an_application_that_is_not_there_leaves_nothing_behind(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "init_own_two.py").write_text("def answer(question): ...\n")

    status = main(["init", "--app", "init_own_two:anwser"])

    assert status == 2
    assert "has no 'anwser' (did you mean 'answer'?)" in capsys.readouterr().err
    assert files_in(folder) == ["init_own_two.py"]


def test_an_application_is_found_in_src(folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src" / "init_own_src.py").write_text("def answer(question): ...\n")

    assert main(["init", "--app", "init_own_src:answer"]) == 0


def test_an_application_that_python_does_not_find_is_told_where(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "--app", "init_own_nowhere.desk:answer"]) == 2

    error = capsys.readouterr().err
    assert "No module named 'init_own_nowhere'" in error
    assert "pytest's ini key pythonpath a folder like src" in error


@pytest.mark.parametrize("name", [*FILES, "evals_app.py"])
def test_nothing_is_written_over(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("mine")

    status = main(["init"])

    assert status == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{name} is there already, and nothing was written")
    assert files_in(folder) == [name]
    assert (folder / name).read_text() == "mine"


def test_what_can_not_be_written_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "evals").write_text("a file where the folder would be")

    assert main(["init"]) == 2
    assert "the suite can't be written: " in capsys.readouterr().err
    assert files_in(folder) == ["evals"]


@pytest.mark.parametrize("given", ["/tmp/evals", "../evals", "."])
def test_the_tests_go_below_the_root(
    folder: Path, capsys: pytest.CaptureFixture[str], given: str
) -> None:
    assert main(["init", given]) == 2
    assert f"{given!r} is not a folder below this one" in capsys.readouterr().err
    assert files_in(folder) == []


@pytest.mark.parametrize(
    ("name", "text", "makes_a_root"),
    [
        ("pyproject.toml", "[project]\nname = 'x'\n", True),
        ("setup.cfg", "[tool:pytest]\n", True),
        ("tox.ini", "[pytest]\n", True),
        ("tox.ini", "[testenv]\n", False),
    ],
)
def test_pytest_ini_is_written_where_nothing_else_makes_the_root(
    folder: Path, name: str, text: str, makes_a_root: bool
) -> None:
    (folder / name).write_text(text)

    assert main(["init"]) == 0
    assert (folder / "pytest.ini").exists() is not makes_a_root

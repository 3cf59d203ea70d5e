"""``init``: write a first suite into a repository, and say what to type next."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.clients.callable import import_target
from pytest_llmeval.errors import ConfigError

__all__ = ["add", "run"]

_APP: Final = "evals_app.py"
_APP_TEXT: Final = '''\
"""What the suite asks: put a call of your application here."""

ANSWERS = {"What is the capital of Peru?": "The capital of Peru is Lima."}


def answer(question: str) -> str:
    """Return the answer to a question."""
    return ANSWERS.get(question, "I do not know.")
'''
_TEST_TEXT: Final = '''\
"""What the application must get right: each row of data/answers.jsonl is a test."""

import pytest

from pytest_llmeval import assert_contains


@pytest.mark.llmeval("data/answers.jsonl")
def test_answers(case, generator):
    assert_contains(generator(case), case)
'''
_CONFIG_TEXT: Final = """\
# What is tested, and what judges: models and applications by name.
generator: app
# judge: grader

models:
  app: {provider: python, model: "%s"}
  # For assert_judge. Keys are read from the environment alone, this one from OPENAI_API_KEY.
  # grader: {provider: openai, model: gpt-4o-mini, params: {temperature: 0, max_tokens: 300}}
"""
_INI_TEXT: Final = """\
[pytest]
# This file makes its folder the root directory, where llmeval.yaml is looked for.
"""
#: Files by which pytest knows the root directory, and the section they need for that.
_ROOTS: Final = {
    "pytest.ini": "",
    ".pytest.ini": "",
    "pytest.toml": "",
    ".pytest.toml": "",
    "pyproject.toml": "",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
    "setup.py": "",
}
_ROWS: Final = (
    ("peru", "What is the capital of Peru?", "Lima"),
    ("australia", "What is the capital of Australia?", "Canberra"),
)
_OWN_ROWS: Final = (
    ("first", "A question to your application", "words that its answer must have"),
)


def add(subparsers: Any) -> ArgumentParser:
    """Add the command and return its parser."""
    parser: ArgumentParser = subparsers.add_parser(
        "init", help="write a first suite into this folder"
    )
    parser.add_argument(
        "folder",
        nargs="?",
        default="evals",
        metavar="FOLDER",
        help="where the tests go (default: evals)",
    )
    parser.add_argument(
        "--app",
        metavar="MODULE:NAME",
        help="your application: a function that takes a question and returns its answer "
        "(default: a stand-in is written)",
    )
    return parser


def run(options: Namespace) -> int:
    """Write the files and print what comes next.

    Raises:
        ConfigError: A file is there already, or the application can't be imported;
            nothing is written then.
    """
    folder = _folder(options.folder)
    if options.app is not None:
        # As pytest does where its ini key pythonpath says so.
        sys.path += [str(path) for path in [Path.cwd() / "src"] if path.is_dir()]
        import_target(options.app, root=Path.cwd())
    files = _files(folder, options.app)
    _refuse_what_is_there(files)
    try:
        for path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            path.write_text(text, "utf-8")
    except OSError as exc:
        message = f"the suite can't be written: {exc}"
        raise ConfigError(message) from exc
    sys.stdout.write(_written(files) + _next(folder.as_posix(), options.app))
    return 0


def _folder(given: str) -> Path:
    folder = Path(given)
    if folder.is_absolute() or ".." in folder.parts or folder == Path():
        message = (
            f"{given!r} is not a folder below this one: run init in the repository's "
            f"root, and name a folder for the tests (default: evals)"
        )
        raise ConfigError(message)
    return folder


def _files(folder: Path, app: str | None) -> dict[Path, str]:
    """Return what is to be written, by path."""
    rows = _ROWS if app is None else _OWN_ROWS
    names = ("id", "question", "expected")
    lines = [json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows]
    files = {
        Path("llmeval.yaml"): _CONFIG_TEXT % (app or "evals_app:answer"),
        folder / "test_answers.py": _TEST_TEXT,
        folder / "data" / "answers.jsonl": "".join(lines),
    }
    if app is None:
        files[Path(_APP)] = _APP_TEXT
    if not any(map(_makes_a_root, _ROOTS)):
        files[Path("pytest.ini")] = _INI_TEXT
    return files


def _makes_a_root(name: str) -> bool:
    path = Path(name)
    return path.is_file() and _ROOTS[name] in path.read_text("utf-8", errors="replace")


def _refuse_what_is_there(files: Mapping[Path, str]) -> None:
    there = [path.as_posix() for path in files if path.exists()]
    if there:
        verb = "is" if len(there) == 1 else "are"
        message = (
            f"{', '.join(there)} {verb} there already, and nothing was written: move "
            f"what is there, or run init in another folder"
        )
        raise ConfigError(message)


def _written(files: Mapping[Path, str]) -> str:
    return "".join(f"wrote  {path.as_posix()}\n" for path in files)


def _next(folder: str, app: str | None) -> str:
    run = f"pytest {folder}"
    rows = f"edit {folder}/data/answers.jsonl"
    if app is None:
        steps = {
            run: "one of two cases fails, on purpose",
            f"edit {_APP}": "call your application there",
            rows: "put in your own questions",
        }
    else:
        steps = {rows: "put in your own questions", run: "each is a test"}
    steps[f"{run} --llmeval-save=main"] = "keep how the cases stand"
    steps[f"{run} --llmeval-compare=main"] = "see what got worse since"
    width = max(map(len, steps))
    return "\nnext\n" + "".join(f"  {s:<{width}}  {why}\n" for s, why in steps.items())

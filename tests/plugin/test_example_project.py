"""The example project does what the READMEs say it does."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import QUIET

ROOT = Path(__file__).parents[2]
OUTCOMES = "7 failed, 107 passed, 1 xfailed, 2 unscored"
#: Case and status of whatever does not pass; each is explained in the example's README.
ON_PURPOSE = [
    ("FAILED", "test_against_plain[electric-on-ferry]"),
    ("FAILED", "test_explanations[electric-on-ferry]"),
    ("FAILED", "test_explanations[five-hours-late]"),
    ("FAILED", "test_facts[marram-meaning]"),
    ("FAILED", "test_mentions[breakdown-number]"),
    ("FAILED", "test_numbers[city-gears]"),
    ("FAILED", "test_passages[marram-meaning]"),
    ("UNSCORED", "test_explanations[insurance-covers]"),
    ("UNSCORED", "test_mentions[group-address]"),
    ("XFAIL", "test_numbers[three-days]"),
]
#: What `python` reads as it starts; the loop's own pair of sockets needs no connect.
NO_SOCKETS = """
import socket

def refuse(*args):
    raise RuntimeError("a socket was connected")

socket.socket.connect = socket.socket.connect_ex = refuse
"""


@pytest.fixture
def example(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    """A copy of the example, on a machine without a key and without the weights."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(pytester.path / "cache"))
    shutil.copytree(
        ROOT / "example_project",
        pytester.path / "example_project",
        ignore=shutil.ignore_patterns(".*", "__pycache__"),
    )
    return pytester


@pytest.fixture
def without_sockets(example: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no process that is started from here connect to anything."""
    folder = example.mkdir("without_sockets")
    (folder / "sitecustomize.py").write_text(NO_SOCKETS, "utf-8")
    paths = [str(folder), os.environ.get("PYTHONPATH")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))


def assert_outcomes(result: pytest.RunResult, outcomes: str = OUTCOMES) -> None:
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"*= {outcomes} in *"])


def test_it_runs_from_the_folder_above(example: pytest.Pytester) -> None:
    result = example.runpytest_subprocess(*QUIET, "-rfEx", "example_project")

    assert_outcomes(result)
    bad = re.findall(
        r"^(FAILED|UNSCORED|XFAIL) \S*::(\S+)", result.stdout.str(), re.MULTILINE
    )
    assert sorted(bad) == ON_PURPOSE


@pytest.mark.parametrize(
    "options",
    [("-m", "llmeval"), ("-n", "2"), ("-p", "no:cacheprovider")],
    ids=" ".join,
)
def test_it_runs_from_its_own_folder(
    example: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
) -> None:
    monkeypatch.chdir(example.path / "example_project")

    result = example.runpytest_inprocess(*QUIET, *options)

    assert_outcomes(result)


@pytest.mark.usefixtures("without_sockets")
def test_the_guard_of_the_next_test_refuses_sockets(example: pytest.Pytester) -> None:
    code = "import socket; socket.create_connection(('127.0.0.1', 9))"

    result = example.run(sys.executable, "-c", code)

    result.stderr.fnmatch_lines(["RuntimeError: a socket was connected"])


@pytest.mark.usefixtures("without_sockets")
def test_replay_opens_no_socket(example: pytest.Pytester) -> None:
    result = example.runpytest_subprocess(
        *QUIET, "example_project", "--llmeval-mode=replay"
    )

    assert_outcomes(result)
    result.stdout.fnmatch_lines(["recorded 103 * column 26 *"])


def test_a_changed_prompt_leaves_that_case_alone_unscored(
    example: pytest.Pytester,
) -> None:
    path = example.path / "example_project" / "data" / "mentions.jsonl"
    text = path.read_text("utf-8")
    assert "bike repair??" in text
    path.write_text(text.replace("bike repair??", "bike repair?"), "utf-8")

    result = example.runpytest_inprocess(
        *QUIET, "example_project", "--llmeval-mode=replay"
    )

    assert_outcomes(result, "7 failed, 106 passed, 1 xfailed, 3 unscored")
    result.stdout.fnmatch_lines(
        [
            "*UnscoredError: no recording of this request in "
            "llmeval_recordings/test_answers.jsonl; the nearest entry differs in",
            "*user message*: recorded '*bike repair[?][?]*', asked '*bike repair[?]*'",
            "*record it: pytest 'example_project/test_answers.py::"
            "test_mentions[[]course-teacher[]]' --llmeval-mode=record",
        ]
    )


def test_the_recorded_verdicts_are_those_the_authors_wrote(
    example: pytest.Pytester,
) -> None:
    tool = example.path / "example_project" / "tools" / "record_verdicts.py"
    recorded = Path("example_project", "llmeval_recordings", "test_explanations.jsonl")
    copy = example.path / recorded
    copy.unlink()

    result = example.run(sys.executable, str(tool))

    assert result.ret == 0
    assert copy.read_bytes() == (ROOT / recorded).read_bytes()


@pytest.mark.parametrize("readme", ["README.md", "example_project/README.md"])
def test_the_readme_states_the_outcomes(readme: str) -> None:
    assert OUTCOMES in (ROOT / readme).read_text("utf-8")


def test_its_readme_explains_every_case_that_does_not_pass() -> None:
    text = (ROOT / "example_project" / "README.md").read_text("utf-8")

    rows = re.findall(r"^\| `(test_\w+\[\S+\])` \| (\w+) \|", text, re.MULTILINE)
    words = {"FAILED": "failed", "UNSCORED": "unscored", "XFAIL": "xfailed"}
    assert sorted(rows) == sorted((case, words[word]) for word, case in ON_PURPOSE)

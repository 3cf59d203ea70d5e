"""Failures that are kept to be looked into, and run again without asking anybody."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_llmeval.store.failures import KEPT

if TYPE_CHECKING:
    from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_f1, assert_judge

@pytest.fixture(scope="module")
def intro(generator):
    return generator("hello").text

@pytest.mark.llmeval("cities.jsonl", system="Be brief.")
def test_cities(case, generator, judge, intro):
    reply = generator(case)
    print("replied", reply)
    assert_judge(reply, case, judge, rubric="Names the city.", votes=2)
    assert_f1(reply, case, threshold=0.6)
"""

MODEL = """
import os

def answer(prompt):
    if os.environ.get("OFFLINE"):
        raise AssertionError("asked although offline")
    if "France" in prompt:
        return "Paris"
    if "Chad" in prompt:
        raise ValueError("the application broke")
    return "Qu\\x1b[31mito \\u202e\\udc80 <script> ]]>"

def judge(prompt):
    answer("")
    return "PASS: near enough" if "Paris" in prompt else "FAIL: wrong city"
"""

YAML = """
generator: app
judge: grader
models:
  app: {provider: python, model: "capital_models:answer"}
  grader: {provider: python, model: "capital_models:judge"}
"""

ROWS = [
    {"id": "france", "input": "Capital of France?", "expected": "Paris"},
    {"id": "../../peru", "input": "Capital of Peru?", "expected": "Lima"},
    {"id": "chad", "input": "Capital of Chad?", "expected": "N'Djamena"},
]

BOTH = pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "xdist"])
#: Where it only matters that what a worker found out arrives, one is enough.
ONE = pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "xdist"])


@pytest.fixture
def cities(suite: Suite) -> Suite:
    suite.rows("cities.jsonl", ROWS)
    suite.write(test_cities=TEST, llmeval_yaml=YAML, capital_models_py=MODEL)
    return suite


def kept(suite: Suite) -> dict[str, Path]:
    """Return the folders that are kept, by the case's name in theirs."""
    folders = (suite.path / ".llmeval" / "failures").iterdir()
    return {folder.name.split("-")[-2]: folder for folder in folders}


def text(folder: Path, name: str) -> str:
    return (folder / name).read_text("utf-8")


def offline(folder: Path) -> list[str]:
    """Return the arguments of the command that needs no model."""
    (line,) = (
        line
        for line in text(folder, "failure.txt").splitlines()
        if "--llmeval-replay" in line
    )
    name, pytest_, *arguments = shlex.split(line)
    assert (name, pytest_) == ("offline", "pytest")
    return arguments


@BOTH
def test_failed_and_unscored_cases_are_kept_whole(
    cities: Suite, workers: list[str]
) -> None:
    result = cities.run(*workers)

    result.stdout.fnmatch_lines(["to look into: .llmeval/failures"])
    found = kept(cities)
    assert found.keys() == {"peru", "chad"}
    peru = found["peru"]
    assert sorted(path.name for path in peru.iterdir()) == [
        "answers.jsonl",
        "diff.txt",
        "failure.txt",
        "judge.txt",
        "reply.txt",
        "request.txt",
        "traceback.txt",
    ]
    summary = text(peru, "failure.txt")
    assert (
        "failed: judge failed: the judge said FAIL (2 of 2 votes): wrong city"
        in summary
    )
    assert "row       cities.jsonl:2" in summary
    assert "rerun     pytest 'test_cities.py::test_cities[../../peru" in summary
    assert "[system]\nBe brief.\n\n[user]\nCapital of Peru?" in text(
        peru, "request.txt"
    )
    assert "Qu\\x1b[31mito \\u202e\\udc80 <script> ]]>" in text(peru, "reply.txt")
    judged = text(peru, "judge.txt")
    assert "Names the city." in judged
    assert judged.count('"said": "FAIL"') == 2
    assert "== judge" in text(peru, "diff.txt")
    trace = text(peru, "traceback.txt")
    assert "EvalAssertionError" in trace
    assert "---- Captured stdout call ----\nreplied Qu" in trace
    chad = found["chad"]
    assert "unscored (application)" in text(chad, "failure.txt")
    assert "ValueError: the application broke" in text(chad, "traceback.txt")
    for folder in found.values():
        for path in folder.iterdir():
            lines = path.read_text("utf-8").replace("\n", "").replace("\t", "")
            assert lines.isprintable(), path


@ONE
def test_the_command_reruns_a_case_without_asking_anybody(
    cities: Suite, workers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cities.run()
    monkeypatch.setenv("OFFLINE", "1")
    before = {path: path.stat().st_mtime_ns for path in cities.path.rglob("failures/*")}

    for name, folder in kept(cities).items():
        result, data = cities.report(*offline(folder), *workers)

        (case,) = data["cases"]
        assert (
            f"status: {case['status']}"
            in {
                "peru": "status: failed",
                "chad": "status: unscored",
            }[name]
        )
        assert case["reason"] in text(folder, "failure.txt")
        assert "asked although offline" not in result.stdout.str()
        assert data["run"]["mode"] == "replay"
    after = {path: path.stat().st_mtime_ns for path in cities.path.rglob("failures/*")}
    assert after == before  # a look does not change what is looked at


def test_a_question_that_is_new_has_no_answer(cities: Suite) -> None:
    cities.run()
    command = offline(kept(cities)["peru"])
    cities.write(test_cities=TEST.replace("Be brief.", "Be long."))

    result = cities.run(*command)

    result.stdout.fnmatch_lines(
        [
            "*this was not asked when the case failed, so there is no answer to it",
            "*it differs from the nearest one in",
            "*'Be brief.', asked 'Be long.'",
            "*run it live: pytest 'test_cities.py::test_cities[[]../../peru[]]'",
        ]
    )
    result.assert_outcomes(failed=0)


def test_the_folder_of_a_case_is_that_of_its_last_failure(cities: Suite) -> None:
    cities.run()
    cities.write(capital_models_py=MODEL.replace("Qu", "Ca"))

    cities.run("-k", "peru")

    found = kept(cities)
    assert found.keys() == {"peru", "chad"}
    assert "Ca\\x1b" in text(found["peru"], "reply.txt")


def test_one_failure_is_named(cities: Suite) -> None:
    result = cities.run("-k", "peru")

    result.stdout.re_match_lines(
        [r"to look into: \.llmeval/failures/test_cities-\.\.-\.\.-peru-[0-9a-f]{10}$"]
    )


def test_nothing_is_kept_of_cases_that_pass_or_are_forgiven(cities: Suite) -> None:
    cities.run("-k", "france")
    assert not (cities.path / ".llmeval" / "failures").exists()

    gated = TEST.replace('system="Be brief."', 'gate="pass_rate >= 0"')
    cities.write(test_cities=gated)
    cities.run("-k", "not chad", "--llmeval-limit=2")

    assert not (cities.path / ".llmeval" / "failures").exists()


def test_a_gate_that_broke_forgives_nothing(cities: Suite) -> None:
    cities.rows("cities.jsonl", ROWS[:2])
    cities.write(
        test_cities=TEST.replace('system="Be brief."', 'gate="pass_rate >= 0.9"')
    )

    cities.run()

    assert kept(cities).keys() == {"peru"}


def test_there_is_a_greatest_number(suite: Suite) -> None:
    count = KEPT + 5
    suite.rows(
        "d.jsonl",
        [
            {"id": f"c{n}", "input": "x", "expected": "y", "r": "z"}
            for n in range(count)
        ],
    )
    suite.write(
        test_many="""
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("d.jsonl", generator="column:r")
def test_it(case, generator):
    assert_exact(generator(case), case)
"""
    )

    result = suite.run()

    result.stdout.fnmatch_lines(
        [f"to look into: .llmeval/failures ({KEPT} of {count})"]
    )
    folders = list((suite.path / ".llmeval" / "failures").iterdir())
    assert len(folders) == KEPT
    # Nobody was asked: the case runs alike without a network.
    assert "offline" not in text(folders[0], "failure.txt")


def test_texts_have_a_bound_and_too_many_answers_are_not_kept(suite: Suite) -> None:
    suite.write(
        long_model_py="def answer(prompt):\n    return 'word ' * 1_000_000\n",
        test_long="""
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval([{"id": "a", "input": "x", "expected": "y"}], generator="python:long_model:answer")
def test_it(case, generator):
    assert_exact(generator(case), case)
""",
    )

    suite.run()

    (folder,) = (suite.path / ".llmeval" / "failures").iterdir()
    names = {path.name for path in folder.iterdir()}
    assert "answers.jsonl" not in names
    assert sum(path.stat().st_size for path in folder.iterdir()) < 1_000_000
    assert "characters left out" in text(folder, "reply.txt")
    assert "offline" not in text(folder, "failure.txt")


def test_a_folder_that_cannot_be_written_is_told(cities: Suite) -> None:
    (cities.path / ".llmeval").mkdir()
    (cities.path / ".llmeval" / "failures").write_text("no folder", "utf-8")

    result = cities.run("-k", "peru")

    result.stdout.fnmatch_lines(["could not keep the failures in .llmeval/failures: *"])
    assert result.ret == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--llmeval-replay=nope"],
            "--llmeval-replay=nope: there is no failure 'nope'; in *",
        ),
        (
            ["--llmeval-replay=x-0123456789", "--llmeval-mode=live"],
            "*--llmeval-replay=x-0123456789 replays, and --llmeval-mode=live does not*",
        ),
    ],
)
def test_a_failure_that_is_not_there_is_told_at_the_start(
    cities: Suite, options: list[str], message: str
) -> None:
    folder = cities.path / ".llmeval" / "failures" / "x-0123456789"
    folder.mkdir(parents=True)
    (folder / "answers.jsonl").write_text("{}\n", "utf-8")

    result = cities.run(*options)

    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_answers_that_were_changed_are_refused(cities: Suite) -> None:
    folder = cities.path / ".llmeval" / "failures" / "x-0123456789"
    folder.mkdir(parents=True)
    (folder / "answers.jsonl").write_text('{"request": {}}\n', "utf-8")

    result = cities.run("--llmeval-replay=x-0123456789")

    result.stdout.fnmatch_lines(["*answers.jsonl:1: no answer of a failure*"])


def test_the_answers_of_several_samples_are_kept(suite: Suite) -> None:
    suite.write(
        dice_model_py="""
count = [0]

def answer(prompt):
    count[0] += 1
    return f"reply {count[0]}"
""",
        test_dice="""
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval([{"id": "a", "input": "x", "expected": "y"}], generator="python:dice_model:answer", repeat=3)
def test_it(case, generator):
    assert_exact(generator(case), case)
""",
    )
    suite.run("--llmeval-concurrency=1")
    (folder,) = (suite.path / ".llmeval" / "failures").iterdir()
    lines = text(folder, "answers.jsonl").splitlines()

    _, data = suite.report(*offline(folder), "--llmeval-concurrency=1")

    replies = [json.loads(line)["response"]["text"] for line in lines]
    assert [s["response"] for s in data["cases"][0]["samples"]] == replies
    assert ", sample 1" in text(folder, "request.txt")

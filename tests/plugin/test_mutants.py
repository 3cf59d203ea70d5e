"""--llmeval-mutate: assertions are tried on wrong replies, and no model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

APP = """
ASKED = []

def answer(question):
    ASKED.append(question)
    return {"Peru?": "The capital is Lima.", "Chile?": "The capital is Santiago."}[question]

def grade(prompt):
    reply = prompt.rpartition("<<<reply ")[2]
    return "PASS: it names one" if "capital" in reply else "FAIL: it names none"
"""
HEAD = """
import pytest
from pytest_llmeval import assert_contains, assert_judge, assert_regex
import app

ROWS = [{"id": "peru", "input": "Peru?", "expected": "Lima"},
        {"id": "chile", "input": "Chile?", "expected": "Santiago"}]
given = pytest.mark.llmeval(ROWS, generator="python:app:answer", judge="python:app:grade")
"""


@pytest.fixture
def capitals(suite: Suite) -> Suite:
    suite.write(app=APP)
    return suite


def section(result: pytest.RunResult) -> list[str]:
    """Return the lines of the summary about wrong replies."""
    lines = result.outlines
    start = next(n for n, line in enumerate(lines) if " wrong replies " in line)
    end = next(n for n, line in enumerate(lines) if n > start and line.startswith("="))
    return lines[start + 1 : end]


def test_what_each_assertion_lets_through_is_listed(capitals: Suite) -> None:
    capitals.write(
        test_a=HEAD
        + """
@given
def test_capitals(case, generator, judge):
    response = generator(case)
    assert_contains(response, case)
    assert_judge(response, case, judge)

def test_nothing_more_was_asked_of_the_model():
    assert sorted(app.ASKED) == ["Chile?", "Peru?"]
"""
    )

    result = capitals.run("--llmeval-mutate")

    result.assert_outcomes(passed=3)
    assert result.ret == 0
    assert section(result) == [
        "test_capitals: 8 of 10 wrong replies were caught",
        "    contains let through negated 2 of 2",
        "    judge let through negated 2 of 2, cut 1 of 2",
    ]


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "xdist"])
def test_an_assertion_that_lets_everything_through_fails_the_run(
    capitals: Suite, workers: list[str]
) -> None:
    capitals.write(
        test_a=HEAD
        + """
@given
def test_words(case, generator):
    response = generator(case)
    assert_contains(response, case)
    assert_regex(response, r"\\w*", name="anything")
"""
    )

    result, data = capitals.report("--llmeval-mutate", *workers)

    result.assert_outcomes(passed=2)
    assert result.ret == 1
    assert "    anything let through every one: it checks nothing" in section(result)
    result.stdout.fnmatch_lines(["*assertions that let every wrong reply through"])
    assert data["run"]["mutants"]["vacuous"] == ["test_a.py::test_words: anything"]


def test_plain_asserts_and_async_bodies_are_tried_too(capitals: Suite) -> None:
    capitals.write(
        test_a=HEAD
        + """
from pytest_llmeval.metrics import f1

@given
async def test_plain(case, generator):
    response = await generator.acall(case)
    assert "capital" in response.text

@given
def test_score(case, generator):
    assert f1(generator(case), case) >= 0.2
"""
    )

    result = capitals.run("--llmeval-mutate")

    assert result.ret == 0
    lines = section(result)
    assert lines[:2] == [
        "test_plain: 7 of 10 wrong replies were caught",
        "    its asserts let through negated 2 of 2, cut 1 of 2",
    ]
    assert lines[2].startswith("test_score: ")


def test_a_case_that_did_not_pass_is_not_tried(capitals: Suite) -> None:
    capitals.write(
        test_a=HEAD
        + """
@given
def test_lima(case, generator):
    assert_contains(generator(case), "Lima")

@given
def test_without(case):
    assert_contains("Lima", "Lima")
"""
    )

    result = capitals.run("--llmeval-mutate")

    result.assert_outcomes(passed=3, failed=1)
    lines = section(result)
    assert lines[0] == "test_lima: 4 of 5 wrong replies were caught"
    assert lines[-1] == "test_without: not tried, it asked no model"


def test_what_other_models_say_stays_as_it_was(capitals: Suite) -> None:
    capitals.write(
        test_a=HEAD
        + """
from pytest_llmeval import assert_pairwise

def prefer(prompt):
    a, _, b = prompt.partition("<<<response B")
    a = a.partition("<<<response A")[2]
    if ("Lima" in a) == ("Lima" in b):
        return "Verdict: Tie"
    return "Verdict: Response " + ("A" if "Lima" in a else "B")

@pytest.fixture(scope="session")
def old(llm_client):
    return llm_client(lambda question: "It is Lima.", name="old")

@pytest.mark.llmeval(ROWS[:1], generator="python:app:answer")
def test_pair(case, generator, old, llm_client):
    judge = llm_client(prefer, name="prefer")
    assert_pairwise(generator(case), case, judge, against=old(case))
"""
    )

    result = capitals.run("--llmeval-mutate")

    assert result.ret == 0
    assert section(result) == [
        "test_pair: 3 of 4 wrong replies were caught",
        "    pairwise let through negated 1 of 1",
    ]


def test_the_cases_own_record_is_that_of_the_right_reply(capitals: Suite) -> None:
    capitals.write(
        test_a=HEAD
        + """
@given
def test_capitals(case, generator, judge):
    assert_judge(generator(case), case, judge)
"""
    )

    _, data = capitals.report("--llmeval-mutate")

    sample = data["cases"][0]["samples"][0]
    assert [check["passed"] for check in sample["scores"]] == [True]
    assert sample["response"].startswith("The capital is")
    roles = [call["role"] for call in sample["calls"]]
    assert roles[:2] == ["generator", "judge"]
    assert set(roles[2:]) == {"mutation"}


def test_without_the_option_nothing_is_tried(capitals: Suite) -> None:
    capitals.write(
        test_a=HEAD
        + """
@given
def test_capitals(case, generator):
    assert_contains(generator(case), case)
"""
    )

    result = capitals.run()

    assert "wrong replies" not in result.stdout.str()


def test_the_ini_key_is_a_switch_too(capitals: Suite) -> None:
    capitals.pytester.makeini("[pytest]\nllmeval_mutate = true\n")
    capitals.write(
        test_a=HEAD
        + """
@given
def test_capitals(case, generator):
    assert_contains(generator(case), case)
"""
    )

    assert section(capitals.run())[0].endswith("wrong replies were caught")


def test_a_judge_that_can_not_be_asked_is_no_catch(capitals: Suite) -> None:
    capitals.write(
        llmeval_yaml="models: {grader: {provider: python, model: 'app:grade'}}\n",
        test_a=HEAD
        + """
@pytest.mark.llmeval(ROWS, generator="python:app:answer", judge="grader")
def test_capitals(case, generator, judge):
    assert_judge(generator(case), case, judge)
""",
    )
    capitals.run("--llmeval-mode=record").assert_outcomes(passed=2)

    result = capitals.run("--llmeval-mode=replay", "--llmeval-mutate")

    assert result.ret == 0
    assert section(result) == [
        "test_capitals: 0 of 0 wrong replies were caught, 10 not judged (the judge "
        "could not be asked)"
    ]


def test_what_was_recorded_of_wrong_replies_is_replayed(capitals: Suite) -> None:
    capitals.write(
        test_a=HEAD
        + """
@given
def test_capitals(case, generator, judge):
    assert_judge(generator(case), case, judge)
"""
    )
    capitals.run("--llmeval-mode=record", "--llmeval-mutate")

    result = capitals.run("--llmeval-mode=replay", "--llmeval-mutate")

    assert section(result)[0] == "test_capitals: 7 of 10 wrong replies were caught"


def test_checks_of_yaml_tasks_are_tried_too(capitals: Suite) -> None:
    capitals.write(
        taskapp_py="def answer(prompt):\n    return {'France': 'Paris', 'Peru': 'Lima'}[prompt]\n",
        llmeval_yaml="generator: python:taskapp:answer\n",
    )
    capitals.pytester.syspathinsert()
    dataset = (
        "dataset: [{input: France, expected: Paris}, {input: Peru, expected: Lima}]"
    )
    checks = {
        "strict": "assert: [exact]",
        "lax": "assert: [regex: '(?s).*']",
        "none": "",
    }
    for name, text in checks.items():
        path = capitals.path / f"{name}.llmeval.yaml"
        path.write_text(f"{dataset}\n{text}\n", "utf-8")
    (capitals.path / "rows.jsonl").write_text(
        '{"q": "France", "a": "Paris"}\n', "utf-8"
    )
    (capitals.path / "eval.llmeval.yaml").write_text(
        "dataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\n"
        "test_split: test\ndoc_to_text: q\ndoc_to_target: a\n"
        "metadata: {llmeval: {assert: [{contains: {expected: Paris}}]}}\n",
        "utf-8",
    )

    result = capitals.run("--llmeval-mutate")

    assert result.ret == 1
    lines = {line.partition(":")[0]: line for line in section(result)}
    assert "0 of " in lines["lax"]
    assert lines["strict"].endswith("wrong replies were caught")
    assert "strict: 10 of 10" in lines["strict"]
    assert lines["eval"].startswith("eval: ")
    result.stdout.fnmatch_lines(
        ["--llmeval-mutate: left alone, for they have no checks of replies: none"]
    )

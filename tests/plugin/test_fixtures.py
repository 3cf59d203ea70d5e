"""The fixtures: generator, judge, llm_client, llmeval; async bodies; native asserts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

HEAD = """
import asyncio
import pytest
from pytest_llmeval import assert_exact, assert_f1, assert_judge
from pytest_llmeval.metrics import exact, f1
"""

ROWS = [
    {"id": "a", "question": "Capital of Peru?", "expected": "Lima", "reply": "Lima"},
    {"id": "b", "question": "Capital of Oz?", "expected": "Oz", "reply": "Emerald"},
]


@pytest.fixture
def cities(suite: Suite) -> Suite:
    suite.rows("cities.jsonl", ROWS)
    return suite


def test_using_a_fixture_marks_a_test(suite: Suite) -> None:
    suite.write(
        app="def answer(prompt):\n    return prompt.upper()\n",
        test_it=HEAD
        + """
def test_used(generator):
    assert generator("hi").text == "HI"

def test_other():
    pass
""",
    )

    result = suite.run("-m", "llmeval", "--llmeval-generator=python:app:answer")

    result.assert_outcomes(passed=1, deselected=1)


def test_the_generator_takes_texts_and_messages(suite: Suite) -> None:
    suite.write(
        app="def answer(prompt):\n    return prompt\n",
        test_it=HEAD
        + """
def test_kinds(generator):
    assert generator("hi", system="be kind").text == "system: be kind\\n\\nuser: hi"
    assert generator([{"role": "user", "content": "hi"}]).text == "hi"
    assert generator.generate("hi").text == "hi"
""",
    )

    result = suite.run("--llmeval-generator=python:app:answer")

    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("generator(7)", "*a model is asked a case, a text or chat messages, not 7*"),
        ("generator([])", "*a model is asked a case, a text or chat messages*"),
        ("generator(['hi'])", "*a chat message has a role and a content, and 'hi' ha*"),
        (
            "generator('hi', prompt='x')",
            "*prompt= renders a case, and 'hi' is not one*",
        ),
    ],
)
def test_a_wrong_question_is_told(suite: Suite, call: str, message: str) -> None:
    suite.write(
        app="def answer(prompt):\n    return prompt\n",
        test_it=f"def test_it(generator):\n    assert {call}\n",
    )

    result = suite.run("--llmeval-generator=python:app:answer")

    result.stdout.fnmatch_lines([message])


def test_prompts_and_systems_can_be_given_in_the_call(cities: Suite) -> None:
    cities.write(
        app="def answer(prompt):\n    return prompt\n",
        prompts__short_j2="{{ expected }}?",
        test_it=HEAD
        + """
@pytest.mark.llmeval("cities.jsonl", prompt="{{ question }}", limit=1)
def test_it(case, generator):
    assert str(generator(case)) == "Capital of Peru?"
    assert str(generator(case, prompt="prompts/short.j2")) == "Lima?"
    assert "system: for a" in str(generator(case, system="for {{ id }}"))
""",
    )

    result = cities.run("--llmeval-generator=python:app:answer")

    result.assert_outcomes(passed=1)


def test_a_fixture_of_the_project_wins(suite: Suite) -> None:
    suite.write(
        conftest="""
import pytest

@pytest.fixture
def generator():
    return lambda case: case.expected
""",
        test_it=HEAD
        + """
@pytest.mark.llmeval([{"id": "a", "expected": "x"}])
def test_it(case, generator):
    assert_exact(generator(case), case)
""",
    )

    result = suite.run()

    result.assert_outcomes(passed=1)


def test_a_further_client_shares_the_record(cities: Suite) -> None:
    cities.write(
        test_it=HEAD
        + """
@pytest.fixture
def shout(llm_client):
    return llm_client(lambda prompt: prompt.upper(), name="shout")

@pytest.mark.llmeval("cities.jsonl", limit=1)
def test_it(case, shout):
    assert shout(case).text == "CAPITAL OF PERU?"
"""
    )

    result, report = cities.report()

    result.assert_outcomes(passed=1)
    call = report["cases"][0]["samples"][0]["calls"][0]
    assert (call["role"], call["response"]["text"]) == ("shout", "CAPITAL OF PERU?")


def test_a_client_of_a_callable_needs_a_name(suite: Suite) -> None:
    suite.write(test_it="def test_it(llm_client):\n    llm_client(str.upper)\n")

    result = suite.run()

    result.stdout.fnmatch_lines(["*needs a name=: reports tell it apart by it*"])


def test_scores_and_texts_are_recorded(suite: Suite) -> None:
    suite.write(
        test_it=HEAD
        + """
def test_it(llmeval):
    llmeval.score("latency", 0.25)
    llmeval.attach("trace", "step by step")
    assert True
"""
    )

    result, report = suite.report()

    sample = report["cases"][0]["samples"][0]
    result.assert_outcomes(passed=1)
    assert [(s["name"], s["value"]) for s in sample["scores"]] == [("latency", 0.25)]
    assert sample["attachments"] == {"trace": "step by step"}
    assert report["tests"][0]["metrics"]["latency"]["mean"] == 0.25


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("'x'", "*takes a number, not 'x'*"),
        ("True", "*takes a number, not True*"),
        ("float('nan')", "*takes a finite number, not nan*"),
    ],
)
def test_a_score_is_a_finite_number(suite: Suite, value: str, message: str) -> None:
    suite.write(test_it=f"def test_it(llmeval):\n    llmeval.score('x', {value})\n")

    result = suite.run()

    result.stdout.fnmatch_lines([message])


def test_all_checks_of_a_block_are_reported(cities: Suite) -> None:
    cities.write(
        test_it=HEAD
        + """
@pytest.mark.llmeval("cities.jsonl", generator="column:reply")
def test_it(case, generator, llmeval):
    response = generator(case)
    with llmeval.all_checks():
        assert_exact(response, case)
        assert_f1(response, case, threshold=0.5)
"""
    )

    result, report = cities.report()

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*2 checks did not hold (2 failed)*"])
    checks = report["cases"][1]["samples"][0]["scores"]
    assert [(c["name"], c["passed"]) for c in checks] == [
        ("exact", False),
        ("f1", False),
    ]


def test_two_checks_of_a_metric_need_a_name(cities: Suite) -> None:
    cities.write(
        test_it=HEAD
        + """
@pytest.mark.llmeval("cities.jsonl", generator="column:reply", limit=1)
def test_it(case, generator):
    assert_exact(generator(case), case)
    assert_exact("Lima", case)
"""
    )

    result, report = cities.report()

    result.stdout.fnmatch_lines(["*has a check named 'exact' already*"])
    assert report["cases"][0]["cause"] == "suite"


def test_async_bodies_run_without_another_plugin(cities: Suite) -> None:
    cities.write(
        test_it=HEAD
        + """
@pytest.mark.llmeval("cities.jsonl", generator="column:reply")
async def test_it(case, generator):
    await asyncio.sleep(0)
    response = await generator.acall(case)
    assert_exact(response, case)
"""
    )

    result, report = cities.report()

    result.assert_outcomes(passed=1, failed=1)
    assert [case["status"] for case in report["cases"]] == ["passed", "failed"]


def test_a_blocking_call_in_an_async_body_names_the_awaitable(cities: Suite) -> None:
    cities.write(
        test_it=HEAD
        + """
@pytest.mark.llmeval("cities.jsonl", generator="column:reply", limit=1)
async def test_it(case, generator):
    generator(case)
"""
    )

    result, report = cities.report()

    result.stdout.fnmatch_lines(
        [
            ">       generator(case)",
            "*would block the event loop*await generator.acall*",
            "test_it.py:*: BlockingCallError",
        ]
    )
    assert report["cases"][0]["cause"] == "suite"


@pytest.mark.parametrize("repeat", [1, 2])
@pytest.mark.parametrize("limit", [1, 2], ids=["alone", "siblings"])
def test_an_error_in_an_async_body_shows_its_line_and_none_of_ours(
    cities: Suite, limit: int, repeat: int
) -> None:
    cities.write(
        test_it=HEAD
        + f"""
def broken(prompt):
    raise OSError("no disk")

@pytest.mark.llmeval("cities.jsonl", generator=broken, limit={limit}, repeat={repeat})
async def test_it(case, generator):
    await generator.acall(case)
"""
    )

    result = cities.run()

    result.stdout.fnmatch_lines(
        [
            ">   *raise OSError*",
            ">       await generator.acall(case)",
            "E       pytest_llmeval.UnscoredError: broken raised OSError: no disk",
        ]
    )
    result.stdout.no_fnmatch_line("*pytest_llmeval?[a-z]*.py:*")


def test_an_application_that_takes_other_arguments_shows_no_line_of_ours(
    cities: Suite,
) -> None:
    cities.write(
        test_it=HEAD
        + """
def answer(question, language):
    return "Paris"

@pytest.mark.llmeval("cities.jsonl", generator=answer, limit=1)
def test_it(case, generator):
    generator(case)
"""
    )

    result = cities.run()

    result.stdout.fnmatch_lines(
        ["TypeError: answer() missing 1 required positional argument: 'language'"]
    )
    result.stdout.no_fnmatch_line("*pytest_llmeval?[a-z]*.py:*")


def test_a_column_that_is_not_there_shows_the_line_that_asked(cities: Suite) -> None:
    cities.write(
        test_it=HEAD
        + """
@pytest.mark.llmeval("cities.jsonl", limit=1)
def test_it(case):
    assert case["answer"]
"""
    )

    result = cities.run()

    result.stdout.fnmatch_lines(
        [
            '>       assert case["answer"]',
            "E       KeyError: *has no column 'answer'; *",
        ]
    )
    result.stdout.no_fnmatch_line("*pytest_llmeval?[a-z]*.py:*")


NATIVE = (
    HEAD
    + """
@pytest.mark.llmeval("cities.jsonl", generator="column:reply")
def test_it(case, generator):
    response = generator(case)
    assert {check}
"""
)


@pytest.mark.parametrize(
    "check",
    [
        "f1(response, case) >= 0.5",
        "0.5 <= f1(response, case)",
        "f1(response, case) == 1",
        "not f1(response, case) < 0.5",
        "exact(response, case)",
    ],
)
def test_plain_asserts_on_scores_decide_and_are_recorded(
    cities: Suite, check: str
) -> None:
    cities.write(test_it=NATIVE.format(check=check))

    result, report = cities.report()

    result.assert_outcomes(passed=1, failed=1)
    scores = [case["samples"][0]["scores"] for case in report["cases"]]
    assert [len(found) for found in scores] == [1, 1]
    assert [found[0]["value"] for found in scores] == [1.0, 0.0]


@pytest.mark.parametrize("rewriting", [[], ["--assert=plain"]], ids=["hook", "plain"])
def test_a_plain_assert_shows_its_diff(cities: Suite, rewriting: list[str]) -> None:
    cities.write(test_it=NATIVE.format(check="f1(response, case) >= 0.5"))

    result = cities.run_alone(*rewriting)

    result.stdout.fnmatch_lines(
        [
            "*- llmeval -*",
            "f1 = 0.00, below the bar of 0.5",
            "expected  Oz",
            "reply     Emerald",
            "row       cities.jsonl:2",
            "rerun     pytest 'test_it.py::test_it?b?'",
        ]
    )


def test_the_assertion_hook_gives_a_headline_and_a_diff(cities: Suite) -> None:
    cities.write(test_it=NATIVE.format(check="0.5 <= f1(response, case)"))

    result = cities.run()

    result.stdout.fnmatch_lines(
        [
            "E*assert f1 = 0.00, below the bar of 0.5",
            "E         expected  Oz",
            "E         reply     Emerald",
        ]
    )


def test_a_graded_score_alone_is_no_assertion(cities: Suite) -> None:
    cities.write(test_it=NATIVE.format(check="f1(response, case)"))

    result = cities.run()

    result.stdout.fnmatch_lines(["*f1 is graded from 0 to 1, so it is neither true*"])
    result.assert_outcomes(passed=0)

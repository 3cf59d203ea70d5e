"""A fixture of several cases must not give one model's reply for another's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

APP = """
def one(text):
    return "one"

def two(text):
    return "two"
"""
TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.fixture({scope})
def reply(generator):
    return generator("hi")

@pytest.fixture({scope})
def parsed(reply):
    return reply

ROWS = [{{"id": "a", "expected": "{expected}"}}, {{"id": "b", "expected": "{expected}"}}]

@pytest.mark.llmeval(ROWS, generator={models})
def test_a(case, parsed):
    assert_exact(parsed, case)
"""
BOTH = '["python:app:one", "python:app:two"]'


def test_the_second_model_of_a_matrix_is_not_given_the_first_one_s_reply(
    suite: Suite,
) -> None:
    text = TEST.format(scope='scope="session"', expected="one", models=BOTH)
    suite.write(app=APP, test_a=text)

    result, report = suite.report()

    statuses = [(case["status"], case["cause"]) for case in report["cases"]]
    assert statuses == [("passed", None)] * 2 + [("unscored", "suite")] * 2
    text = " ".join(result.stdout.str().split())
    assert "the fixture 'reply' lives for the session and asked the generator" in text
    assert "this case is about 'python:app:two'" in text
    assert "leave out the fixture's scope" in text


def test_two_tests_with_models_of_their_own_are_told_too(suite: Suite) -> None:
    text = TEST.format(
        scope='scope="module"', expected="one", models='"python:app:one"'
    )
    second = text[text.index("@pytest.mark") :].replace("test_a", "test_b")
    suite.write(app=APP, test_a=text + second.replace("app:one", "app:two"))

    _, report = suite.report()

    statuses = [case["status"] for case in report["cases"]]
    assert statuses == ["passed"] * 2 + ["unscored"] * 2


@pytest.mark.parametrize("model", ["one", "two"])
def test_one_model_may_be_asked_once_for_all(suite: Suite, model: str) -> None:
    text = TEST.format(
        scope='scope="session"', expected=model, models=f'"python:app:{model}"'
    )
    suite.write(app=APP, test_a=text)

    suite.run().assert_outcomes(passed=2)


def test_a_fixture_set_up_for_every_case_asks_each_one_s_model(suite: Suite) -> None:
    text = TEST.format(scope="", expected="x", models=BOTH)
    suite.write(app=APP, test_a=text.replace("assert_exact(parsed, case)", "assert 0"))

    _, report = suite.report()

    replies = [case["samples"][0]["response"] for case in report["cases"]]
    assert replies == ["one", "one", "two", "two"]
    assert all(case["status"] == "failed" for case in report["cases"])


def test_a_fixture_that_is_gone_is_no_longer_held_against_anyone(suite: Suite) -> None:
    text = TEST.format(
        scope='scope="module"', expected="one", models='"python:app:one"'
    )
    suite.write(
        app=APP,
        test_a=text,
        test_b=text.replace("app:one", "app:two").replace(': "one"', ': "two"'),
    )

    suite.run().assert_outcomes(passed=4)

"""Replies of odd shape, seen in bug reports, through a whole suite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.conftest import FaultServer

CASES = Path(__file__).parents[1] / "data" / "cases"

ANSWERED = """
import pytest
from pytest_llmeval import assert_contains

CASES = [{"id": "a", "input": "Why?", "expected": "None"}]

@pytest.mark.llmeval(CASES, generator="lab", system="Be short.")
def test_a(case, generator):
    assert_contains(generator(case), case)
"""

JUDGED = """
import pytest
from pytest_llmeval import assert_judge

@pytest.mark.llmeval([{"id": "a", "input": "Why?"}], judge="lab")
def test_a(case, judge):
    assert_judge("Because.", case, judge, rubric="It is a reason.")
"""


def shape(name: str) -> Any:
    return json.loads((CASES / name).read_text("utf-8"))


@pytest.fixture
def lab_suite(suite: Suite, server: FaultServer) -> Suite:
    entry = f"provider: openai, base_url: '{server.base_url}', model: m-test"
    suite.write(
        llmeval_yaml=(
            "limits: {retries: 0}\n"
            "models:\n"
            f"  lab: {{{entry}}}\n"
            f"  plain: {{{entry}, system_role: user}}\n"
        )
    )
    return suite


def only_case(suite: Suite, test: str, *args: str) -> tuple[str, dict[str, Any]]:
    """Return what a suite of one test prints, and the data of its one case."""
    suite.write(test_a=test)
    result, data = suite.report(*args)
    (case,) = data["cases"]
    assert data["totals"]["failed"] == data["totals"]["passed"] == 0
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    return result.stdout.str(), case


def test_a_refusal_is_marked_and_shown(lab_suite: Suite, server: FaultServer) -> None:
    server.always(shape("n61_refusal.json"))

    printed, case = only_case(lab_suite, ANSWERED)

    assert (case["status"], case["cause"]) == ("unscored", "refused")
    assert "1 refused" in printed
    assert "I can't help with that." in printed
    assert "I can't help with that." in json.dumps(case)
    assert case["samples"][0]["response"] == ""


def test_a_judge_that_refuses_gives_no_verdict(
    lab_suite: Suite, server: FaultServer
) -> None:
    server.always(shape("n61_refusal.json"))

    printed, case = only_case(lab_suite, JUDGED)

    assert (case["status"], case["cause"]) == ("unscored", "judge")
    assert "I can't help with that." in printed


def test_tool_calls_without_text_are_told(
    lab_suite: Suite, server: FaultServer
) -> None:
    server.always(shape("n61_tool_calls.json"))

    printed, case = only_case(lab_suite, ANSWERED)

    assert (case["status"], case["cause"]) == ("unscored", "empty")
    assert "asked for tools (look_up) and said nothing" in printed
    assert case["samples"][0]["response"] == ""


def test_no_choices_is_an_error_that_is_not_kept(
    lab_suite: Suite, server: FaultServer
) -> None:
    server.always(shape("n63_no_choices.json"))

    printed, case = only_case(lab_suite, ANSWERED, "--llmeval-mode=record")

    assert (case["status"], case["cause"]) == ("unscored", "provider")
    assert "the reply of 'm-test' has no choices" in printed
    assert not list(lab_suite.path.rglob("llmeval_recordings/*.jsonl"))


@pytest.mark.parametrize("name", ["n65_length_answer.json", "n65_length_empty.json"])
def test_a_cut_answer_is_marked(
    lab_suite: Suite, server: FaultServer, name: str
) -> None:
    server.always(shape(name))

    printed, case = only_case(lab_suite, ANSWERED)

    assert (case["status"], case["cause"]) == ("unscored", "cut")
    assert "1 cut" in printed
    assert "was cut off at its token limit (finish_reason length)" in printed


def test_a_cut_judge_gives_no_verdict(lab_suite: Suite, server: FaultServer) -> None:
    server.always(shape("n65_length_judge.json"))

    printed, case = only_case(lab_suite, JUDGED)

    assert (case["status"], case["cause"]) == ("unscored", "cut")
    assert "the judge's reply was cut off at its token limit" in printed


def test_a_model_without_a_system_role_says_so_once(
    lab_suite: Suite, server: FaultServer
) -> None:
    body = shape("n67_error_system_role.json")
    server.always(body, status=400)

    printed, case = only_case(lab_suite, ANSWERED)

    assert (case["status"], case["cause"]) == ("unscored", "provider")
    assert body["error"]["message"] in printed
    assert "with system_role: user in its entry" in printed
    assert len(server.seen) == 1


def test_instructions_go_into_the_users_message(
    lab_suite: Suite, server: FaultServer
) -> None:
    lab_suite.write(test_a=ANSWERED.replace('"lab"', '"plain"').replace("None", "fine"))

    lab_suite.run().assert_outcomes(passed=1)

    assert [seen.data["messages"] for seen in server.seen] == [
        [{"role": "user", "content": "Be short.\n\nWhy?"}]
    ]

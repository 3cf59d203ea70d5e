"""A judge over the wire: its errors are its own, and those of one case alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.conftest import FaultServer, Seen

TEST = """
import pytest
from pytest_llmeval import assert_judge

CASES = [{"id": f"c{n}", "input": f"question c{n}", "reply": "x"} for n in ORDER]

@pytest.mark.llmeval(CASES, generator="column:reply", judge="grader")
def test_judged(case, generator, judge):
    assert_judge(generator(case), case, judge, rubric="Is it right?")
"""


@pytest.fixture
def judged(suite: Suite, server: FaultServer) -> Suite:
    entry = f"{{provider: openai, base_url: '{server.base_url}', model: m}}"
    suite.write(llmeval_yaml=f"models:\n  grader: {entry}\n")
    return suite


def all_but_c2(seen: Seen) -> Any:
    if b"question c2" in seen.body:
        return 400, {"error": {"message": "c2 is not to be judged"}}
    return {
        "choices": [{"message": {"content": "PASS: fine"}, "finish_reason": "stop"}]
    }


@pytest.mark.parametrize("order", [(1, 2, 3, 4), (4, 3, 2, 1)], ids=["up", "down"])
@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "xdist"])
def test_the_error_of_a_case_stays_its_own(
    judged: Suite, server: FaultServer, order: tuple[int, ...], workers: list[str]
) -> None:
    server.rule(all_but_c2)
    judged.write(test_a=TEST.replace("ORDER", repr(order)))

    result, data = judged.report(*workers)

    result.assert_outcomes(passed=3)
    cases = {case["case_id"]: case for case in data["cases"]}
    assert {name: case["status"] for name, case in cases.items()} == {
        "c1": "passed",
        "c2": "unscored",
        "c3": "passed",
        "c4": "passed",
    }
    assert cases["c2"]["cause"] == "judge"
    others = [str(case) for name, case in cases.items() if name != "c2"]
    assert not any("c2 is not to be judged" in text for text in others)


@pytest.mark.parametrize(
    ("message", "finish", "words"),
    [
        ({"content": None, "refusal": "I can't help with that."}, "stop", "can't help"),
        ({"content": '{"reason": "so the verdict is PASS'}, "length", "token limit"),
        ({"content": ""}, "length", "token limit"),
    ],
)
def test_a_judge_that_refuses_or_is_cut_off_gives_no_verdict(
    judged: Suite,
    server: FaultServer,
    message: dict[str, Any],
    finish: str,
    words: str,
) -> None:
    server.always({"choices": [{"message": message, "finish_reason": finish}]})
    judged.write(test_a=TEST.replace("ORDER", "[1]"))

    result, data = judged.report()

    result.assert_outcomes(passed=0, failed=0)
    assert data["cases"][0]["status"] == "unscored"
    assert words in result.stdout.str()


@pytest.mark.parametrize(
    ("message", "finish", "cause", "words"),
    [
        ({"content": "The three causes are: first, the"}, "length", "cut", "length"),
        ({"content": ""}, "length", "cut", "token limit"),
        ({"content": ""}, "stop", "empty", "empty"),
        (
            {"content": None, "refusal": "I can't help with that."},
            "stop",
            "refused",
            "I can't help with that.",
        ),
        (
            {"content": None, "tool_calls": [{"id": "t1", "function": {"name": "f"}}]},
            "tool_calls",
            "empty",
            "asked for tools (f) and said nothing",
        ),
        ({"content": "None"}, "content_filter", "cut", "a content filter took"),
        ({"content": "None"}, "error", "provider", "broke off"),
    ],
)
def test_a_generator_without_an_answer_is_unscored(
    judged: Suite,
    server: FaultServer,
    message: dict[str, Any],
    finish: str,
    cause: str,
    words: str,
) -> None:
    server.always({"choices": [{"message": message, "finish_reason": finish}]})
    judged.write(
        test_a="""
import pytest
from pytest_llmeval import assert_f1

CASES = [{"id": "a", "input": "hi", "expected": "None"}]

@pytest.mark.llmeval(CASES, generator="grader")
def test_a(case, generator):
    assert_f1(generator(case), case, threshold=0.5)
"""
    )

    result, data = judged.report()

    assert data["cases"][0]["status"] == "unscored"
    assert data["cases"][0]["cause"] == cause
    assert words in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED

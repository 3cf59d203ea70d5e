"""aimock: bodies that are no JSON and connections that drop, on every interface."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from pytest_llmeval.types import Usage

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.peers.conftest import Peer


def asked(aimock: str) -> int:
    """Return how many requests have come."""
    return len(httpx.get(f"{aimock}/__aimock/journal").json())


def test_a_reply_is_read(peer: Peer) -> None:
    response = peer.ask("hi", params={"max_tokens": 50, "temperature": 0})

    assert (response.text, response.finish_reason) == ("catch-all", "stop")
    assert response.usage == Usage(input_tokens=11, output_tokens=2)


def test_a_body_that_is_no_json_is_an_error_that_shows_it(
    peer: Peer, aimock: str
) -> None:
    error = peer.error("malformed")

    assert "the reply is not JSON (application/json): '{malformed json" in error.reason
    assert error.cause == "provider"


def test_a_dropped_connection_is_tried_again_finitely(peer: Peer, aimock: str) -> None:
    before = asked(aimock)

    error = peer.error("dropped", retries=1)

    assert "the server closed the connection" in error.reason
    assert error.is_transient
    assert asked(aimock) - before == 2


def test_a_rate_limit_says_how_long_to_wait(peer: Peer) -> None:
    error = peer.error("limited")

    assert "too many requests (429): Rate limited" in error.reason
    assert error.retry_after_seconds == 3


def test_a_bad_gateway_is_told_in_its_words(peer: Peer) -> None:
    error = peer.error("gateway")

    assert "the server failed (502): upstream is gone" in error.reason
    assert error.is_transient


def test_a_cut_reply_says_so(peer: Peer) -> None:
    response = peer.ask("length")

    assert (response.text, response.finish_reason) == ("cut by", "length")


@pytest.mark.parametrize("provider", ["openai", "gemini"], indirect=True)
def test_a_filtered_reply_says_so(peer: Peer) -> None:
    assert peer.ask("filtered").finish_reason == "content_filter"


def test_reasoning_is_kept_apart(peer: Peer) -> None:
    response = peer.ask("thinking")

    assert (response.text, response.reasoning) == ("4", "2+2")


def test_text_and_tool_calls_are_read_apart(peer: Peer) -> None:
    response = peer.ask("weather")

    assert (response.text, response.finish_reason) == ("I look.", "tool_calls")
    assert [(call["name"], call["arguments"]) for call in response.tool_calls] == [
        ("look_up", {"city": "Rome"})
    ]


def test_a_suite_scores_what_came_and_nothing_else(peer: Peer, suite: Suite) -> None:
    entry: dict[str, Any] = peer.entry()
    del entry["limits"]
    suite.write(
        llmeval_yaml=json.dumps(
            {
                "generator": "app",
                "judge": "app",
                "models": {"app": entry},
                "limits": {"retries": 0},
            }
        ),
        test_a="""
import pytest
from pytest_llmeval import Case, assert_contains, assert_judge

CASES = [
    {"id": word, "input": word, "expected": "catch-all"}
    for word in ("fine", "malformed", "dropped", "limited", "length")
]

@pytest.mark.llmeval(CASES)
def test_a(case, generator):
    assert_contains(generator(case), case)

def test_judged(judge):
    case = Case(id="a", input="Peru?")
    assert_judge("Lima", case, judge, rubric="judge: is it right?")
""",
    )

    _, data = suite.report()

    assert {
        case["case_id"]: (case["status"], case["cause"]) for case in data["cases"]
    } == {
        "fine": ("passed", None),
        "malformed": ("unscored", "provider"),
        "dropped": ("unscored", "provider"),
        "limited": ("unscored", "provider"),
        "length": ("unscored", "cut"),
        "test_judged": ("passed", None),
    }

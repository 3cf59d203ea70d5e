"""What a run costs, through pytest and a server that tells its tokens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.conftest import FaultServer, Seen

TEST = """
import pytest
from pytest_llmeval import assert_judge

@pytest.mark.llmeval([{"id": "a", "input": "hi"}, {"id": "b", "input": "ho"}])
def test_rows(case, generator, judge):
    assert_judge(generator(case), case, judge, rubric="Is polite.")
"""

PRICES = {"input": 2, "output": 10, "cached_input": 0.5}
#: A call of each model: 600 fresh and 400 cached tokens in, 100 out (90 of them thought).
GENERATED = (600 * 2 + 400 * 0.5 + 100 * 10) / 10**6
JUDGED = (600 * 20 + 400 * 5 + 100 * 100) / 10**6


def counted(seen: Seen) -> Any:
    return {
        "model": "m-test",
        "choices": [{"message": {"content": "PASS fine"}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 1000,
            "completion_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 400},
            "completion_tokens_details": {"reasoning_tokens": 90},
        },
    }


def config(server: FaultServer, *, judge_prices: dict[str, float] | None) -> str:
    lab = {"provider": "openai", "base_url": server.base_url, "model": "m-test"}
    models = {
        "lab": {**lab, "prices": PRICES},
        "grader": {**lab, "model": "m-grader", "prices": judge_prices or {}},
    }
    return f"generator: lab\njudge: grader\nmodels: {json.dumps(models)}\n"


@pytest.fixture
def lab_suite(suite: Suite, server: FaultServer) -> Suite:
    server.rule(counted)
    prices = {name: price * 10 for name, price in PRICES.items()}
    suite.write(llmeval_yaml=config(server, judge_prices=prices), test_a=TEST)
    return suite


def test_each_token_is_paid_once_and_told_apart_by_role(lab_suite: Suite) -> None:
    result, data = lab_suite.report()

    test = data["tests"][0]
    assert test["cost"] == pytest.approx(2 * GENERATED + 2 * JUDGED, rel=1e-12)
    assert test["cost_live"] == test["cost"]
    assert test["cost_by_role"] == pytest.approx(
        {"generator": 2 * GENERATED, "judge": 2 * JUDGED}, rel=1e-12
    )
    assert (test["cost_known_calls"], test["cost_calls"]) == (4, 4)
    result.stdout.fnmatch_lines(["*cost $0.0528 · generator $0.0048, judge $0.0480*"])


def test_what_is_on_file_has_a_price_and_costs_nothing_now(lab_suite: Suite) -> None:
    lab_suite.run("--llmeval-mode=record")

    cached, from_cache = lab_suite.report("--llmeval-mode=auto")
    (lab_suite.path / "llmeval_recordings" / "test_a.jsonl").rename("gone")
    _, from_cache = lab_suite.report()

    test = from_cache["tests"][0]
    assert test["origins"]["cached"] == 4
    assert test["cost"] == pytest.approx(2 * GENERATED + 2 * JUDGED, rel=1e-12)
    assert test["cost_live"] == 0
    # How much a server had cached is no part of a recording: the whole price.
    cached.stdout.fnmatch_lines(["*cost $0.0660 ($0 of it now)"])


def test_a_price_that_is_not_known_makes_the_cost_a_least_one(
    lab_suite: Suite, server: FaultServer
) -> None:
    lab_suite.write(llmeval_yaml=config(server, judge_prices=None))

    result, data = lab_suite.report()

    test = data["tests"][0]
    assert test["cost"] == pytest.approx(2 * GENERATED, rel=1e-12)
    assert (test["cost_known_calls"], test["cost_calls"]) == (2, 4)
    result.stdout.fnmatch_lines(
        ["*cost at least $0.0048", "*cost unknown for 2 of 4 calls*"]
    )


def test_a_server_that_tells_no_tokens_has_no_known_cost(
    lab_suite: Suite, server: FaultServer
) -> None:
    server.always({"choices": [{"message": {"content": "PASS fine"}}]})

    result, data = lab_suite.report()

    assert data["tests"][0]["cost"] is None
    result.stdout.fnmatch_lines(["*cost unknown for 4 calls*"])


def test_prices_change_without_asking_again(
    lab_suite: Suite, server: FaultServer
) -> None:
    lab_suite.run()
    asked = len(server.seen)
    lab_suite.write(llmeval_yaml=config(server, judge_prices={"input": 0, "output": 0}))

    _, data = lab_suite.report()

    assert len(server.seen) == asked
    assert data["tests"][0]["cost"] == pytest.approx(2 * GENERATED, rel=1e-12)

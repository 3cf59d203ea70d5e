"""Judges on real wires (structure, not wisdom), and judges that are of no use."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.conftest import FaultServer, Real, Seen

TEST = """
import pytest
from pytest_llmeval import assert_judge, assert_pairwise

CASES = [{"id": "sky", "input": "What color is the sky?", "reply": "Blue."}]

@pytest.mark.llmeval(CASES, generator="column:reply")
def test_judged(case, generator, judge):
    assert_judge(generator(case), case, judge, rubric="It names a color.")

@pytest.mark.llmeval(CASES, generator="column:reply")
def test_compared(case, generator, judge):
    expect = ("win", "tie", "loss", "inconsistent")
    assert_pairwise(generator(case), case, judge, against="Cats.", expect=expect)
"""


@pytest.mark.parametrize(
    ("provider", "options"),
    [("openai", {"json_schema": True}), ("openai", {}), ("anthropic", {})],
    ids=["openai with a schema", "openai", "anthropic"],
)
def test_a_real_model_s_words_become_verdicts_or_none(
    suite: Suite,
    real: Real,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    options: dict[str, Any],
) -> None:
    monkeypatch.setenv("REAL_KEY", real.key)
    entry = {
        "provider": provider,
        "base_url": real.base_url,
        "model": "smollm2",
        "api_key_env": "REAL_KEY",
        "params": {"temperature": 0, "max_tokens": 60},
        **options,
    }
    suite.write(
        llmeval_yaml=json.dumps({"judge": "grader", "models": {"grader": entry}}),
        test_a=TEST,
    )

    _, data = suite.report()

    judged, compared = data["cases"]
    for case in (judged, compared):
        assert case["status"] in {"passed", "failed", "unscored"}
        assert case["cause"] in {None, "judge", "cut", "inconsistent"}
        (check,) = case["samples"][0]["scores"]
        votes = check["judge"].get("votes") or check["judge"]["orders"]
        for vote in votes:
            assert (vote["judge"], vote["model"]) == ("grader", "smollm2")
            assert vote["tokens"] > 0
            assert (vote["said"] is None) == (vote["cause"] is not None)
            assert vote["reason"]
        assert check["judge"]["fingerprint"]["reader"]
    (verdict,) = judged["samples"][0]["scores"]
    said = {"passed": "PASS", "failed": "FAIL", "unscored": None}[judged["status"]]
    assert verdict["judge"]["verdict"] == said


# --- of no use -----------------------------------------------------------------------

MANY = """
import pytest
from pytest_llmeval import assert_contains, assert_judge

CASES = [{"id": f"c{n}", "input": f"question c{n}", "reply": "x"} for n in range(3)]

@pytest.mark.llmeval(CASES, generator="column:reply", judge="grader")
def test_judged(case, generator, judge):
    assert_judge(generator(case), case, judge)

@pytest.mark.llmeval(CASES, generator="column:reply")
def test_plain(case, generator):
    assert_contains(generator(case), "x")
"""


def words(content: str) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}


def nonsense(server: FaultServer) -> None:
    server.always(words("Bananas are yellow."))


def down(server: FaultServer) -> None:
    server.stop_listening()


def hangs(server: FaultServer) -> None:
    held = server.held()
    server.rule(lambda seen: held if b"question c1" in seen.body else words("PASS: a"))


def fails(server: FaultServer) -> None:
    def rule(seen: Seen) -> Any:
        if b"question c1" in seen.body:
            return 500, {"error": {"message": "no more"}}
        return words("PASS: a")

    server.rule(rule)


@pytest.mark.parametrize(
    ("prepare", "unscored", "reason"),
    [
        (nonsense, {"c0", "c1", "c2"}, "says neither PASS nor FAIL"),
        (down, {"c0", "c1", "c2"}, "the judge could not be asked"),
        (hangs, {"c1"}, "the judge could not be asked"),
        (fails, {"c1"}, "the judge could not be asked"),
    ],
    ids=["nonsense", "down", "hangs", "fails"],
)
def test_a_judge_of_no_use_leaves_its_cases_unscored_and_the_others_alone(
    suite: Suite,
    server: FaultServer,
    prepare: Any,
    unscored: set[str],
    reason: str,
) -> None:
    entry = f"{{provider: openai, base_url: '{server.base_url}', model: m}}"
    suite.write(
        llmeval_yaml=f"models:\n  grader: {entry}\n"
        "limits: {retries: 0, timeout_seconds: 4, deadline_seconds: 8}\n",
        test_a=MANY,
    )
    prepare(server)

    result, data = suite.report()

    assert result.ret == 1
    found = {
        case["case_id"]: case for case in data["cases"] if "judged" in case["nodeid"]
    }
    assert {name for name, c in found.items() if c["status"] == "unscored"} == unscored
    for name in unscored:
        assert found[name]["cause"] == "judge"
        assert reason in found[name]["reason"]
    rest = [
        c
        for c in data["cases"]
        if c["case_id"] not in unscored or "plain" in c["nodeid"]
    ]
    assert {case["status"] for case in rest} == {"passed"}

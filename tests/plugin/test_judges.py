"""Judges in a suite: panels, votes, recordings of votes, what a failure shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

YAML = """
models:
  one: {provider: fake, model: one.jsonl}
  two: {provider: fake, model: two.jsonl}
  three: {provider: fake, model: three.jsonl}
  panel: {panel: [one, two, three]}
"""
TEST = """
import pytest
from pytest_llmeval import assert_judge

@pytest.mark.llmeval([{"id": "peru", "input": "Peru?", "reply": "Lima"}],
                     generator="column:reply", judge="JUDGE")
def test_a(case, generator, judge):
    assert_judge(generator(case), case, judge, rubric="Names it."OPTIONS)
"""


def judged(suite: Suite, judge: str, options: str = "", **said: list[str]) -> Suite:
    suite.write(
        llmeval_yaml=YAML,
        test_a=TEST.replace("JUDGE", judge).replace("OPTIONS", options),
    )
    for name in ("one", "two", "three"):
        suite.rows(f"{name}.jsonl", [{"reply": said.get(name, ["PASS: fine"])}])
    return suite


def test_a_panel_decides_by_majority_and_shows_every_vote(suite: Suite) -> None:
    judged(suite, "panel", one=["FAIL: no year"], three=["FAIL: no date"])

    result, data = suite.report()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*judge failed: the judge said FAIL (2 of 3 votes, unstable): no year",
            "*  vote      one 1: FAIL: no year",
            "*  vote      two 1: PASS: fine",
            "*  vote      three 1: FAIL: no date",
            "    judge unstable in 1 of 1 verdict (votes differ 67 %)",
        ]
    )
    check = data["cases"][0]["samples"][0]["scores"][0]
    assert [vote["judge"] for vote in check["judge"]["votes"]] == [
        "one",
        "two",
        "three",
    ]
    assert data["judge"]["unstable"] == 1


def test_a_member_that_is_down_decides_nothing(suite: Suite) -> None:
    judged(suite, "panel", one=["FAIL: a"])
    suite.rows("three.jsonl", [{"error": "no more credit"}])

    result, data = suite.report()

    assert data["cases"][0]["status"] == "unscored"
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["*3 votes have no majority: FAIL 1, PASS 1, no verdict 1*"]
    )


def test_votes_are_recorded_and_replayed_each_by_itself(suite: Suite) -> None:
    judged(suite, "one", ", votes=3", one=["PASS: a", "FAIL: b", "PASS: c"])

    suite.run("--llmeval-mode=record").assert_outcomes(passed=1)

    lines = (suite.path / "llmeval_recordings" / "test_a.jsonl").read_text("utf-8")
    replies = [
        json.loads(line)
        for line in lines.splitlines()
        if "PASS" in line or "FAIL" in line
    ]
    assert len(replies) == 3
    (suite.path / "one.jsonl").write_text('{"error": "asked again"}\n')
    result, data = suite.report("--llmeval-mode=replay")
    result.assert_outcomes(passed=1)
    votes = data["cases"][0]["samples"][0]["scores"][0]["judge"]["votes"]
    assert [vote["said"] for vote in votes] == ["PASS", "FAIL", "PASS"]


@pytest.mark.parametrize(
    ("judge", "generator"), [("one", "panel")], ids=["as a generator"]
)
def test_a_panel_can_not_be_what_is_tested(
    suite: Suite, judge: str, generator: str
) -> None:
    judged(suite, judge)
    text = (suite.path / "test_a.py").read_text("utf-8")
    suite.write(test_a=text.replace("column:reply", generator))

    result = suite.run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*'panel' is a panel, which judges and can't reply*"])


def test_a_panel_that_names_a_judge_twice_is_refused(suite: Suite) -> None:
    judged(suite, "panel")
    suite.write(llmeval_yaml=YAML.replace("[one, two, three]", "[one, one]"))

    result = suite.run()

    assert result.ret != 0
    text = result.stdout.str() + result.stderr.str()
    assert "the panel names 'one' twice" in text


def test_a_score_map_shows_label_value_and_bar(suite: Suite) -> None:
    judged(
        suite,
        "one",
        ", score_map={'Good': 1, 'Fair': 0.5, 'Bad': 0}, threshold=1",
        one=["It rambles.\nVerdict: Fair"],
    )

    result = suite.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*judge = 0.50, below the bar of 1", "*  judge     Fair: It rambles."]
    )

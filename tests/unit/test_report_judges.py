"""How steady a judge was, told apart from what it judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_llmeval.judging import settle
from pytest_llmeval.report import json_file, terminal
from pytest_llmeval.report.build import build_report
from pytest_llmeval.report.judges import JudgeCounter, JudgeSummary
from pytest_llmeval.types import Check, Record, Verdict, Vote


def check(judge: Any, *, passed: bool | None = True) -> dict[str, Any]:
    return Check(
        metric="judge",
        name="judge",
        value=None if passed is None else float(passed),
        operator="==",
        threshold=1.0,
        passed=passed,
        judge=judge,
    ).to_json()


def verdict(*said: str | None) -> dict[str, Any]:
    votes = tuple(Vote(said=word, index=index) for index, word in enumerate(said))
    return Verdict(verdict="PASS", votes=votes).to_json()


def record(*samples: Sequence[dict[str, Any]], name: str = "a") -> Record:
    return Record(
        nodeid=f"t.py::t[{name}]",
        test="t.py::t",
        case_id=name,
        status="passed",
        samples=tuple(
            {"index": i, "status": "passed", "cause": None, "reason": "", "calls": (),
             "checks": list(checks), "attachments": {}}
            for i, checks in enumerate(samples)
        ),
    )  # fmt: skip


def summary(*records: Record) -> JudgeSummary:
    counter = JudgeCounter()
    for one in records:
        counter.add(one)
    return counter.summary()


def test_votes_that_differ_make_a_verdict_unstable() -> None:
    found = summary(
        record([check(verdict("PASS", "PASS", "FAIL"))]),
        record([check(verdict("PASS", "PASS", "PASS"))], name="b"),
        record([check(verdict("FAIL"))], name="c"),
        record([check(verdict(None, "PASS"), passed=None)], name="d"),
    )

    assert (found.verdicts, found.voted, found.unstable) == (4, 3, 1)
    assert found.undecided == 1
    assert found.disagreement == pytest.approx(2 / 6)
    assert (
        next(found.texts()) == "judge unstable in 1 of 3 verdicts (votes differ 33 %)"
    )


def test_samples_that_differ_are_no_disagreement_of_votes() -> None:
    steady = verdict("PASS", "PASS")
    found = summary(record([check(steady)], [check(steady, passed=False)]))

    assert (found.disagreement, found.generator_disagreement) == (0.0, 1.0)
    assert "samples differ 100 %" in list(found.texts())


@pytest.mark.parametrize(
    ("first", "swapped", "favours"),
    [
        ("Response A", "Response A", "first"),
        ("Response B", "Response B", "second"),
        ("Tie", "Response A", None),
        ("Response A", "Response B", None),
        ("Response A", None, None),
    ],
)
def test_a_place_that_is_preferred_in_both_orders_is_kept(
    first: str, swapped: str | None, favours: str | None
) -> None:
    assert settle(first, swapped).favours == favours


def test_position_bias_is_the_share_of_pairs_decided_by_the_place() -> None:
    labels = [
        ("Response A", "Response A"),
        ("Response B", "Response B"),
        ("Response B", "Response A"),
        ("Tie", "Response A"),
        ("Response A", None),
    ]
    found = summary(
        *(
            record([check(settle(*pair).to_json())], name=str(number))
            for number, pair in enumerate(labels)
        )
    )

    assert (found.pairs, found.inconsistent) == (4, 3)
    assert (found.favours_first, found.favours_second) == (1, 1)
    assert found.position_bias == 0.5
    assert list(found.texts()) == [
        "position bias 2 of 4 pairs (50 %, 15–85)",
        "otherwise inconsistent 1",
    ]


def test_terminal_and_json_show_it() -> None:
    pair = settle("Response A", "Response A").to_json()
    report = build_report([record([check(pair, passed=None)])], {})

    lines = [line.text for line in terminal.render(report)]
    assert "    position bias 1 of 1 pair (100 %, 21–100)" in lines
    data = json_file.render(report)
    assert data["judge"]["position_bias"] == 1.0
    assert data["tests"][0]["judge"]["pairs"] == 1


def test_a_test_without_a_judge_says_nothing_of_one() -> None:
    report = build_report([record([check(None)])], {})

    assert list(report.rows[0].judge.texts()) == []
    assert report.judge == JudgeSummary()

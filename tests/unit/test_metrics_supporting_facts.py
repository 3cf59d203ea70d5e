"""HotpotQA's supporting facts and joint scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval import metrics
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics import hotpot_scores, joint_f1, supporting_facts
from pytest_llmeval.types import Case, Source

DATA = Path(__file__).parents[1] / "data" / "hotpot_sp_joint_vectors.jsonl"
#: Our names of the official script's.
NAMES = {"prec": "precision"}


def rows() -> list[dict[str, Any]]:
    lines = DATA.read_text("utf-8").split("\n")
    found = [json.loads(line) for line in lines if line]
    return [row for row in found if row["id"] != "sp-all"]


def case(**values: Any) -> Case:
    fields = {"supporting_facts": [["T1", 0], ["T2", 1]]}
    source = Source(file="d.jsonl", line=3)
    made = {"id": "a", "expected": "Paris", "fields": fields, "source": source}
    return Case(**{**made, **values})


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["id"])
def test_all_values_are_those_of_the_official_script(row: dict[str, Any]) -> None:
    found = hotpot_scores(row["answer"], row["gold_answer"], row["sp"], row["gold_sp"])

    for name, right in row["metrics"].items():
        value = getattr(found, name.replace("prec", "precision"))
        assert value == pytest.approx(right, abs=1e-12, rel=0), name


def test_missing_facts_count_nothing() -> None:
    found = hotpot_scores("Paris", "Paris", None, [["T1", 0]])

    assert (found.f1, found.sp_f1, found.joint_f1) == (1, 0, 0)


@pytest.mark.parametrize("key", ["supporting_facts", "sp"])
def test_answer_and_facts_stand_in_the_reply(key: str) -> None:
    reply = json.dumps({"answer": "in Paris", key: [["T1", 0], ["T3", 1]]})

    assert supporting_facts(reply, case()).value == pytest.approx(0.5)
    joint = joint_f1(f"```json\n{reply}\n```", case())
    assert joint.value == pytest.approx(2 * 0.25 * 0.5 / 0.75)
    assert joint.details["values"].em == 0


def test_facts_may_be_given_beside_the_answer() -> None:
    facts = [("T1", 0), ("T2", 1)]

    assert joint_f1("Paris", case(), facts=facts) == 1
    assert joint_f1("Lyon", case(), facts=facts) == 0
    assert supporting_facts("Lyon", case(), facts=facts[:1]).value == pytest.approx(
        2 / 3
    )


def test_the_hubs_form_of_the_column_is_read() -> None:
    fields = {"supporting_facts": {"title": ["T1", "T2"], "sent_id": [0, 1]}}

    assert joint_f1("Paris", case(fields=fields), facts=[["T1", 0], ["T2", 1]]) == 1


def test_the_best_of_several_answers_counts() -> None:
    row = case(expected=["Lyon", "Paris"])

    assert joint_f1("Paris", row, facts=[["T1", 0], ["T2", 1]]) == 1


@pytest.mark.parametrize(
    "reply", ["Paris", '{"answer": "Paris"}', '{"answer": "Paris", "sp": [1]}', "[1]"]
)
def test_a_reply_without_facts_names_none(reply: str) -> None:
    score = joint_f1(reply, case())

    assert score == 0
    assert score.reason == "the reply names no supporting facts"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"q": 1}, " has no column supporting_facts; its columns: q"),
        (
            {"supporting_facts": ["T1"]},
            ": supporting_facts are ['T1'], not [[title, index], ...]",
        ),
    ],
)
def test_a_row_without_facts_is_unscored(fields: dict[str, Any], reason: str) -> None:
    score = supporting_facts("{}", case(fields=fields))

    assert (score.value, score.cause) == (None, "data")
    assert score.reason == f"case 'a' (d.jsonl:3){reason}"


def test_mistakes_of_a_test_are_refused() -> None:
    with pytest.raises(ConfigError, match="the right facts are needed: a case with"):
        joint_f1("Paris", "Paris")
    with pytest.raises(ConfigError, match="facts are pairs of a title and an index"):
        joint_f1("Paris", case(), facts=["T1"])


def test_the_explanation_shows_missing_and_extra_facts() -> None:
    lines = metrics.explain(joint_f1("in Paris", case(), facts=[["T1", 0], ["T3", 1]]))

    assert lines == [
        "precision 0.50, recall 1.00 of the answer",
        "precision 0.50, recall 0.50 of the facts",
        "missing   T2[1]",
        "extra     T3[1]",
        "reply     in Paris",
    ]

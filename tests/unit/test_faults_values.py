"""Replies that were read or scored wrongly elsewhere: the inputs of docs/faults.md."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval import metrics
from pytest_llmeval.judging import Juror, judge_reply, read_label, read_verdict, settle
from pytest_llmeval.types import Prompt, Response

if TYPE_CHECKING:
    from tests.conftest import Troubles


def values(metric: str, pairs: list[list[str]], **options: Any) -> list[float | None]:
    return [metrics.score(metric, *pair, **options).value for pair in pairs]


# --- what a judge said ---------------------------------------------------------------


def test_a_fenced_verdict_between_prose_is_read_and_asked_for_once(
    troubles: Troubles,
) -> None:
    asked: list[Prompt] = []

    async def ask(prompt: Prompt, schema: Mapping[str, Any], vote: int) -> Response:
        asked.append(prompt)
        return Response(text=troubles.input(1)["reply"])

    verdict = asyncio.run(
        judge_reply([Juror(ask=ask)], response="x", question="q", reference=None)
    )

    assert (verdict.verdict, verdict.reason) == ("PASS", "Cites the 2019 statute.")
    assert len(asked) == 1


def test_a_draft_in_the_thinking_is_no_verdict(troubles: Troubles) -> None:
    verdict = read_verdict(troubles.input(3)["reply"])

    assert verdict.verdict == "FAIL"
    assert verdict.reason == "Says miles, source says kilometres."


def test_a_verdict_is_never_a_truth_value_of_python(troubles: Troubles) -> None:
    found = [read_verdict(reply).verdict for reply in troubles.input(5)["replies"]]

    assert found == ["FAIL", "FAIL", "FAIL", None, None, None]


def test_the_stated_verdict_counts_and_not_a_word_before_it(
    troubles: Troubles,
) -> None:
    assert read_verdict(troubles.input(7)["reply"]).verdict == "FAIL"


def test_a_number_in_a_reply_keeps_its_point_and_its_digits(
    troubles: Troubles,
) -> None:
    own = [0.6, 0.6, 0.6, 72.5, 100, 1.0]
    for (_, reply), value in zip(troubles.input(11)["table"], own, strict=True):
        for other in {0.06, 6.0, 0.1, 0.6, 725, 72.5, 10, 100, 1.0}:
            right = float(other == value)
            assert metrics.score("number", reply, other).value == right, (reply, other)


def test_a_label_that_is_a_number_is_read_whole(troubles: Troubles) -> None:
    labels = ("0", "1", "6", "8", "10", "100")

    found = [read_label(reply, labels) for _, reply in troubles.input(11)["table"]]

    assert found[:4] == [None, None, None, None]
    assert found[4] == "100"


def test_a_preference_for_a_place_wins_for_nobody(troubles: Troubles) -> None:
    labels = {"first": "Response A", "second": "Response B", "tie": "Tie"}
    pairs = [
        settle(labels.get(one), labels.get(other))
        for one, other in troubles.input(69)["rows"]
    ]

    # B is the reply under test: what it loses A has won.
    assert [pair.outcome for pair in pairs] == [
        "loss",
        "win",
        None,
        None,
        "tie",
        None,
        None,
    ]
    assert [pair.cause for pair in pairs[5:]] == ["inconsistent", "judge"]
    assert Counter(pair.consistent for pair in pairs) == {True: 3, False: 3, None: 1}


# --- metrics -------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["exact", "f1"])
def test_an_answer_that_is_an_article_stays_an_answer(
    troubles: Troubles, metric: str
) -> None:
    assert values(metric, troubles.input(13)["pairs"]) == [1, 0, 0, 1]


@pytest.mark.parametrize("metric", ["exact", "f1"])
def test_texts_that_look_alike_are_alike(troubles: Troubles, metric: str) -> None:
    assert values(metric, troubles.input(15)["pairs"]) == [1, 1, 1, 0]


def test_without_normalisation_the_unicode_form_is_named(troubles: Troubles) -> None:
    composed = troubles.input(15)["pairs"][0]

    score = metrics.score("exact", *composed, preset="raw")

    assert score.value == 0
    assert score.reason == "the texts differ in Unicode form only"


def test_an_answer_equal_to_a_short_reference_has_full_bleu(
    troubles: Troubles,
) -> None:
    found = values("bleu", troubles.input(17)["pairs"])

    assert found == pytest.approx([1, 1, 1], abs=1e-9)
    assert max(value or 0 for value in found) <= 1


def test_the_end_of_a_number_is_another_number(troubles: Troubles) -> None:
    assert values("number", troubles.input(19)["pairs"]) == [0, 0, 1, 0, 1, 1]


def test_words_of_a_sentence_are_no_choices(troubles: Troubles) -> None:
    choices = ["north", "south", "east", "west"]
    readings = [
        metrics.read_choices(reply, choices) for reply in troubles.input(21)["outputs"]
    ]

    assert [reading.labels for reading in readings] == [
        (),
        ("D",),
        ("B",),
        (),
        ("C",),
    ]
    assert [reading.status for reading in readings] == [
        "none",
        "ok",
        "ok",
        "none",
        "ok",
    ]


def test_json_is_compared_as_json_and_not_as_python(troubles: Troubles) -> None:
    pairs = [
        [reply, json.loads(expected)] for reply, expected in troubles.input(23)["pairs"]
    ]

    assert values("json", pairs) == [1, 0, 1, 0, 0, 0, 0]

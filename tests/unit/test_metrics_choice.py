"""Picks against labels: one right, several right, labels that can't be."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval import EvalAssertionError, UnscoredError, assert_choice, metrics
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics import choice, pooled
from pytest_llmeval.types import Case, Response, Source

CITIES = ("Paris", "London", "Berlin", "Rome")


def case(**values: Any) -> Case:
    source = Source(file="d.jsonl", line=3)
    return Case(id="uk", **{"choices": CITIES, "source": source, **values})


@pytest.mark.parametrize("label", ["B", "b", "(B)", "London", 1, 1.0, "1"])
def test_a_label_is_a_letter_a_text_or_a_position(label: Any) -> None:
    assert choice("The answer is B.", case(label=label)) == 1
    assert choice("The answer is C.", case(label=label)) == 0


def test_positions_of_labels_count_from_the_declared_base() -> None:
    assert choice("D", case(label=4), label_base=1) == 1
    assert choice("0", case(label="A"), reply_base=0) == 1


def test_a_case_without_a_label_has_its_answer_in_expected() -> None:
    assert choice("B", case(expected="London")) == 1


def test_a_label_alone_needs_choices() -> None:
    assert choice("B", "London", choices=CITIES) == 1
    assert choice("A, B", ["A", "B"], choices=CITIES) == 1
    with pytest.raises(ConfigError, match="choices of the question are needed: give a"):
        choice("B", "London")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (
            {"label": 4},
            ": label 4 is out of range: 4 choices counted from 0 are 0 to 3; if the "
            "data set counts from 1, say label_base=1",
        ),
        ({"label": 9}, ": label 9 is out of range: 4 choices counted from 0 are 0 to 3"),
        ({"label": "E"}, ": label 'E' is no letter from A to D, no text of a choice and "
         "no position"),
        ({"label": "AC"}, ": label 'AC' is no letter from A to D, no text of a choice "
         "and no position"),
        ({"label": True}, ": label True is no letter from A to D, no text of a choice "
         "and no position"),
        ({"label": 1.5}, ": label 1.5 is no letter from A to D, no text of a choice and "
         "no position"),
        ({"label": ["A"]}, " has a list as its label, ['A']: several belong in labels"),
        ({"label": float("nan")}, " has no label; its columns: none"),
        ({}, " has no label; its columns: none"),
        ({"label": "A", "labels": ("A",)}, " has both label and labels: which of them is "
         "meant?"),
        ({"labels": ("A", 2)}, " mixes letters, positions or texts in its labels: "
         "['A', 2]"),
        ({"labels": (0, 9)}, ": label 9 is out of range: 4 choices counted from 0 are 0 "
         "to 3"),
        ({"label": "A", "choices": None}, " has no choices; its columns: none"),
        ({"label": "A", "choices": ("x", " ")}, " has an empty choice"),
        ({"label": "A", "choices": ()}, " has 0 choices; 1 to 26 can be read"),
        ({"label": "B", "choices": ("B", "A")}, ": label 'B' is the text of a choice and "
         "a letter, or two texts"),
    ],
)  # fmt: skip
def test_a_label_that_can_not_be_right_makes_the_case_unscored(
    values: dict[str, Any], reason: str
) -> None:
    score = choice("B", case(**values))

    assert (score.value, score.cause) == (None, "data")
    assert score.reason == f"case 'uk' (d.jsonl:3){reason}"


@pytest.mark.parametrize(
    ("reply", "value", "jaccard", "exact_set"),
    [
        ("A, C", 1, 1, 1),
        ("A", 2 / 3, 1 / 2, 0),
        ("A, B", 1 / 2, 1 / 3, 0),
        ("A, B, C, D", 2 / 3, 1 / 2, 0),
        ("B", 0, 0, 0),
        ("[]", 0, 0, 0),
        ("no idea", 0, 0, 0),
    ],
)
def test_several_labels_are_graded(
    reply: str, value: float, jaccard: float, exact_set: float
) -> None:
    row = case(labels=("A", "C"))

    assert choice(reply, row).value == pytest.approx(value)
    assert choice(reply, row, measure="jaccard").value == pytest.approx(jaccard)
    assert choice(reply, row, measure="exact_set").value == exact_set


def test_no_label_is_right_where_none_is_to_be_picked() -> None:
    score = choice("[]", case(labels=()))

    assert (score.value, score.details["jaccard"]) == (1, 1)
    assert choice("no idea", case(labels=())) == 0
    assert choice("B", case(labels=())).reason == (
        "the reply picks B ('London'), and no choice is right"
    )


def test_the_pooled_value_takes_all_labels_together() -> None:
    scores = [
        choice("A", case(labels=("A",))),
        choice("A, B, C", case(labels=("A", "D"))),
        choice("B", case(labels=(9,))),
    ]

    assert pooled(scores) == pytest.approx(2 * 2 / (1 + 1 + 3 + 2))
    assert pooled(scores[2:]) is None
    assert pooled([choice("[]", case(labels=()))]) == 1
    assert pooled([choice("no idea", case(labels=()))]) == 0


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("C", "the reply picks C ('Berlin'), not B ('London')"),
        ("no idea", "no choice found in the reply; right is B ('London')"),
        ("A or C", "the reply does not decide between A, C; right is B ('London')"),
        ("F", "the reply picks F, and choices are A to D; right is B ('London')"),
        ("I can't choose.", "the reply refuses to choose; right is B ('London')"),
    ],
)
def test_the_reason_says_what_was_read(reply: str, reason: str) -> None:
    assert choice(reply, case(label="B")).reason == reason


def test_an_unknown_measure_names_those_there_are() -> None:
    with pytest.raises(ConfigError, match="no measure 'f2'.*there are: f1, jaccard"):
        choice("A", case(label="A"), measure="f2")  # type: ignore[arg-type]


@pytest.mark.parametrize("base", [2, -1])
def test_a_base_there_is_not_is_refused(base: int) -> None:
    with pytest.raises(ConfigError, match="label_base is 0 or 1"):
        choice("A", case(label="A"), label_base=base)


def test_an_empty_reply_of_a_model_is_unscored() -> None:
    silent = Response(text="", provider="openai", model="m-1")

    assert choice(silent, case(label="A")).cause == "empty"
    assert choice(silent, case(labels=())).value == 0


def test_the_explanation_shows_labels_texts_and_where_it_was_read() -> None:
    lines = metrics.explain(choice("So it is C", case(label="B")))

    assert lines == [
        "expected  B. London",
        "picked    C. Berlin",
        "read      after 'So it is'",
        "reply     So it is C",
    ]


def test_the_explanation_of_several_shows_missing_and_extra_ones() -> None:
    lines = metrics.explain(choice("A, B", case(labels=("A", "C"))))

    assert lines == [
        "expected  A. Paris",
        "          C. Berlin",
        "picked    A. Paris",
        "          B. London",
        "read      the whole reply",
        "missing   C",
        "extra     B",
        "precision 0.50, recall 0.50",
        "reply     A, B",
    ]


def test_the_explanation_says_that_no_choice_was_found() -> None:
    lines = metrics.explain(choice("", case(label="B")))

    assert lines[1:] == ["picked    no choice found", "reply     (an empty text: '')"]


def test_assert_choice_returns_the_score_or_fails() -> None:
    assert assert_choice("B", case(label="B")).value == 1
    with pytest.raises(EvalAssertionError, match="choice failed: the reply picks C"):
        assert_choice("C", case(label="B"))


def test_assert_choice_holds_several_against_a_threshold() -> None:
    row = case(labels=("A", "C"))

    assert assert_choice("A", row, threshold=0.6).value == pytest.approx(2 / 3)
    with pytest.raises(EvalAssertionError, match="choice = 0.67, below the bar of 0.7"):
        assert_choice("A", row, threshold=0.7)
    with pytest.raises(EvalAssertionError, match="choice = 0.67, below the bar of 1"):
        assert_choice("A", row)


def test_assert_choice_takes_choices_bases_and_a_name() -> None:
    assert assert_choice("D", 4, choices=CITIES, label_base=1).value == 1
    assert assert_choice("0", "A", choices=CITIES, reply_base=0, name="x").value == 1


def test_assert_choice_gives_up_on_a_broken_row() -> None:
    with pytest.raises(UnscoredError, match="label 'E' is no letter from A to D"):
        assert_choice("B", case(label="E"))


def test_a_threshold_in_percent_is_refused() -> None:
    with pytest.raises(ConfigError, match="threshold=60 is not on the scale of choice"):
        assert_choice("B", case(label="B"), threshold=60)

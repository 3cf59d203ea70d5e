from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.types import (
    Case,
    Check,
    Prompt,
    Response,
    Score,
    Source,
    WrittenFloat,
    as_text,
    clean_json,
    comparison_noted,
)


def graded(value: float | None) -> Score:
    return Score(metric="f1", value=value, reason="row has no expected", cause="data")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "x"),
        (None, ""),
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (WrittenFloat("1.50"), "1.50"),
        (1.5, "1.5"),
        ({"a": ["ü"]}, '{"a": ["ü"]}'),
        ((1, 2), "[1, 2]"),
    ],
)
def test_a_value_is_the_text_a_model_reads(value: object, text: str) -> None:
    assert as_text(value) == text


def test_a_written_number_stays_as_written_through_pickle() -> None:
    number = pickle.loads(pickle.dumps(WrittenFloat("-0")))

    assert (str(number), number) == ("-0", 0.0)


def test_lone_surrogates_and_infinities_leave_as_plain_json() -> None:
    data = clean_json({"a\udc80": ["\udc80", float("inf"), float("nan"), {1, 2}]})

    text = json.dumps(data, allow_nan=False)
    assert "\\\\udc80" in text
    assert data["a\\udc80"][1:3] == ["inf", "nan"]


def test_a_case_gives_its_columns() -> None:
    case = Case(id="a", fields={"name": "Ana"})

    assert case["name"] == "Ana"


def test_a_missing_column_names_those_there_are() -> None:
    case = Case(id="a", fields={"name": "Ana", "age": 3})

    with pytest.raises(KeyError, match="case 'a' has no column 'nam'.*name, age"):
        case["nam"]


def test_a_case_prints_short() -> None:
    case = Case(id="a", source=Source(file="x.jsonl", line=3), input="long" * 100)

    assert repr(case) == "<Case 'a' x.jsonl:3>"


def test_a_prompt_of_one_message_is_its_text() -> None:
    assert Prompt.of("hi").text == "hi"


def test_a_prompt_with_a_system_message_names_roles() -> None:
    assert Prompt.of("hi", system="be kind").text == "system: be kind\n\nuser: hi"


def test_a_prompt_survives_json() -> None:
    data = [{"role": "user", "content": "hi", "name": "Ana"}]

    assert Prompt.from_json(data).to_json() == data


def test_extract_keeps_the_provenance() -> None:
    response = Response(text="Thought. Answer: 4", model="m", cost=0.1, origin="cache")

    part = response.extract(r"Answer: (\d+)")

    assert (part.text, part.model, part.cost, part.origin) == ("4", "m", 0.1, "cache")


def test_extract_takes_the_last_match() -> None:
    assert Response(text="1 then 2").extract(r"\d").text == "2"


def test_extract_without_a_match_is_unscored() -> None:
    with pytest.raises(UnscoredError, match=r"no part of the reply matches '\\\\d'"):
        Response(text="none").extract(r"\d")


@pytest.mark.parametrize(
    ("operator", "bar", "holds"),
    [
        (">=", 0.6, True),
        (">=", 0.6 + 1e-12, True),
        (">=", 0.61, False),
        (">", 0.6, False),
        ("<=", 0.6 - 1e-12, True),
        ("<", 0.6, False),
        ("==", 0.6, True),
        ("!=", 0.6, False),
    ],
)
def test_float_noise_decides_nothing(operator: str, bar: float, holds: bool) -> None:
    assert graded(0.6).holds(operator, bar) is holds


def test_a_score_compares_with_numbers_from_both_sides() -> None:
    assert graded(0.6) >= 0.5
    assert 0.7 > graded(0.6)  # noqa: SIM300 - the point of the test
    assert not graded(0.6) < 0.5


def test_an_unscored_score_can_not_be_compared() -> None:
    with pytest.raises(UnscoredError, match="row has no expected") as caught:
        assert graded(None) >= 0.5

    assert caught.value.cause == "data"


def test_a_graded_score_is_neither_true_nor_false() -> None:
    with pytest.raises(TypeError, match=r"assert f1\(response, case\) >= 0.6"):
        bool(graded(0.9))


def test_a_score_compares_with_nothing_but_numbers() -> None:
    with pytest.raises(TypeError, match="f1 compares with a number, not with '0.5'"):
        assert graded(0.9) >= "0.5"


@pytest.mark.parametrize(("value", "truth"), [(1.0, True), (0.0, False)])
def test_a_pass_or_fail_score_is_true_when_it_passed(value: float, truth: bool) -> None:
    assert bool(Score(metric="exact", value=value, binary=True)) is truth


def test_a_comparison_is_noted() -> None:
    noted: list[Check] = []
    token = comparison_noted.set(noted.append)

    assert graded(0.6) >= 0.5

    comparison_noted.reset(token)
    assert [(c.metric, c.operator, c.threshold, c.passed) for c in noted] == [
        ("f1", ">=", 0.5, True)
    ]


@pytest.mark.parametrize(
    "mistake",
    [
        lambda response: response == "Lima",
        lambda response: response != "Lima",
        lambda response: "Lima" in response,
        lambda response: response in ["Lima"],
    ],
)
def test_a_response_is_taken_for_no_text(mistake: Callable[[Any], bool]) -> None:
    with pytest.raises(ConfigError, match="compare response.text, or str"):
        mistake(Response(text="Lima"))


def test_responses_are_compared_and_hashed_by_their_fields() -> None:
    response = Response(text="Lima", model="m")

    assert response == Response(text="Lima", model="m")
    assert response != Response(text="Lima")
    assert response != 5
    assert {response: 1}[replace(response)] == 1


def test_what_a_text_or_a_row_has_is_told_where_it_is() -> None:
    response: Any = Response(text="Lima")
    case: Any = Case(id="peru", fields={"answer": "Lima"})

    with pytest.raises(AttributeError, match=r"its text has: response.text.lower"):
        response.lower()
    with pytest.raises(AttributeError, match=r"^a Response has no 'txt'$"):
        _ = response.txt
    with pytest.raises(AttributeError, match=r"its column is case\['answer'\]"):
        _ = case.answer
    with pytest.raises(AttributeError, match=r"^a Case has no 'column'$"):
        _ = case.column


@pytest.mark.parametrize("value", [Response(text="a"), Case(id="a", fields={"b": 1})])
def test_responses_and_cases_can_be_copied(value: object) -> None:
    assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval.datasets import cases_from
from pytest_llmeval.errors import DatasetError
from pytest_llmeval.types import Case


def case_of(row: dict[str, Any], columns: Any = None) -> Case:
    return cases_from([row], columns=columns)[0]


def refusal_of(row: dict[str, Any], columns: Any = None) -> str:
    with pytest.raises(DatasetError) as caught:
        case_of(row, columns)
    return str(caught.value)


@pytest.mark.parametrize("name", ["input", "question", "query", "prompt"])
def test_the_input_is_found_under_its_aliases(name: str) -> None:
    assert case_of({name: "Who?"}).input == "Who?"


@pytest.mark.parametrize(
    "name",
    [
        *("expected", "answer", "target", "targets"),
        *("reference", "expected_output", "ideal"),
    ],
)
def test_the_expected_value_is_found_under_its_aliases(name: str) -> None:
    assert case_of({name: "Oslo"}).expected == "Oslo"


def test_other_fields_are_found_under_their_own_names() -> None:
    row = {"context": "c", "label": "A", "better": "b", "rejected": "r", "choices": [1]}

    case = case_of({**row, "labels": ["A"]})

    assert (case.context, case.label, case.better, case.rejected) == (
        "c",
        "A",
        "b",
        "r",
    )
    assert (case.choices, case.labels) == ((1,), ("A",))


def test_all_columns_stay_as_they_were() -> None:
    row = {"question": "q", "tags": "a,b", "extra": {"x": [1]}}

    case = case_of(row)

    assert case.fields == row
    assert case["extra"] == {"x": [1]}


def test_two_columns_for_one_field_are_refused_with_the_mapping_to_write() -> None:
    message = refusal_of({"question": "a", "answer": "b", "target": None})

    assert message == (
        "item 1 of the list, counted from 1: 'answer' and 'target' could each be the "
        "case's expected: say which, columns={'expected': 'answer'}"
    )


def test_a_mapping_settles_which_column_it_is() -> None:
    row = {"answer": "b", "target": "c", "question": "q"}

    case = case_of(row, {"expected": "target"})

    assert (case.expected, case.input) == ("c", "q")


def test_a_column_used_by_a_mapping_is_not_ambiguous() -> None:
    row = {"prompt": "Say", "question": "q", "meta": {"id": "m"}}

    case = case_of(row, {"context": "prompt", "id": "meta.id"})

    assert (case.input, case.context, case.id) == ("q", "Say", "m")


def test_a_column_used_by_a_path_is_not_ambiguous() -> None:
    row = {"answer": {"text": "b"}, "target": "c"}

    case = case_of(row, {"context": "answer.text"})

    assert (case.expected, case.context) == ("c", "b")


def test_a_column_may_serve_two_fields() -> None:
    case = case_of({"question": "q"}, {"id": "question"})

    assert (case.id, case.input) == ("q", "q")


@pytest.mark.parametrize(
    ("path", "value"),
    [("d.list.0.x", 1), ("d.list.1", "two"), ("d", {"list": [{"x": 1}, "two"]})],
)
def test_dotted_paths_lead_into_objects_and_lists(path: str, value: Any) -> None:
    case = case_of({"d": {"list": [{"x": 1}, "two"]}}, {"expected": path})

    assert case.expected == value


def test_a_column_called_like_the_path_wins() -> None:
    assert case_of({"a.b": "top", "a": {"b": "in"}}, {"input": "a.b"}).input == "top"


def test_null_at_the_end_of_a_path_is_a_missing_value() -> None:
    assert case_of({"a": {"b": None}}, {"input": "a.b"}).input is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (
            "querry",
            "there is no column 'querry' (did you mean 'query'?); columns: query",
        ),
        ("meta.tilte", "'meta' has no 'tilte' (did you mean 'title'?); it has: title"),
        ("rows.7", "'rows' is a list of 2, so '7' must be an index below that"),
        ("rows.x", "'rows' is a list of 2, so 'x' must be an index below that"),
        ("rows.-1", "'rows' is a list of 2, so '-1' must be an index below that"),
        ("rows.²", "'rows' is a list of 2, so '²' must be an index"),
        ("query.x", "'query' is str, with nothing below it"),
        ("nothing.x", "'nothing' is null, with nothing below it"),
    ],
)
def test_a_path_to_nothing_is_refused_with_what_there_is(
    path: str, expected: str
) -> None:
    row = {"query": "q", "meta": {"title": "t"}, "rows": [1, 2], "nothing": None}

    message = refusal_of(row, {"expected": path})

    assert (
        f"item 1 of the list, counted from 1: 'expected' is mapped to {path!r}, and"
        in (message)
    )
    assert expected in message


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (
            {"expect": "a"},
            "maps 'expect', and a case has no such field (did you mean 'e",
        ),
        (
            {"fields": "a"},
            "maps 'fields', and a case has no such field; fields: id, in",
        ),
        (
            {"input": 5},
            "columns= maps 'input' to 5: give the column's name or a dotted",
        ),
        ({"input": ""}, "columns= maps 'input' to ''"),
        ({5: "a"}, "columns= maps 5, and a case has no such field"),
        (
            "gms8k",
            "there is no preset 'gms8k' (did you mean 'gsm8k'?); presets: teff, ",
        ),
        (
            ["a"],
            "columns= is a mapping {our_field: 'their.path'} or a preset (teff, ho",
        ),
    ],
)
def test_a_wrong_columns_argument_is_refused(columns: Any, expected: str) -> None:
    assert expected in refusal_of({"a": 1}, columns)

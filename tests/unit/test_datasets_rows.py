from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.datasets import (
    cases_from,
    check_node_ids,
    label_ids,
    load_cases,
    node_id,
)
from pytest_llmeval.errors import DatasetError
from pytest_llmeval.types import Case, WrittenFloat


def case_of(**row: Any) -> Case:
    return cases_from([row])[0]


def refusal_of(**row: Any) -> str:
    with pytest.raises(DatasetError) as caught:
        case_of(**row)
    return str(caught.value)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        *(("a", "a"), (7, "7"), (0, "0"), (WrittenFloat("1.10"), "1.10")),
        *(("..", ".."), ("-k", "-k"), ("a b", "a b"), ("ü", "ü")),
    ],
)
def test_ids_are_text(written: Any, name: str) -> None:
    assert case_of(id=written).id == name


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (True, "the id is True, and a text or a number is expected"),
        ([1], "the id is [1], and a text or a number is expected"),
        ({"a": 1}, "the id is {'a': 1}, and a text or a number is expected"),
        ("", "the id is empty: give each row a text of its own, or no row one"),
        (" \t", "the id is empty"),
        (None, "the id is empty"),
    ],
)
def test_what_is_no_id_is_refused(written: Any, expected: str) -> None:
    assert f"item 1 of the list, counted from 1: {expected}" in refusal_of(id=written)


def test_rows_without_ids_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n', encoding="utf-8")

    assert [case.id for case in load_cases("a.jsonl", base=tmp_path)] == ["1", "2"]


def test_a_doubled_id_is_refused_with_both_places(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 1}\n{"id": 2}\n{"id": "1"}', "utf-8")

    with pytest.raises(DatasetError) as caught:
        load_cases("a.jsonl", base=tmp_path)

    assert str(caught.value) == (
        "a.jsonl:3: the id '1' is used already, in a.jsonl:1: ids are unique in a dataset"
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ('{"id": 1}\n{"a": 2}', "the row has no id, and the rows before it have one"),
        ('{"a": 1}\n{"id": 2}', "the row has an id, and the rows before it have none"),
    ],
)
def test_rows_name_their_ids_or_none_does(
    tmp_path: Path, rows: str, expected: str
) -> None:
    (tmp_path / "a.jsonl").write_text(rows, encoding="utf-8")

    with pytest.raises(DatasetError, match=f"^a.jsonl:2: {expected}$"):
        load_cases("a.jsonl", base=tmp_path)


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        (["geo", " hard "], ("geo", "hard")),
        ("geo, hard,,geo", ("geo", "hard")),
        ([2024, WrittenFloat("1.10")], ("2024", "1.10")),
        ("", ()),
        (None, ()),
        ([], ()),
    ],
)
def test_tags_are_a_list_or_a_text_with_commas(
    written: Any, tags: tuple[str, ...]
) -> None:
    assert case_of(tags=written).tags == tags


@pytest.mark.parametrize("name", ["skip", "xfail"])
@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("known bug ", "known bug"),
        (True, "the row says {}"),
        ("TRUE", "the row says {}"),
        *((value, None) for value in (False, None, "", "false", "FALSE")),
    ],
)
def test_skip_and_xfail_are_a_reason_or_a_flag(
    name: str, written: Any, reason: str | None
) -> None:
    case = case_of(**{name: written})

    assert getattr(case, name) == (reason.format(name) if reason else None)


@pytest.mark.parametrize(
    ("written", "flag"),
    [(True, True), ("true", True), (False, False), ("FALSE", False), (None, False)],
)
def test_must_pass_is_true_or_false(written: Any, flag: bool) -> None:
    assert case_of(must_pass=written).must_pass is flag


@pytest.mark.parametrize("name", ["choices", "labels"])
@pytest.mark.parametrize(
    ("written", "found"),
    [(["a", 1], ("a", 1)), ('["a", 1]', ("a", 1)), (None, None), ([], ())],
)
def test_lists_may_stand_in_a_cell_as_json(
    name: str, written: Any, found: tuple[Any, ...] | None
) -> None:
    assert getattr(case_of(**{name: written}), name) == found


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            {"tags": {"a": 1}},
            "tags is {'a': 1}, and a list of texts or a text with comm",
        ),
        ({"tags": [True]}, "tags holds True, and a tag is a text"),
        ({"tags": [["a"]]}, "tags holds ['a'], and a tag is a text"),
        ({"skip": 5}, "skip is 5, and a reason, true or false is expected"),
        ({"skip": "no"}, "skip is 'no', and a reason, true or false is expected"),
        ({"xfail": "yes"}, "xfail is 'yes', and a reason, true or false is expected"),
        ({"xfail": []}, "xfail is [], and a reason, true or false is expected"),
        ({"must_pass": "yes"}, "must_pass is 'yes', and true or false is expected"),
        ({"must_pass": 1}, "must_pass is 1, and true or false is expected"),
        (
            {"choices": "a, b"},
            "choices is 'a, b', and a list is expected (in CSV as JSO",
        ),
        ({"choices": "[a]"}, "choices is '[a]', and that is no JSON list"),
        ({"choices": {"A": "x"}}, "choices is {'A': 'x'}, and a list is expected"),
        ({"labels": 3}, "labels is 3, and a list is expected"),
        (
            {"label": [1]},
            "label is [1], and a letter, a number or one of the choices is",
        ),
        (
            {"label": True},
            "label is True, and a letter, a number or one of the choices ",
        ),
    ],
)
def test_a_value_of_another_type_is_refused(row: dict[str, Any], expected: str) -> None:
    assert expected in refusal_of(**row)


@pytest.mark.parametrize(
    "true_id",
    ["plain", "dir/sub.py", "..", "@file", "a+b=c,d-e", "größe-日本", "x" * 80],
)
def test_an_id_that_reads_well_is_kept_in_the_node_id(true_id: str) -> None:
    assert node_id(true_id) == true_id


@pytest.mark.parametrize(
    ("true_id", "start"),
    [
        ("a::b", "a_b-"),
        ("two  words", "two_words-"),
        ("br[1]", "br_1_-"),
        ("line\n", "line_-"),
        ("x" * 300, "x" * 60 + "-"),
        ("\ud800", "_-"),
    ],
)
def test_another_id_is_cleaned_and_told_apart_by_a_hash(
    true_id: str, start: str
) -> None:
    name = node_id(true_id)

    assert name.startswith(start)
    assert len(name) == len(start) + 8


def test_ids_that_differ_at_the_end_have_different_node_ids() -> None:
    assert node_id("x" * 300 + "1") != node_id("x" * 300 + "2")


def test_two_ids_with_one_node_id_are_refused_with_both_places() -> None:
    cases = cases_from([{"id": "a b"}, {"id": node_id("a b")}])

    with pytest.raises(DatasetError) as caught:
        check_node_ids(cases)

    assert str(caught.value) == (
        "item 2 of the list: the id 'a_b-c8687a08' gives the test id 'a_b-c8687a08', "
        "and so does 'a b' in item 1 of the list: rename one"
    )


def test_equal_ids_are_refused_too() -> None:
    with pytest.raises(DatasetError, match="the id 'a' is used already, in item 1"):
        check_node_ids([Case(id="a"), Case(id="a")])


def test_the_name_of_a_model_is_readable_in_a_node_id() -> None:
    assert label_ids(["python:app.desk:answer", "gpt-4o", "prompts/qa.j2"]) == [
        "python_app.desk_answer",
        "gpt-4o",
        "prompts/qa.j2",
    ]


def test_names_that_would_be_alike_or_cut_end_with_a_hash() -> None:
    labels = ["a:b", "a b", "x" * 61, ""]

    assert label_ids(labels) == [node_id(label) for label in labels]

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.datasets import load_cases, write_cases
from pytest_llmeval.datasets._json import json_text
from pytest_llmeval.errors import DatasetError
from pytest_llmeval.types import Case, Source, WrittenFloat

TREE_FORMATS = [".jsonl", ".ndjson", ".json", ".yaml", ".yml"]
TABLE_FORMATS = [".csv", ".tsv"]

ROWS = """\
{"id": "a", "question": "Größe – 5 €, 東京, 😀?", "expected": "007", "score": 1.50}
{"id": "no", "question": "two\\nlines\\r\\n\\t\\"x\\"", "expected": ["a", 1e5], "tags": ["t"]}
{"id": "1.10", "question": " blank ", "expected": {"n": -0}, "skip": "why", "n": 7}
{"id": "x\\u2028y", "question": "a\\u0085b \\u007f", "expected": "null", "xfail": true}
{"id": "é", "question": "yes", "expected": null, "must_pass": true, "n": false}
"""


def loaded(folder: Path, text: str = ROWS) -> list[Case]:
    (folder / "source.jsonl").write_text(text, encoding="utf-8")
    return load_cases("source.jsonl", base=folder)


def as_written(cases: list[Case]) -> list[str]:
    return [json_text(dict(case.fields)) for case in cases]


@pytest.mark.parametrize("suffix", TREE_FORMATS)
def test_what_was_written_is_read_back_as_it_was(tmp_path: Path, suffix: str) -> None:
    cases = loaded(tmp_path)

    write_cases(cases, tmp_path / f"out{suffix}")

    again = load_cases(tmp_path / f"out{suffix}")
    assert as_written(again) == as_written(cases)
    assert [(c.id, c.tags, c.skip, c.xfail, c.must_pass) for c in again] == [
        (c.id, c.tags, c.skip, c.xfail, c.must_pass) for c in cases
    ]


@pytest.mark.parametrize("suffix", TABLE_FORMATS)
def test_tables_hold_every_value_as_text(tmp_path: Path, suffix: str) -> None:
    cases = loaded(tmp_path)

    write_cases(cases, tmp_path / f"out{suffix}")

    again = load_cases(tmp_path / f"out{suffix}")
    assert [case.id for case in again] == [case.id for case in cases]
    assert [case.input for case in again] == [case.input for case in cases]
    assert again[0]["score"] == "1.50"
    assert again[1].expected == '["a", 1e5]'
    assert again[2].expected == '{"n": -0}'
    assert again[4].must_pass is True
    assert again[4]["n"] == "false"


def test_choices_and_labels_survive_a_table(tmp_path: Path) -> None:
    cases = loaded(tmp_path, '{"choices": ["a, b", 1.50], "labels": [0], "tags": "x"}')

    write_cases(cases, tmp_path / "out.csv")

    again = load_cases(tmp_path / "out.csv")[0]
    assert again.choices is not None
    assert [str(choice) for choice in again.choices] == ["a, b", "1.50"]
    assert again.labels == (0,)


def test_numbers_of_rows_are_not_written_as_ids(tmp_path: Path) -> None:
    cases = loaded(tmp_path, '{"a": 1}\n{"a": 2}\n')

    write_cases(cases, tmp_path / "out.jsonl")

    assert (tmp_path / "out.jsonl").read_text("utf-8") == '{"a": 1}\n{"a": 2}\n'


def test_ids_no_column_has_are_written(tmp_path: Path) -> None:
    cases = loaded(tmp_path, '{"a": 1}\n{"a": 2}\n')

    write_cases(cases[1:], tmp_path / "out.jsonl")

    again = load_cases(tmp_path / "out.jsonl")
    assert [(case.id, case["a"]) for case in again] == [("2", 2)]


def test_a_case_made_by_hand_is_written_with_its_fields(tmp_path: Path) -> None:
    case = Case(
        id="x",
        input="q",
        expected=0,
        choices=("a", "b"),
        tags=("t",),
        must_pass=True,
        fields={"lang": "de"},
    )

    write_cases([case], tmp_path / "out.jsonl")

    again = load_cases(tmp_path / "out.jsonl")[0]
    assert (again.id, again.input, again.expected) == ("x", "q", 0)
    assert (again.choices, again.tags, again.must_pass) == (("a", "b"), ("t",), True)
    assert again["lang"] == "de"


def test_a_column_of_a_hand_made_case_is_not_doubled(tmp_path: Path) -> None:
    case = Case(id="x", input="q", fields={"question": "q"})

    write_cases([case], tmp_path / "out.jsonl")

    row = json.loads((tmp_path / "out.jsonl").read_text("utf-8"))
    assert row == {"id": "x", "question": "q"}


def test_half_a_character_survives_json(tmp_path: Path) -> None:
    cases = loaded(tmp_path, '{"a": "x\\ud800", "b": "\\\\ud800"}')

    write_cases(cases, tmp_path / "out.json")

    assert load_cases(tmp_path / "out.json")[0].fields == {
        "a": "x\ud800",
        "b": "\\ud800",
    }


@pytest.mark.parametrize(
    ("suffix", "value", "expected"),
    [
        (".yaml", "\ud800", "out.yaml: case 'x': YAML can't hold half a character"),
        (".csv", "\ud800", "out.csv: case 'x': '\\ud800' holds half a character"),
        (".csv", "a\0", "out.csv: case 'x': 'a\\x00' holds a NUL character"),
        (".jsonl", float("nan"), "out.jsonl: case 'x': "),
        (".json", {1, 2}, "out.json: case 'x': JSON can't hold set {1, 2}"),
        (".csv", [{1}], "out.csv: case 'x': JSON can't hold set {1}"),
    ],
)
def test_a_value_the_format_can_t_hold_is_refused(
    tmp_path: Path, suffix: str, value: Any, expected: str
) -> None:
    case = Case(id="x", input=value)

    with pytest.raises(DatasetError) as caught:
        write_cases([case], tmp_path / f"out{suffix}")

    assert expected in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", " a", "a\t"])
def test_a_name_no_header_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        DatasetError, match="can't be the name of a column in this form"
    ):
        write_cases([Case(id="x", fields={name: "a"})], tmp_path / "out.csv")


def test_a_row_of_nothing_is_refused_in_a_table(tmp_path: Path) -> None:
    case = Case(id="1", fields={"a": None}, source=Source(file="a.jsonl", line=1))

    with pytest.raises(DatasetError, match=r"out.csv: a row without a value can't be"):
        write_cases([case], tmp_path / "out.csv")


def test_doubled_ids_are_refused_before_writing(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="the id 'a' is used already"):
        write_cases([Case(id="a"), Case(id="a")], tmp_path / "out.jsonl")

    assert list(tmp_path.iterdir()) == []


def test_an_unknown_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"has the suffix '.xlsx'"):
        write_cases([], tmp_path / "out.xlsx")


def test_an_old_file_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "out.jsonl"
    write_cases([Case(id="old", input="x" * 100)], target)

    write_cases([Case(id="new")], target)

    assert target.read_text("utf-8") == '{"id": "new"}\n'
    assert [path.name for path in target.parent.iterdir()] == ["out.jsonl"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_text("", encoding="utf-8")
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")

    write_cases([Case(id="a")], tmp_path / "link.jsonl")

    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "real.jsonl").read_text("utf-8") == '{"id": "a"}\n'


def test_a_file_that_can_t_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(DatasetError, match=r"out.jsonl' can't be written: "):
        write_cases([Case(id="a")], tmp_path / "file" / "out.jsonl")


@pytest.mark.parametrize("suffix", [*TREE_FORMATS])
def test_no_cases_make_a_file_without_rows(tmp_path: Path, suffix: str) -> None:
    write_cases([], tmp_path / f"out{suffix}")

    assert load_cases(tmp_path / f"out{suffix}") == []


def test_long_keys_survive_yaml(tmp_path: Path) -> None:
    case = Case(id="1", fields={"id": "1", "k" * 2000: "v"})

    write_cases([case], tmp_path / "out.yaml")

    assert load_cases(tmp_path / "out.yaml")[0].fields == case.fields


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.sampled_from(["1.50", "-0", "1e5", "0.10"]).map(WrittenFloat)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(st.characters(codec="utf-8"), max_size=9), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(value=VALUES, suffix=st.sampled_from(TREE_FORMATS))
def test_any_json_value_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, value: Any, suffix: str
) -> None:
    target = tmp_path_factory.mktemp("any") / f"out{suffix}"

    write_cases([Case(id="a", fields={"value": value})], target)

    assert json_text(load_cases(target)[0]["value"]) == json_text(value)


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
        min_size=1,
        max_size=3,
    ),
    suffix=st.sampled_from(TABLE_FORMATS),
)
def test_any_text_is_read_back_from_a_table(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], suffix: str
) -> None:
    target = tmp_path_factory.mktemp("any") / f"out{suffix}"
    rows = [Case(id=str(n), fields={"value": t}) for n, t in enumerate(texts, start=5)]

    write_cases(rows, target)

    assert [case["value"] for case in load_cases(target)] == texts

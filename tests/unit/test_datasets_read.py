from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest

from pytest_llmeval.datasets import load_cases
from pytest_llmeval.errors import DatasetError
from pytest_llmeval.types import Case, WrittenFloat


def cases_of(folder: Path, name: str, content: str | bytes) -> list[Case]:
    data = content if isinstance(content, bytes) else content.encode("utf-8")
    (folder / name).write_bytes(data)
    return load_cases(name, base=folder)


def refusal_of(folder: Path, name: str, content: str | bytes) -> str:
    with pytest.raises(DatasetError) as caught:
        cases_of(folder, name, content)
    return str(caught.value)


@pytest.mark.parametrize(
    "header", ["id,question,expected", '"id","question","expected"']
)
def test_a_byte_order_mark_is_no_part_of_the_first_column(
    tmp_path: Path, header: str
) -> None:
    content = f"{header}\r\n1,Capital of Norway?,Oslo\r\n2,Capital of Peru?,Lima\r\n"

    cases = cases_of(tmp_path, "a.csv", b"\xef\xbb\xbf" + content.encode())

    assert list(cases[0].fields) == ["id", "question", "expected"]
    assert [(case.id, case.expected) for case in cases] == [
        ("1", "Oslo"),
        ("2", "Lima"),
    ]


def test_windows_line_ends_stay_out_of_the_last_column(tmp_path: Path) -> None:
    content = "id,phrase,expected\r\ng1,Good day!,¡Buenos días!\r\ng2,Night,Gute Nacht"

    cases = cases_of(tmp_path, "a.csv", content)

    assert [case.expected for case in cases] == ["¡Buenos días!", "Gute Nacht"]


def test_windows_line_ends_end_rows_of_jsonl(tmp_path: Path) -> None:
    cases = cases_of(tmp_path, "a.jsonl", '{"id": "a"}\r\n\r\n{"id": "b"}\r\n')

    assert [str(case.source) for case in cases] == ["a.jsonl:1", "a.jsonl:3"]


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85"])
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".yaml"])
def test_only_line_ends_split_lines(
    tmp_path: Path, character: str, suffix: str
) -> None:
    text = f"one{character}two"
    content = {
        ".jsonl": f'{{"input": "{text}"}}\n{{"input": "b"}}\n',
        ".json": f'[{{"input": "{text}"}},\n{{"input": "b"}}]',
        ".csv": f"input\n{text}\nb\n",
        ".yaml": f"- input: {text}\n- input: b\n",
    }[suffix]

    cases = cases_of(tmp_path, f"a{suffix}", content)

    assert [case.input for case in cases] == [text, "b"]
    assert cases[1].source is not None
    assert cases[1].source.line == (3 if suffix == ".csv" else 2)


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".JSONL"])
def test_json_lines_have_several_suffixes(tmp_path: Path, suffix: str) -> None:
    cases = cases_of(tmp_path, f"a{suffix}", '{"input": "Größe – 5 €, 東京, 😀"}')

    assert cases[0].input == "Größe – 5 €, 東京, 😀"


def test_another_suffix_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    message = refusal_of(tmp_path, "a.jsnl", "")

    assert message == (
        "'a.jsnl' has the suffix '.jsnl' (did you mean '.jsonl'?), and datasets are "
        "read from .jsonl, .ndjson, .json, .csv, .tsv, .yaml, .yml"
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"n": %s}'),
        ("a.json", '[{"n": %s}]'),
        ("a.yaml", "- n: %s"),
        ("a.csv", "n,m\n%s,\n"),
    ],
)
@pytest.mark.parametrize(
    "number", ["1.50", "1e5", "-0", "-0.0", "7", "1E+2", "9" * 5000]
)
def test_numbers_keep_the_text_they_were_written_as(
    tmp_path: Path, name: str, content: str, number: str
) -> None:
    cases = cases_of(tmp_path, name, content % number)

    assert str(cases[0]["n"]) == number


def test_written_numbers_are_numbers(tmp_path: Path) -> None:
    case = cases_of(tmp_path, "a.jsonl", '{"a": 1.50, "b": 7}')[0]

    assert case["a"] == 1.5
    assert isinstance(case["a"], WrittenFloat)
    assert type(case["b"]) is int


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"a": 1, "a": 2}', "a.jsonl:2: the key 'a' stands twice in one object"),
        ('{"b": {"a": 1, "a": 1}}', "a.jsonl:2: the key 'a' stands twice"),
        ('{"a": NaN}', "a.jsonl:2: NaN is not JSON: write null, or a text"),
        ('{"a": -Infinity}', "a.jsonl:2: -Infinity is not JSON"),
        ('{"a": 1', "a.jsonl:2: not valid JSON: Expecting ',' delimiter (column 8)"),
        ("[1]", "a.jsonl:2: a row is a JSON object, not [1]; one object stands in"),
        ('"x"', "a.jsonl:2: a row is a JSON object, not 'x'"),
        ("null", "a.jsonl:2: a row is a JSON object, not None"),
        ("{", "one object stands in one line here, a list of them is a .json file"),
        ('{"a": "x\ty"}', "a.jsonl:2: not valid JSON: Invalid control character"),
        ('{"a": ' + "[" * 100_000, "a.jsonl:2: values are nested too deeply"),
    ],
)
def test_a_broken_json_line_is_refused_with_its_line(
    tmp_path: Path, content: str, expected: str
) -> None:
    message = refusal_of(tmp_path, "a.jsonl", '{"a": 0}\n' + content + "\n")

    assert expected in message


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            '{"id": "o1", "input": "x"}',
            "the file holds one object, and a list of cases",
        ),
        (
            '[{"id": "m1"}, "stray", null]',
            "a.json:1: item 2 of the list, counted from 1",
        ),
        (
            '[{"id": "m1"},\n\nnull]',
            "a.json:3: item 2 of the list, counted from 1, is N",
        ),
        ('{"a": 1}\n{"a": 2}', "one object a line is a .jsonl file"),
        ('"x"', "a.json:1: the file holds 'x', and a list of cases is expected"),
        (" \n", "a.json: the file is empty, and a list is expected"),
        ('[{"a": 1},\n]', "a.json:2: not valid JSON: Expecting value"),
        ('[{"a": 1}\n{"a": 2}]', "a.json:2: not valid JSON: a comma or ] is expected"),
        ('[{"a": 1}', "a.json:1: not valid JSON: a comma or ] is expected"),
        ('[{"a": 1}]\n]', "a.json:2: not valid JSON: the file goes on after its list"),
        ("[] 1", "a.json:1: not valid JSON: the file goes on after its list"),
        ('[{},\n{"a": 1, "a": 2}]', "a.json:2: the key 'a' stands twice"),
        ('[\n{"a": NaN}]', "a.json:2: NaN is not JSON"),
        ("[" * 100_000, "values are nested too deeply"),
    ],
)
def test_a_json_file_that_is_no_list_of_objects_is_refused(
    tmp_path: Path, content: str, expected: str
) -> None:
    assert expected in refusal_of(tmp_path, "a.json", content)


def test_items_of_a_json_file_keep_their_lines(tmp_path: Path) -> None:
    content = '[\n  {"id": 1,\n   "a": "x"},\n\n  {"id": 2}\n, {"id": 3}]\n'

    cases = cases_of(tmp_path, "a.json", content)

    assert [case.source.line for case in cases if case.source] == [2, 5, 6]


def test_an_empty_json_list_has_no_cases(tmp_path: Path) -> None:
    assert cases_of(tmp_path, "a.json", " [ ]\n") == []


def test_a_row_of_csv_keeps_the_line_it_starts_in(tmp_path: Path) -> None:
    content = 'id,text\n1,"a\nb\nc"\n\n2,d\n"3\n",e\n'

    cases = cases_of(tmp_path, "a.csv", content)

    assert [case.source.line for case in cases if case.source] == [2, 6, 7]
    assert cases[0]["text"] == "a\nb\nc"


def test_an_empty_cell_is_a_missing_value(tmp_path: Path) -> None:
    case = cases_of(tmp_path, "a.csv", "question,expected\nWho?,\n")[0]

    assert case.expected is None


def test_tsv_cells_are_split_at_tabs(tmp_path: Path) -> None:
    case = cases_of(tmp_path, "a.tsv", 'question\texpected\na, b\t"c\td"\n')[0]

    assert (case.input, case.expected) == ("a, b", "c\td")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\n1,2\n1\n", "a.csv:3: the row has 1 cells, and the header has 2 columns"),
        ("a,b\n1,2,3\n", "a.csv:2: the row has 3 cells, and the header has 2 columns"),
        ("a,b,a\n", "a.csv:1: 'a' names two columns; the header is 'a', 'b', 'a'"),
        ("a, a\n", "a.csv:1: 'a' names two columns"),
        ("a,,b\n", "a.csv:1: column 2 has no name; the header is 'a', '', 'b'"),
        ("", "a.csv:1: the file is empty: its first row names columns"),
        ("a;b\n1;2\n", "separated by ';', and ',' is expected"),
        ('a,b\n1,2\n3,"x\n4,5\n', "a.csv:3: the row that starts here is broken"),
        ('a,b\n1,"x"y\n', "a.csv:2: the row that starts here is broken"),
        ("a,b\n1,2\n,\n", "a.csv:3: every cell is empty: delete the row"),
        ("a,b\n1,\0\n", "a.csv:2: the file holds a NUL character"),
    ],
)
def test_a_broken_csv_file_is_refused_with_its_line(
    tmp_path: Path, content: str, expected: str
) -> None:
    assert expected in refusal_of(tmp_path, "a.csv", content)


def test_a_huge_cell_is_read_and_the_process_wide_limit_kept(tmp_path: Path) -> None:
    before = csv.field_size_limit()

    case = cases_of(tmp_path, "a.csv", "input,b\n" + "x" * 300_000 + ",\n")[0]

    assert len(case.input) == 300_000
    assert csv.field_size_limit() == before


def test_the_limit_of_cells_is_put_back_after_an_error(tmp_path: Path) -> None:
    before = csv.field_size_limit()

    refusal_of(tmp_path, "a.csv", 'input,b\n"' + "x" * 300_000)

    assert csv.field_size_limit() == before


def test_bytes_that_are_not_utf8_are_refused_with_their_place(tmp_path: Path) -> None:
    content = "id,input,expected\nw1,Größe?,Größe\n".encode("cp1252")

    message = refusal_of(tmp_path, "a.csv", content)

    assert message == (
        "a.csv:2: the file is not UTF-8: byte 23 counted from 0 is 0xf6 (invalid start "
        'byte); save it as UTF-8 (in a spreadsheet: "CSV UTF-8")'
    )


def test_the_place_of_a_wrong_byte_counts_the_byte_order_mark(tmp_path: Path) -> None:
    message = refusal_of(tmp_path, "a.jsonl", b'\xef\xbb\xbf{"a": "\xff"}')

    assert "byte 10 counted from 0 is 0xff" in message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".yaml", ".tsv"])
def test_other_unicode_encodings_are_named(
    tmp_path: Path, suffix: str, encoding: str
) -> None:
    message = refusal_of(tmp_path, f"a{suffix}", "id,a\n1,Größe\n".encode(encoding))

    assert f"the file is {encoding.upper()}, not UTF-8: save it as UTF-8" in message


def test_utf16_without_a_mark_is_refused(tmp_path: Path) -> None:
    message = refusal_of(tmp_path, "a.jsonl", '{"a": 1}'.encode("utf-16-le"))

    assert "holds a NUL character" in message
    assert "UTF-16" in message


def test_a_doubled_byte_order_mark_is_taken_off(tmp_path: Path) -> None:
    assert cases_of(tmp_path, "a.jsonl", '\ufeff\ufeff{"id": "a"}')[0].id == "a"


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".yaml"])
def test_a_large_file_takes_time_in_proportion(tmp_path: Path, suffix: str) -> None:
    rows = 8_000
    content = {
        ".jsonl": '{"id": %d, "input": "some text of a row"}\n',
        ".json": '{"id": %d, "input": "some text of a row"},\n',
        ".csv": "%d,some text of a row\n",
        ".yaml": "- id: %d\n  input: some text of a row\n",
    }[suffix]
    text = "".join(content % number for number in range(rows))
    if suffix == ".json":
        text = f"[{text.rstrip()[:-1]}]"
    if suffix == ".csv":
        text = f"id,input\n{text}"
    started = time.perf_counter()

    cases = cases_of(tmp_path, f"a{suffix}", text)

    assert len(cases) == rows
    assert time.perf_counter() - started < 15

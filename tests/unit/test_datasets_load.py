from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.datasets import cases_from, load_cases
from pytest_llmeval.errors import DatasetError
from pytest_llmeval.types import Case


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "suite"
    (root / "data" / "sub").mkdir(parents=True)
    (root / "data" / "b.jsonl").write_text(
        '{"input": "b1"}\n{"input": "b2"}\n', "utf-8"
    )
    (root / "data" / "a.json").write_text('[{"input": "a1"}]', "utf-8")
    (root / "data" / "sub" / "b.jsonl").write_text('{"input": "s1"}\n', "utf-8")
    (root / "data" / "notes.txt").write_text("", "utf-8")
    (tmp_path / "outside.jsonl").write_text('{"input": "o"}\n', "utf-8")
    return root


def refusal_of(dataset: Any, **options: Any) -> str:
    with pytest.raises(DatasetError) as caught:
        cases_from(dataset, **options)
    return str(caught.value)


def test_a_path_is_relative_to_the_base(folder: Path) -> None:
    cases = cases_from("data/b.jsonl", base=folder)

    assert [(case.id, case.input) for case in cases] == [("1", "b1"), ("2", "b2")]


def test_a_path_from_another_folder_says_where_the_file_is(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.jsonl").write_text('{"input": "?"}\n', "utf-8")
    (tmp_path / "tests").mkdir()
    there = (tmp_path / "data" / "rows.jsonl").as_posix()

    for base in (tmp_path / "tests", tmp_path / "data"):
        told = refusal_of("data/rows.jsonl", base=base)
        assert told.endswith(f"there is no such file; there is one at {there!r}")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_and_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "data" / "pipe.jsonl")

    message = refusal_of("data/pipe.jsonl", base=folder)

    assert message == (
        "'data/pipe.jsonl' is no regular file, and reading it might never end"
    )


def test_the_current_directory_is_the_default_base(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)

    cases = load_cases("data/b.jsonl")

    assert str(cases[0].source) == "data/b.jsonl:1"


def test_a_path_object_will_do(folder: Path) -> None:
    assert len(cases_from(folder / "data" / "a.json")) == 1


def test_sources_are_relative_to_the_root(folder: Path) -> None:
    cases = load_cases("b.jsonl", base=folder / "data", root=folder)

    assert str(cases[1].source) == "data/b.jsonl:2"


def test_a_glob_takes_all_files_sorted(folder: Path) -> None:
    cases = load_cases("data/*.json*", base=folder)

    assert [case.id for case in cases] == ["a-1", "b-1", "b-2"]
    assert [str(case.source) for case in cases][1:] == [
        "data/b.jsonl:1",
        "data/b.jsonl:2",
    ]


def test_files_with_one_stem_are_told_apart_by_their_path(folder: Path) -> None:
    cases = load_cases("**/*.jsonl", base=folder)

    assert [case.id for case in cases] == [
        "data/b.jsonl-1",
        "data/b.jsonl-2",
        "data/sub/b.jsonl-1",
    ]


def test_a_file_called_like_a_glob_is_that_file(folder: Path) -> None:
    (folder / "x[1].jsonl").write_text('{"input": "x"}', "utf-8")

    assert load_cases("x[1].jsonl", base=folder)[0].id == "1"


def test_ids_are_unique_over_all_files_of_a_glob(folder: Path) -> None:
    (folder / "x.jsonl").write_text('{"id": "same"}', "utf-8")
    (folder / "y.jsonl").write_text('{"id": "same"}', "utf-8")

    message = refusal_of("*.jsonl", base=folder)

    assert message.startswith("y.jsonl:1: the id 'same' is used already, in x.jsonl:1")


def test_a_glob_without_a_match_names_what_the_folder_holds(folder: Path) -> None:
    message = refusal_of("data/*.csv", base=folder)

    assert message == (
        f"no file matches 'data/*.csv'; the folder '{folder.as_posix()}/data' holds: "
        f"a.json, b.jsonl, notes.txt, sub"
    )


def test_a_glob_with_a_wildcard_folder_names_the_folder_above(folder: Path) -> None:
    message = refusal_of("data/*/*.csv", base=folder)

    assert f"the folder '{folder.as_posix()}/data' holds: a.json" in message


def test_a_glob_in_no_folder_says_so(folder: Path) -> None:
    message = refusal_of("dta/*.csv", base=folder)

    assert message.endswith(f"there is no folder '{folder.as_posix()}/dta' either")


def test_a_glob_that_takes_another_suffix_is_refused(folder: Path) -> None:
    assert "'notes.txt' has the suffix '.txt'" in refusal_of("data/*", base=folder)


def test_a_missing_file_is_refused_with_near_names(folder: Path) -> None:
    message = refusal_of("data/bb.jsonl", base=folder)

    assert message == (
        "data/bb.jsonl: there is no such file (did you mean 'b.jsonl'?); the folder "
        f"'{folder.as_posix()}/data' holds: a.json, b.jsonl, notes.txt, sub"
    )


@pytest.mark.skipif(os.name == "nt", reason="there it is the same path")
def test_a_path_of_windows_names_the_one_that_works_everywhere(folder: Path) -> None:
    message = refusal_of("data\\b.jsonl", base=folder)

    assert message == (
        "data\\b.jsonl: there is no such file; with / in place of \\ there is one: "
        "'data/b.jsonl'"
    )


def test_a_folder_is_refused_with_the_glob_to_write(folder: Path) -> None:
    message = refusal_of("data", base=folder)

    assert message.startswith(
        "'data' is a folder: give a file, or a glob such as data/*"
    )


@pytest.mark.parametrize("path", ["../outside.jsonl", "../*.jsonl"])
def test_a_path_out_of_the_root_is_refused(folder: Path, path: str) -> None:
    message = refusal_of(path, base=folder, root=folder)

    assert message.startswith("'../outside.jsonl' lies outside the root directory")


def test_an_absolute_path_out_of_the_root_is_refused(folder: Path) -> None:
    message = refusal_of(folder.parent / "outside.jsonl", base=folder, root=folder)

    assert "lies outside the root directory" in message


def test_a_link_out_of_the_root_is_refused(folder: Path) -> None:
    (folder / "link.jsonl").symlink_to(folder.parent / "outside.jsonl")

    message = refusal_of("link.jsonl", base=folder, root=folder)

    assert "'link.jsonl' lies outside the root directory" in message


def test_without_a_root_a_file_may_lie_anywhere(folder: Path) -> None:
    assert load_cases("../outside.jsonl", base=folder)[0].input == "o"


@pytest.mark.parametrize("root", [None, Path()])
def test_a_path_no_system_can_have_is_refused(root: Path | None) -> None:
    assert "can't be read: embedded null byte" in refusal_of("a\0.jsonl", root=root)


def test_texts_are_inputs() -> None:
    cases = cases_from(["Who?", "What?"])

    assert [(case.id, case.input) for case in cases] == [("1", "Who?"), ("2", "What?")]
    assert cases[0]["input"] == "Who?"


def test_a_list_may_mix_mappings_texts_and_cases() -> None:
    own = Case(id="own", input="x")

    cases = cases_from(({"question": "Who?"}, "What?", own))

    assert [case.id for case in cases] == ["1", "2", "own"]
    assert cases[2] is own


def test_a_callable_is_called_once() -> None:
    calls = []

    def make() -> list[str]:
        calls.append(1)
        return ["Who?"]

    assert cases_from(make)[0].input == "Who?"
    assert calls == [1]


def test_a_callable_may_yield_rows() -> None:
    def rows() -> Iterator[str]:
        yield from ["a", "b"]

    assert [case.input for case in cases_from(rows)] == ["a", "b"]


def test_a_callable_may_return_a_path(folder: Path) -> None:
    assert cases_from(lambda: "data/a.json", base=folder)[0].input == "a1"


def test_an_exception_of_a_callable_is_the_cause() -> None:
    def broken() -> list[str]:
        message = "no such table"
        raise LookupError(message)

    with pytest.raises(DatasetError) as caught:
        cases_from(broken)

    assert str(caught.value).endswith("broken raised LookupError: no such table")
    assert isinstance(caught.value.__cause__, LookupError)


def test_an_async_callable_is_refused() -> None:
    async def rows() -> list[str]:
        return []

    assert refusal_of(rows).endswith("rows is async: give a plain function")


class Frame:
    def to_dict(self) -> None:
        """Look like a data frame."""

    def __repr__(self) -> str:
        return "Frame"


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        (
            5,
            "a dataset is a path or glob, a list of mappings, texts or Cases, or a call",
        ),
        (None, "a dataset is a path or glob"),
        ({"a": 1}, "a dataset is a path or glob"),
        (Frame(), "not Frame; of a data frame give .to_dict('records')"),
        (
            lambda: 5,
            "returned 5, and a dataset is a path, or a list of mappings, texts",
        ),
        (lambda: Frame, "returned <class"),
        (
            [5],
            "item 1 of the list, counted from 1, is 5, not a mapping, a text or a Cas",
        ),
        (
            [{1: 2}],
            "item 1 of the list, counted from 1: the column 1 is not named by a ",
        ),
        (
            [{"id": "a"}, {"id": "a"}],
            "item 2 of the list: the id 'a' is used already, ",
        ),
        ([{"id": "a"}, {}], "item 2 of the list, counted from 1: the row has no id"),
    ],
)
def test_what_is_no_dataset_is_refused(dataset: Any, expected: str) -> None:
    assert expected in refusal_of(dataset)

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_llmeval.errors import UserError
from pytest_llmeval.store.failures import (
    ANSWERS,
    KEPT,
    find_answers,
    folder_name,
    keep,
    prune,
)

HOSTILE = [
    "../../../etc/passwd",
    "..",
    ".",
    "/abs",
    "C:\\x",
    "a\x00b",
    "a\nb",
    "\ud800",
    "\u202etxt",
    "CON",
    "~",
    "-rf",
    "日本 の 首都 🗼" * 40,
    "x" * 1000,
    "",
]


@pytest.mark.parametrize("case_id", HOSTILE)
def test_no_id_leaves_the_folder(tmp_path: Path, case_id: str) -> None:
    name = folder_name(f"test_a.py::test_x[{case_id}]", case_id)

    path = keep(tmp_path / ".llmeval", name, {"failure.txt": "x"})

    parent = tmp_path / ".llmeval" / "failures"
    assert path.parent == parent
    assert [entry.name for entry in parent.iterdir()] == [name]
    assert name.isprintable()
    assert name not in {".", ".."}
    assert not name.startswith("-")
    assert len(os.fsencode(name)) < 255


def test_a_name_is_recognised_and_tells_cases_apart() -> None:
    france = folder_name("a/test_a.py::Test::test_x[france]", "france")

    assert france.startswith("test_x-france-")
    assert folder_name("t.py::test_x[日本]", "日本").startswith("test_x-日本-")
    assert france != folder_name("b/test_a.py::Test::test_x[france]", "france")
    assert folder_name("t.py::x[a b]", "a b") != folder_name("t.py::x[a/b]", "a/b")
    assert folder_name("[]", "").startswith("case-")


def test_an_older_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    keep(tmp_path, "x-0123456789", {"failure.txt": "old", "judge.txt": "old"})

    path = keep(tmp_path, "x-0123456789", {"failure.txt": "new"})

    assert [file.name for file in path.iterdir()] == ["failure.txt"]
    assert (path / "failure.txt").read_text("utf-8") == "new"
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert (tmp_path / ".gitignore").is_file()


def test_an_older_folder_stays_where_the_new_one_cannot_be_written(
    tmp_path: Path,
) -> None:
    path = keep(tmp_path, "x-0123456789", {"failure.txt": "old"})

    with pytest.raises(OSError, match="no/such"):
        keep(tmp_path, "x-0123456789", {"no/such/file": "new"})

    assert (path / "failure.txt").read_text("utf-8") == "old"
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_what_a_link_leads_to_is_let_be(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("mine", "utf-8")
    home = tmp_path / "home"
    (home / "failures").mkdir(parents=True)
    (home / "failures" / "x-0123456789").symlink_to(elsewhere)

    path = keep(home, "x-0123456789", {"failure.txt": "new"})

    assert not path.is_symlink()
    assert [file.name for file in elsewhere.iterdir()] == ["mine"]


def test_the_newest_are_kept_and_nothing_of_anybody_elses_goes(tmp_path: Path) -> None:
    for number in range(KEPT + 3):
        path = keep(tmp_path, f"x-{number:010d}", {"failure.txt": "x"})
        os.utime(path, (number, number))
    other = tmp_path / "failures" / "notes of mine"
    other.mkdir()
    os.utime(other, (0, 0))

    prune(tmp_path)

    names = sorted(entry.name for entry in (tmp_path / "failures").iterdir())
    assert names[0] == "notes of mine"
    assert names[1:] == [f"x-{number:010d}" for number in range(3, KEPT + 3)]


def test_nothing_is_pruned_where_nothing_is(tmp_path: Path) -> None:
    prune(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_answers_are_found_by_path_and_by_name(tmp_path: Path) -> None:
    home = tmp_path / ".llmeval"
    path = keep(home, "x-france-0123456789", {ANSWERS: "{}\n"})
    keep(home, "x-peru-0123456789", {"failure.txt": "has none"})
    wanted = path / ANSWERS

    for given in (str(path), ".llmeval/failures/x-france-0123456789", path.name):
        assert find_answers(given, base=tmp_path, home=home) == wanted
    with pytest.raises(UserError, match=r"did you mean 'x-france-0123456789'"):
        find_answers("x-franc-0123456789", base=tmp_path, home=home)
    with pytest.raises(UserError, match=r"there are: x-france-0123456789\Z"):
        find_answers("x-peru-0123456789", base=tmp_path, home=home)
    with pytest.raises(UserError, match="there are: none with answers"):
        find_answers("y", base=tmp_path, home=tmp_path)

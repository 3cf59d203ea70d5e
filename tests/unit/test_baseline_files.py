"""Baselines on disk, in git, and what a comparison decides."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.baseline import (
    Baseline,
    NoBaseline,
    Standing,
    Value,
    baseline_path,
    compare,
    decide,
    find_baseline,
    head_commit,
    parse_baseline,
    write_baseline,
)
from pytest_llmeval.errors import ConfigError, UserError
from pytest_llmeval.store.journal import Journal
from pytest_llmeval.types import Record


def standing(case_id: str, status: str = "passed", **rest: Any) -> Standing:
    values = {"f1": Value(metric="f1", value=0.5, version=2, higher_is_better=True)}
    return Standing(
        test="test_a.py::test_x", case_id=case_id, status=status, values=values, **rest
    )


BASELINE = Baseline(
    name="main",
    cases=(standing("peru", reply="Lima\u2028 é"), standing("kenya", "failed")),
    created="2026-01-05T10:00:00Z",
    commit="3f2a1bc" + "0" * 33,
    dirty=True,
    run={"mode": "auto", "generators": ["app"]},
)


def test_a_baseline_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "llmeval_baselines" / "main.json"

    write_baseline(BASELINE, path)

    found = parse_baseline(path.read_bytes(), "main.json")
    assert found == replace(BASELINE, cases=tuple(reversed(BASELINE.cases)))
    assert found.shown == "main (3f2a1bc+, 2026-01-05)"
    assert os.listdir(path.parent) == ["main.json"]


def test_a_changed_case_changes_its_line_alone(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    write_baseline(BASELINE, first)
    cases = (standing("kenya"), BASELINE.cases[0])
    write_baseline(replace(BASELINE, cases=cases), second)

    old, new = (path.read_text("utf-8").split("\n") for path in (first, second))

    assert len(old) == len(new)
    assert sum(a != b for a, b in zip(old, new, strict=True)) == 1


def test_a_baseline_that_can_not_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "main.json"
    write_baseline(BASELINE, path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_baseline(replace(BASELINE, cases=()), path)

    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["main.json"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is not JSON"),
        (b'{"format": 1, "cases": [', "it is not JSON"),
        (b"[]", "it has no 'format'"),
        (b'{"format": 2, "cases": []}', "it has format 2, and this version reads 1"),
        (b'{"format": 1}', "'cases' is None, not a list"),
        (b'{"format": 1, "cases": [3]}', "case 1 is not whole"),
        (b'{"format": 1, "cases": [{"test": "t"}]}', "case 1 is not whole"),
        (b'{"format": 1, "cases": [{"tset": "t"}]}', "case 1 is not whole"),
    ],
)
def test_what_is_no_baseline_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(UserError, match=f"^x.json is no baseline .*{message}"):
        parse_baseline(content, "x.json")


@pytest.mark.parametrize("name", ["", "last", "../up", "a b", ".hidden", "git:x"])
def test_a_name_that_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="is no name for a baseline: it has"):
        baseline_path(tmp_path, name)


def find(spec: str, root: Path) -> Baseline:
    return find_baseline(spec, root=root, base=root)


def test_a_baseline_is_found_by_name_and_by_path(tmp_path: Path) -> None:
    write_baseline(BASELINE, baseline_path(tmp_path, "main"))

    assert find("main", tmp_path) == find("llmeval_baselines/main.json", tmp_path)


@pytest.mark.parametrize("spec", ["mian", "somewhere/else.json"])
def test_a_baseline_that_is_not_there_yet_is_no_mistake(
    tmp_path: Path, spec: str
) -> None:
    write_baseline(BASELINE, baseline_path(tmp_path, "main"))

    with pytest.raises(NoBaseline, match=f"no baseline '{spec}' yet.*--llmeval-save"):
        find(spec, tmp_path)


def test_a_name_near_one_that_is_there_is_suggested(tmp_path: Path) -> None:
    write_baseline(BASELINE, baseline_path(tmp_path, "main"))

    with pytest.raises(NoBaseline, match=r"did you mean 'main'\?\); there are: main"):
        find("mian", tmp_path)


@pytest.mark.parametrize("spec", ["git:main", "git::main", "git:main:", "a/b.txt"])
def test_a_spec_that_is_none_is_refused(tmp_path: Path, spec: str) -> None:
    with pytest.raises(ConfigError):
        find(spec, tmp_path)


def run_of(root: Path, case_id: str, *, ends: bool = True) -> Path:
    journal = Journal.open(root / ".llmeval", {"started": "2026-01-05T10:00:00Z"})
    record = Record(
        nodeid=f"t.py::t[{case_id}]", test="t.py::t", case_id=case_id, status="passed"
    )
    journal.append(record.to_json())
    if ends:
        journal.close({})
    return journal.path


def test_last_is_the_newest_run_that_came_to_its_end(tmp_path: Path) -> None:
    run_of(tmp_path, "first")
    os.rename(
        newest := run_of(tmp_path, "second"),
        newest.with_name("2031" + newest.name[4:]),
    )
    os.rename(
        cut := run_of(tmp_path, "third", ends=False),
        cut.with_name("2032" + cut.name[4:]),
    )

    assert [case.case_id for case in find("last", tmp_path).cases] == ["second"]


def test_a_journal_can_be_named(tmp_path: Path) -> None:
    path = run_of(tmp_path, "one")

    assert find(str(path), tmp_path).cases[0].case_id == "one"


def test_without_a_run_there_is_no_last_one(tmp_path: Path) -> None:
    with pytest.raises(NoBaseline, match="no run has come to its end"):
        find("last", tmp_path)


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A branch that left main after its first baseline; main went on."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    root = tmp_path / "repository" / "suite"
    root.mkdir(parents=True)
    git(root.parent, "init", "-q", "-b", "main")
    write_baseline(BASELINE, baseline_path(root, "main"))
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    git(root, "checkout", "-qb", "work")
    git(root, "commit", "-q", "--allow-empty", "-m", "work")
    git(root, "checkout", "-q", "main")
    write_baseline(replace(BASELINE, cases=()), baseline_path(root, "main"))
    git(root, "commit", "-qam", "second")
    git(root, "checkout", "-q", "work")
    return root


def test_a_baseline_in_git_is_that_of_the_merge_base(repository: Path) -> None:
    baseline_path(repository, "main").unlink()

    assert len(find("git:main:main", repository).cases) == 2


def test_a_commit_without_the_baseline_has_none_yet(repository: Path) -> None:
    with pytest.raises(NoBaseline, match="no baseline 'other' in [0-9a-f]{7}, where"):
        find("git:main:other", repository)


@pytest.mark.parametrize("ref", ["nowhere", "--output=x"])
def test_a_ref_that_git_does_not_know_is_told(repository: Path, ref: str) -> None:
    with pytest.raises(UserError, match=ref):
        find(f"git:{ref}:main", repository)


def test_a_shallow_clone_is_told_how_deep_to_fetch(repository: Path) -> None:
    clone = repository.parent.parent / "clone"
    git(
        *(repository, "clone", "-q", "--depth=1", "--no-single-branch"),
        *(f"file://{repository.parent}", str(clone)),
    )

    with pytest.raises(UserError, match="the clone is shallow.*fetch-depth: 0"):
        find("git:origin/main:main", clone)


def test_outside_of_git_it_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="git"):
        find("git:main:main", tmp_path)

    assert head_commit(tmp_path) == (None, None)


def test_the_commit_and_its_changes_are_known(repository: Path) -> None:
    assert head_commit(repository) == (git(repository, "rev-parse", "HEAD"), False)

    baseline_path(repository, "main").write_text("{}", "utf-8")
    assert head_commit(repository)[1] is True


# --- decisions --------------------------------------------------------------------------


def decision(
    lost: int, gained: int, same: int = 0, *, fail_on: str = "any", must: bool = False
) -> tuple[str, str]:
    before = [standing(f"l{n}", must_pass=must) for n in range(lost)]
    before += [standing(f"g{n}", "failed") for n in range(gained)]
    before += [standing(f"s{n}") for n in range(same)]
    flips = {"l": "failed", "g": "passed", "s": "passed"}
    now = [replace(one, status=flips[one.case_id[0]]) for one in before]
    made = decide(compare(now, before), fail_on, allow_missing=False)
    return made.state, made.reason


@pytest.mark.parametrize(
    ("counts", "fail_on", "expected"),
    [
        ((0, 0, 3), "any", ("holds", "nothing got worse")),
        ((1, 5, 3), "any", ("fails", "1 regressed")),
        ((1, 5, 3), "none", ("holds", "1 regressed")),
        ((0, 0, 0), "any", ("inconclusive", "no case could be compared")),
        ((0, 0, 0), "significant", ("inconclusive", "no case could be compared")),
        (
            (3, 0, 9),
            "significant",
            ("inconclusive", "3 lost, 0 gained; 6 would show"),
        ),
        ((6, 0, 9), "significant", ("fails", "6 lost, 0 gained, p 0.031")),
        ((2, 5, 9), "significant", ("holds", "2 lost, 5 gained")),
        ((0, 9, 9), "significant", ("holds", "nothing got worse")),
    ],
)
def test_what_a_comparison_decides(
    counts: tuple[int, int, int], fail_on: str, expected: tuple[str, str]
) -> None:
    assert decision(*counts, fail_on=fail_on) == expected


def test_a_lost_case_that_must_pass_is_no_noise() -> None:
    assert decision(4, 0, 90, fail_on="significant", must=True) == (
        "fails",
        "must pass, and lost: l0, l1, l2 and 1 more",
    )


@pytest.mark.parametrize("fail_on", ["any", "significant"])
def test_missing_cases_that_passed_fail(fail_on: str) -> None:
    gone = compare([standing("a")], [standing("a"), standing("b")])

    assert decide(gone, fail_on, allow_missing=False).reason == (
        "1 case that passed is missing (--llmeval-allow-missing accepts that)"
    )
    assert decide(gone, fail_on, allow_missing=True).state == "holds"


def test_a_missing_case_that_failed_is_no_loss() -> None:
    gone = compare([standing("a")], [standing("a"), standing("b", "failed")])

    assert decide(gone, "any", allow_missing=False).state == "holds"


def test_noise_is_forgiven_and_said_to_be() -> None:
    before = [standing(str(n)) for n in range(9)]
    now = [replace(one, status="failed") for one in before[:2]] + before[2:]

    made = decide(compare(now, before), "significant", allow_missing=False)

    assert made.forgives
    assert not decide(compare(now, before), "any", allow_missing=False).forgives


def test_the_file_is_plain_json(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_baseline(BASELINE, path)

    data = json.loads(path.read_text("utf-8"))

    assert list(data) == [
        *("format", "name", "created", "commit", "dirty", "run"),
        "cases",
    ]

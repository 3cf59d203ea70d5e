"""Runs that are killed, or whose disk is full: what has ended stays, no file is half."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.baseline import parse_baseline
from pytest_llmeval.errors import UserError
from pytest_llmeval.store.runs import read_run, run_files

if TYPE_CHECKING:
    from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", generator="column:reply")
def test_it(case, generator):
    assert_exact(generator(case), case)
"""
#: Runs pytest in a child that is killed at its n-th write, for each n there is: half of
#: what was to be written is. Tells, a line a run, the files that are left.
DRIVER = """
import json, os, pathlib, shutil, signal, sys
import pytest, pytest_llmeval.plugin.run

def files():
    here = pathlib.Path()
    paths = [*here.glob(".llmeval/runs/*"), *here.glob("llmeval_baselines/*")]
    return {str(path): path.read_text() for path in paths}

def die_at(number):
    left = number
    def dying(name, function):
        def call(*args, **keywords):
            nonlocal left
            left -= name != "write" or b'"kind"' in args[1]
            if left == 0:
                if name == "write":
                    function(args[0], args[1][: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **keywords)
        return call
    for name in ("write", "fsync", "replace"):
        setattr(os, name, dying(name, getattr(os, name)))

before = pathlib.Path("llmeval_baselines/main.json").read_text()
for number in range(1, 50):
    shutil.rmtree(".llmeval", ignore_errors=True)
    pathlib.Path("llmeval_baselines/main.json").write_text(before)
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        die_at(number)
        os._exit(pytest.main(sys.argv[1:]))
    _, status = os.waitpid(child, 0)
    print(json.dumps([status, files()]), flush=True)
    if not os.WIFSIGNALED(status):
        break
"""


def rows_of(suite: Suite, reply: str) -> None:
    rows = [{"id": f"c{n}", "reply": reply, "expected": "a"} for n in range(3)]
    suite.rows("rows.jsonl", rows)


@pytest.fixture
def saved(suite: Suite) -> Suite:
    """A suite with a baseline; its cases have failed since."""
    suite.write(test_it=TEST)
    rows_of(suite, "a")
    assert suite.run("--llmeval-save=main").ret == pytest.ExitCode.OK
    rows_of(suite, "b")
    return suite


def ended(journal: Path) -> list[str]:
    """Return the ids of the cases in a journal, none where its header is cut."""
    if b"\n" not in journal.read_bytes():
        with pytest.raises(UserError, match="the header is cut off"):
            read_run(journal)
        return []
    return [record.case_id for record in read_run(journal).records]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")
def test_a_run_killed_at_any_write_leaves_what_had_ended_and_a_whole_baseline(
    saved: Suite, tmp_path: Path
) -> None:
    path = saved.path / "llmeval_baselines" / "main.json"
    old = path.read_text("utf-8")
    arguments = ["-p", "pytest_llmeval.plugin", "-p", "no:cacheprovider"]
    told = subprocess.run(
        [sys.executable, "-B", "-c", DRIVER, *arguments, "--llmeval-save=main"],
        cwd=saved.path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    *killed, (status, whole) = map(json.loads, told.splitlines())
    found, baselines = [], []
    for _, files in killed:
        name = next(name for name in files if "runs" in name)
        (tmp_path / "run.jsonl").write_text(files[name], "utf-8")
        found.append(ended(tmp_path / "run.jsonl"))
        baselines.append(files["llmeval_baselines/main.json"])

    assert os.waitstatus_to_exitcode(status) == pytest.ExitCode.TESTS_FAILED
    # The header, three cases; then failures, the baseline (fsync, replace), the footer.
    cases = ["c0", "c1", "c2"]
    assert found[:4] == [[], [], cases[:1], cases[:2]]
    assert {tuple(ids) for ids in found[4:]} == {tuple(cases)}
    kept = [parse_baseline(text.encode(), "main") for text in baselines]
    assert {len(one.cases) for one in kept} == {3}
    assert (baselines[0], baselines[-1] == old) == (old, False)
    assert whole["llmeval_baselines/main.json"] != old


@pytest.mark.parametrize("number", range(5))
def test_a_disk_that_is_full_at_a_write_of_the_journal_costs_no_case(
    saved: Suite, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, count = os.write, 0

    def full(descriptor: int, data: bytes) -> int:
        nonlocal count
        if b'"kind"' not in data[:40]:
            return write(descriptor, data)
        count += 1
        if count <= number:
            return write(descriptor, data)
        if count == number + 1:
            return write(descriptor, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    rows_of(saved, "a")
    monkeypatch.setattr(os, "write", full)
    result = saved.run()
    (journal, _) = run_files(saved.path / ".llmeval" / "runs")

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["could not write the journal of this run, *"])
    assert ended(journal) == ["c0", "c1", "c2"][: max(0, number - 1)]


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_disk_that_is_full_leaves_the_old_baseline_and_fails_the_run(
    saved: Suite, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved.path / "llmeval_baselines" / "main.json"
    old = path.read_text("utf-8")

    def full(*args: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, name, full)
    rows_of(saved, "a")
    result = saved.run("--llmeval-save=main")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["could not save the baseline *No space left*"])
    assert path.read_text("utf-8") == old
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="a process is killed by a signal")
@pytest.mark.parametrize("who", ["getpid", "getppid"], ids=["worker", "controller"])
def test_cases_that_have_ended_outlive_a_killed_process_of_xdist(
    suite: Suite, who: str
) -> None:
    suite.write(
        test_it=TEST.replace(
            "    assert_exact",
            f"    if case.id == 'c2': os.kill(os.{who}(), signal.SIGKILL)\n"
            "    assert_exact",
        ).replace("import pytest", "import os, signal, pytest", 1)
    )
    rows_of(suite, "a")
    suite.run_alone("-n1", "--max-worker-restart=0", "--llmeval-concurrency=1")
    (journal,) = run_files(suite.path / ".llmeval" / "runs")
    run = read_run(journal)
    statuses = {record.case_id: record.status for record in run.records}

    assert (statuses["c0"], statuses["c1"]) == ("passed", "passed")
    if who == "getpid":
        assert run.footer is not None
        assert statuses["c2"] == "unscored"
    else:
        assert run.footer is None

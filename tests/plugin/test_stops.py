"""A run that is stopped: what finished is kept, what did not is told."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.store.runs import read_run
from tests.conftest import QUIET

if TYPE_CHECKING:
    from tests.conftest import Suite

HEAD = """
import asyncio, os, pathlib, threading, pytest
from pytest_llmeval import assert_exact

ROWS = [{"id": f"c{n}", "input": f"q{n}", "expected": f"q{n}"} for n in range(6)]
"""

STOPPED = (
    HEAD
    + """
@pytest.mark.llmeval(ROWS, generator="python:stop_app:answer")
def test_it(case, generator):
    reply = generator(case)
    if case.id == "c2":
        {stop}
    assert_exact(reply, case)

def test_other():
    pass
"""
)

HUNG = (
    HEAD
    + """
@pytest.mark.llmeval(ROWS, generator="python:stop_app:answer")
def test_it(case, generator):
    assert_exact(generator(case), case)
    if case.id == "c2":
        pathlib.Path("begun").write_text("x")
        threading.Event().wait()
"""
)


@pytest.fixture
def stopped(suite: Suite) -> Suite:
    suite.write(stop_app_py="def answer(prompt):\n    return prompt\n")
    return suite


def report(suite: Suite, *args: str) -> tuple[pytest.RunResult, dict[str, Any]]:
    """Run a suite that is stopped; return its JSON report beside the result."""
    result = suite.pytester.runpytest_inprocess(
        *QUIET,
        *("-p", "no:cacheprovider", "--llmeval-report=report.json"),
        *args,
        no_reraise_ctrlc=True,
    )
    return result, json.loads((suite.path / "report.json").read_text("utf-8"))


@pytest.mark.parametrize("stop", ["raise KeyboardInterrupt", 'pytest.exit("enough")'])
def test_what_was_running_and_what_was_not_run_is_told(
    stopped: Suite, stop: str
) -> None:
    stopped.write(test_it=STOPPED.replace("{stop}", stop))

    result, data = report(stopped, "--llmeval-concurrency=1", "--llmeval-save=main")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    ended = {case["case_id"]: case["status"] for case in data["cases"]}
    assert ended == {
        "c0": "passed",
        "c1": "passed",
        "c2": "unscored",
        "c3": "not_run",
        "c4": "not_run",
        "c5": "not_run",
    }
    running = data["cases"][2]
    assert running["cause"] == "interrupted"
    assert running["samples"][0]["response"] == "q2"
    totals = data["totals"]
    assert (totals["cases"], totals["pass_rate"]) == (6, 1.0)
    result.stdout.fnmatch_lines(
        [
            "1 unscored: 1 interrupted",
            "*the run was stopped while this case ran",
            "the run was stopped: 1 case was running and is unscored, 3 cases were not run",
            "next: pytest * --llmeval-concurrency=1 --llmeval-save=main --llmeval-resume",
        ]
    )
    lines = stopped.journal()
    assert Counter(line.get("status") for line in lines[1:-1]) == Counter(
        ended.values()
    )
    assert lines[-1]["exit_status"] == pytest.ExitCode.INTERRUPTED
    assert not (stopped.path / "llmeval_baselines").exists()


def test_what_can_not_be_gone_on_with_is_run_again(stopped: Suite) -> None:
    stopped.write(test_it=STOPPED.replace("{stop}", "raise KeyboardInterrupt"))

    result, _ = report(stopped, "--llmeval-concurrency=1", "--llmeval-mutate")

    result.stdout.fnmatch_lines(["next: pytest *test_it*c2*"])
    result.stdout.no_fnmatch_line("*--llmeval-resume*")


def test_where_collecting_failed_nothing_is_said_to_have_run(stopped: Suite) -> None:
    stopped.write(
        test_it=STOPPED.replace("{stop}", "pass"), test_broken="raise OSError"
    )

    result, _ = report(stopped)

    result.stdout.fnmatch_lines(["the run was stopped: 6 cases were not run"])
    result.stdout.no_fnmatch_line("next:*")


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_bodies_that_ran_ahead_were_running(stopped: Suite, kind: str) -> None:
    plain = """
BEGUN = threading.Barrier(6)

@pytest.mark.llmeval(ROWS)
def test_it(case):
    BEGUN.wait(20)
    if case.id == "c0":
        raise KeyboardInterrupt
    threading.Event().wait()
"""
    is_async = """
BEGUN = []

@pytest.mark.llmeval(ROWS)
async def test_it(case):
    BEGUN.append(case.id)
    while len(BEGUN) < 6:
        await asyncio.sleep(0)
    if case.id == "c0":
        raise KeyboardInterrupt
    await asyncio.Event().wait()
"""
    stopped.write(test_it=HEAD + {"plain": plain, "async": is_async}[kind])

    result, data = report(stopped)

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert [case["case_id"] for case in data["cases"]] == [f"c{n}" for n in range(6)]
    assert {case["cause"] for case in data["cases"]} == {"interrupted"}


def test_a_controller_that_is_stopped_counts_what_is_left(stopped: Suite) -> None:
    stopped.write(
        test_it=STOPPED.replace("{stop}", "pass"),
        conftest="""
import pytest

ENDED = []

@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    if report.when == "call" and hasattr(report, "node"):
        ENDED.append(report.nodeid)
        if len(ENDED) == 2:
            raise KeyboardInterrupt
""",
    )

    result, data = report(stopped, "-n2", "-m", "llmeval")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    statuses = Counter(case["status"] for case in data["cases"])
    found = re.search(
        r"the run was stopped: (?:(\d) cases? w\w+ running and \w+ unscored, )?"
        r"(\d) cases? w\w+ not run",
        result.stdout.str(),
    )
    assert found is not None
    assert statuses["passed"] == 2
    assert statuses["unscored"] == int(found[1] or 0)
    assert 2 + int(found[1] or 0) + int(found[2]) == 6
    result.stdout.fnmatch_lines(["next: pytest * -n2 -m llmeval --llmeval-resume"])


def pytest_process(suite: Suite, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", *QUIET, "-p", "no:cacheprovider", *args],
        cwd=suite.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
@pytest.mark.parametrize(
    "signals",
    [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)],
    ids=["twice", "term"],
)
def test_a_run_that_is_ended_at_once_leaves_its_journal(
    stopped: Suite, signals: tuple[int, ...]
) -> None:
    os.mkfifo(stopped.path / "begun")
    stopped.write(test_it=HUNG)

    run = pytest_process(stopped, "--llmeval-concurrency=1")
    with run:
        assert (stopped.path / "begun").read_text("utf-8") == "x"
        for one in signals:
            run.send_signal(one)
        run.communicate(timeout=60)

    assert run.returncode != 0
    (journal,) = (stopped.path / ".llmeval" / "runs").glob("*.jsonl")
    stored = read_run(journal)
    passed = [r.case_id for r in stored.records if r.status == "passed"]
    assert passed == ["c0", "c1"]
    for line in journal.read_text("utf-8").splitlines():
        json.loads(line)


@pytest.mark.parametrize(
    "hang",
    ["threading.Event().wait()", "await asyncio.Event().wait()", "BLOCKED.wait()"],
    ids=["a thread", "a task", "the loop"],
)
def test_a_model_that_hangs_keeps_nobody_from_ending(stopped: Suite, hang: str) -> None:
    is_async = "" if hang.startswith("threading") else "async "
    stopped.write(
        stop_app_py=f"""
import asyncio, threading

BLOCKED = threading.Event()
HANGS = threading.Event()

{is_async}def answer(prompt):
    if prompt != "q0":
        HANGS.set()
        {hang}
    return "no"
""",
        test_it=HEAD
        + """
import stop_app

@pytest.mark.llmeval(ROWS, generator="python:stop_app:answer")
def test_it(case, generator):
    reply = generator(case)
    assert stop_app.HANGS.wait(20)
    assert_exact(reply, case)
""",
    )

    with pytest_process(stopped, "-x") as run:
        output, errors = run.communicate(timeout=60)

    assert run.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 failed" in output
    assert errors == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_that_was_forked_can_ask(stopped: Suite) -> None:
    stopped.write(
        test_it=HEAD
        + """
@pytest.mark.llmeval(ROWS, generator="python:stop_app:answer")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_it(case, generator):
    assert_exact(generator(case), case)
    if (child := os.fork()) == 0:
        os._exit(0 if generator(case).text == case.input else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    )

    with pytest_process(stopped) as run:
        output, _ = run.communicate(timeout=60)

    assert run.returncode == pytest.ExitCode.OK
    assert "6 passed" in output
    (journal,) = Path(stopped.path, ".llmeval", "runs").glob("*.jsonl")
    assert len(read_run(journal).records) == 6

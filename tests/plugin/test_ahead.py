"""Bodies of siblings run ahead: at once, once each, and pytest keeps its meaning."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.conftest import QUIET

if TYPE_CHECKING:
    from tests.conftest import Suite

#: What the suites of this file have in common: a log of the bodies that ran, and
#: `meet`, which ends only when so many bodies run at once.
APP = """
import threading

PATIENCE_SECONDS = 20
ran = []
_meetings = {}
_lock = threading.Lock()

def note(name):
    ran.append((name, threading.current_thread() is threading.main_thread()))

def meet(name, count):
    with _lock:
        if name not in _meetings:
            _meetings[name] = threading.Barrier(count, timeout=PATIENCE_SECONDS)
    _meetings[name].wait()
"""
CONFTEST = """
import app

def pytest_sessionfinish(session):
    worker = getattr(session.config, "workerinput", {}).get("workerid", "main")
    with open(f"ran_{worker}.txt", "w") as file:
        file.writelines(f"{name} {is_main}\\n" for name, is_main in app.ran)
"""
HEAD = """
import pytest
import app
from pytest_llmeval import assert_exact

ROWS = [{"id": f"c{n}", "question": str(n), "expected": str(n)} for n in range(6)]
"""


@pytest.fixture
def ahead(suite: Suite) -> Suite:
    suite.write(app=APP, conftest=CONFTEST)
    return suite


def ran(suite: Suite, worker: str = "main") -> list[str]:
    """Return the names of the bodies that ran, in the order in which they began."""
    text = (suite.path / f"ran_{worker}.txt").read_text()
    return [line.split()[0] for line in text.splitlines()]


def in_main_thread(suite: Suite) -> set[str]:
    lines = (suite.path / "ran_main.txt").read_text().splitlines()
    return {name for name, is_main in map(str.split, lines) if is_main == "True"}


PLAIN = """
@pytest.mark.llmeval(ROWS, generator=str)
def test_a(case, generator):
    app.note(case.id)
    app.meet("a", 3)
    assert_exact(generator(case), case)
"""
ASYNC = """
@pytest.mark.llmeval(ROWS, generator=str)
async def test_a(case, generator):
    import asyncio
    app.note(case.id)
    await asyncio.to_thread(app.meet, "a", 3)
    assert_exact(await generator.acall(case), case)
"""
KINDS = pytest.mark.parametrize("body", [PLAIN, ASYNC], ids=["plain", "async"])


@KINDS
def test_bodies_of_siblings_run_at_once_and_once_each(ahead: Suite, body: str) -> None:
    ahead.write(test_a=HEAD + body)

    ahead.run("--llmeval-concurrency=3").assert_outcomes(passed=6)

    assert sorted(ran(ahead)) == [f"c{n}" for n in range(6)]


def test_the_marker_says_how_many_run_at_once(ahead: Suite) -> None:
    ahead.write(
        test_a=HEAD + PLAIN.replace("generator=str", "generator=str, concurrency=3"),
        llmeval_yaml="limits: {concurrency: 1}\n",
    )

    ahead.run().assert_outcomes(passed=6)


def test_the_command_line_is_the_most_there_is(ahead: Suite) -> None:
    body = PLAIN.replace("generator=str", "generator=str, concurrency=3")
    ahead.write(test_a=HEAD + body.replace('"a", 3', '"a", 1'))

    ahead.run("--llmeval-concurrency=1").assert_outcomes(passed=6)

    assert in_main_thread(ahead) == {f"c{n}" for n in range(6)}
    assert ran(ahead) == [f"c{n}" for n in range(6)]


def test_llmeval_yaml_says_how_many_run_at_once(ahead: Suite) -> None:
    ahead.write(test_a=HEAD + PLAIN, llmeval_yaml="limits: {concurrency: 3}\n")

    ahead.run().assert_outcomes(passed=6)


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
def test_a_concurrency_that_is_no_count_is_refused(suite: Suite, value: str) -> None:
    suite.write(test_a=HEAD.replace("import app\n", "") + PLAIN)

    result = suite.run(f"--llmeval-concurrency={value}")

    result.stderr.fnmatch_lines(
        [f"ERROR: --llmeval-concurrency is a whole number from 1 up, not '{value}'"]
    )


def test_a_marker_with_no_count_is_refused(ahead: Suite) -> None:
    ahead.write(test_a=HEAD + PLAIN.replace("=str", "=str, concurrency=0"))

    result = ahead.run()

    result.stdout.fnmatch_lines(
        ["*llmeval marker: concurrency is a whole number from 1 up, not 0*"]
    )


def test_a_single_case_runs_in_the_main_thread(ahead: Suite) -> None:
    ahead.write(test_a=HEAD + PLAIN.replace('"a", 3', '"a", 1'))

    ahead.run("-k", "c3").assert_outcomes(passed=1)

    assert in_main_thread(ahead) == {"c3"}


def test_every_way_to_end_keeps_its_meaning(ahead: Suite) -> None:
    ahead.write(
        test_a=HEAD
        + """
@pytest.mark.llmeval(ROWS, generator=str)
def test_a(case, generator):
    app.note(case.id)
    if case.id == "c1":
        pytest.skip("not today")
    if case.id == "c2":
        pytest.xfail("known")
    if case.id == "c3":
        pytest.fail("plainly")
    if case.id == "c4":
        assert case.id == "c5"
    if case.id == "c5":
        raise LookupError("lost")
    assert_exact(generator(case), case)
"""
    )

    result, report = ahead.report("-rs")

    statuses = {case["case_id"]: case["status"] for case in report["cases"]}
    assert statuses == {
        "c0": "passed",
        "c1": "skipped",
        "c2": "xfailed",
        "c3": "failed",
        "c4": "failed",
        "c5": "unscored",
    }
    result.stdout.fnmatch_lines(
        [
            "E*LookupError: lost",
            "test_a.py:20: LookupError",
            "E*Failed: plainly",
            "test_a.py:16: Failed",
            "E*AssertionError: assert 'c4' == 'c5'",
            "*SKIPPED*test_a.py:12: not today",
        ]
    )
    text = result.stdout.str()
    assert "_engine" not in text
    assert "threading.py" not in text
    assert len(ran(ahead)) == 6


@pytest.mark.parametrize("option", ["-x", "--maxfail=1", "--sw"])
def test_little_is_begun_behind_a_failure(ahead: Suite, option: str) -> None:
    body = PLAIN.replace('"a", 3', '"a", 1').replace("range(6)", "range(60)")
    ahead.write(
        test_a=HEAD.replace("range(6)", "range(60)")
        + body
        + '    assert case.id != "c3"\n'
    )

    result = ahead.run_with_cache(option, "--llmeval-concurrency=4")

    result.assert_outcomes(passed=3, failed=1)
    assert len(ran(ahead)) <= 3 + 4 + 4


def test_what_failed_last_runs_alone(ahead: Suite) -> None:
    ahead.write(
        test_a=HEAD
        + PLAIN.replace('"a", 3', '"a", 1')
        + '    assert case.id not in {"c1", "c4"}\n'
    )
    ahead.run_with_cache().assert_outcomes(passed=4, failed=2)

    ahead.run_with_cache("--lf").assert_outcomes(failed=2)

    assert sorted(ran(ahead)) == ["c1", "c4"]


def test_setup_and_teardown_keep_their_order(ahead: Suite) -> None:
    ahead.write(
        test_a=HEAD
        + """
@pytest.fixture(scope="module")
def shelf():
    return []

class TestShelf:
    @pytest.mark.parametrize("side", ["left", "right"])
    @pytest.mark.llmeval(ROWS, generator=str)
    def test_a(self, case, generator, shelf, side):
        assert isinstance(self, TestShelf)
        app.note(f"{case.id}-{side}")
        app.meet("a", 3)
        assert_exact(generator(case), case)
"""
    )

    result = ahead.run("--setup-show", "--llmeval-concurrency=3")

    result.assert_outcomes(passed=12)
    assert len(set(ran(ahead))) == 12
    lines = [line.strip() for line in result.outlines]
    assert sum(line.startswith("SETUP    M shelf") for line in lines) == 1


def test_a_parametrized_fixture_is_never_given_to_the_wrong_case(ahead: Suite) -> None:
    ahead.write(
        test_a=HEAD
        + """
@pytest.fixture(scope="module", params=["x", "y"])
def place(request):
    opened = {"name": request.param, "is_open": True}
    yield opened
    opened["is_open"] = False

@pytest.mark.llmeval(ROWS, generator=str)
def test_a(case, generator, place, request_id):
    app.note(f"{case.id}-{place['name']}")
    app.meet("a", 3)
    assert place["is_open"] and place["name"] == request_id
    assert_exact(generator(case), case)

@pytest.fixture(scope="module")
def request_id(place):
    return place["name"]
"""
    )

    ahead.run("--llmeval-concurrency=3").assert_outcomes(passed=12)

    assert len(set(ran(ahead))) == 12


def test_shuffled_cases_run_once_each(ahead: Suite) -> None:
    ahead.write(
        conftest=CONFTEST
        + """
import random

def pytest_collection_modifyitems(items):
    random.Random(7).shuffle(items)
""",
        test_a=HEAD
        + """
@pytest.mark.llmeval(ROWS)
def test_a(case, generator):
    app.note(f"a-{case.id}")
    assert_exact(generator(case), case)

@pytest.mark.llmeval(ROWS)
async def test_b(case, generator):
    app.note(f"b-{case.id}")
    assert_exact(await generator.acall(case), case)

@pytest.mark.parametrize("n", range(6))
def test_plain(n, monkeypatch):
    monkeypatch.setenv("SOMETHING", "else")
    # Nothing of ours runs beside what may change the world.
    assert app.running == 0
""",
    )
    ahead.write(
        app=APP
        + """
running = 0

def answer(text):
    global running
    with _lock:
        running += 1
    try:
        return text
    finally:
        with _lock:
            running -= 1
"""
    )

    ahead.run("--llmeval-generator=python:app:answer").assert_outcomes(passed=18)

    assert len(set(ran(ahead))) == len(ran(ahead)) == 12


def test_a_skipped_case_never_runs_ahead(ahead: Suite) -> None:
    ahead.write(
        test_a=HEAD.replace("range(6)]", 'range(6)]\nROWS[2]["skip"] = "broken"')
        + PLAIN.replace('"a", 3', '"a", 1')
    )

    ahead.run().assert_outcomes(passed=5, skipped=1)

    assert "c2" not in ran(ahead)


def test_the_record_is_that_of_the_body_and_its_time_too(ahead: Suite) -> None:
    ahead.write(
        test_a=HEAD
        + """
@pytest.mark.llmeval(ROWS, generator=str)
def test_a(case, generator, llmeval):
    app.meet("a", 6)
    llmeval.attach("note", case.id)
    llmeval.score("number", int(case.expected))
    assert_exact(generator(case), case)
"""
    )

    _, report = ahead.report("--llmeval-concurrency=6")

    for case in report["cases"]:
        sample = case["samples"][0]
        assert sample["attachments"] == {"note": case["case_id"]}
        assert sample["response"] == case["case_id"][1:]
        scores = {score["name"]: score["value"] for score in sample["scores"]}
        assert scores == {"number": float(case["case_id"][1:]), "exact": 1.0}


def test_a_rerun_runs_afresh(ahead: Suite) -> None:
    ahead.write(
        conftest=CONFTEST
        + """
import pytest
from collections import Counter

tries = Counter()

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    # As pytest-rerunfailures does it.
    from _pytest.runner import runtestprotocol
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in range(2):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if all(report.passed for report in reports):
            break
        if attempt == 0:
            for report in reports:
                if report.failed:
                    report.outcome = "rerun"
                    item.ihook.pytest_runtest_logreport(report=report)
            item._initrequest()
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
""",
        test_a=HEAD
        + PLAIN.replace('"a", 3', '"a", 1')
        + """
    if case.id in {"c1", "c4"}:
        assert [name for name, _ in app.ran].count(case.id) == 2
""",
    )

    ahead.run().assert_outcomes(passed=6)

    assert sorted(ran(ahead)) == ["c0", "c1", "c1", "c2", "c3", "c4", "c4", "c5"]


STOPPED = """
@pytest.mark.llmeval(ROWS, generator=str)
def test_a(case, generator):
    app.note(case.id)
    {line}
"""


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("raise KeyboardInterrupt", pytest.ExitCode.INTERRUPTED),
        ("pytest.exit('enough', 3)", pytest.ExitCode.INTERNAL_ERROR),
    ],
)
def test_a_body_can_end_the_run(
    ahead: Suite, line: str, status: pytest.ExitCode
) -> None:
    ahead.write(test_a=HEAD + STOPPED.format(line=line))

    assert ahead.run_alone().ret == status


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent otherwise there")
@pytest.mark.parametrize("kind", ["plain", "async", "blocked"])
def test_ctrl_c_ends_a_run_whose_bodies_hang(ahead: Suite, kind: str) -> None:
    body = {
        "plain": "def test_a(case):\n    hang()\n",
        "async": "async def test_a(case):\n    await asyncio.Event().wait()\n",
        "blocked": "async def test_a(case):\n    hang()\n",
    }[kind]
    ahead.write(
        test_a=HEAD
        + "import asyncio, pathlib, threading\n"
        + "def hang():\n    pathlib.Path('begun').touch()\n"
        + "    threading.Event().wait()\n\n"
        + "@pytest.mark.llmeval(ROWS)\n"
        + body.replace("await async", "pathlib.Path('begun').touch()\n    await async")
    )
    command = [sys.executable, "-m", "pytest", *QUIET, "-p", "no:cacheprovider"]
    run = subprocess.Popen(
        command,
        cwd=ahead.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with run:
        while not (ahead.path / "begun").exists() and run.poll() is None:
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        output, errors = run.communicate(timeout=30)

    assert run.returncode == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in output
    assert errors == ""


def test_one_that_runs_again_does_not_run_beyond_the_width(ahead: Suite) -> None:
    ahead.write(
        conftest=CONFTEST
        + """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    # As after a fixture that was made anew: what it got is not what it would get now.
    if item.name in {"test_a[c1]", "test_a[c3]"}:
        item.funcargs["shared"] = object()
""",
        test_a=HEAD
        + """
lock = app.threading.Lock()
now = [0]

@pytest.fixture(scope="module")
def shared():
    return object()

@pytest.mark.llmeval(ROWS, generator=str)
def test_a(case, generator, shared):
    app.note(case.id)
    with lock:
        now[0] += 1
        beside = now[0]
    app.threading.Event().wait(0.01)
    with lock:
        now[0] -= 1
    assert beside <= 2
    assert_exact(generator(case), case)
""",
    )

    ahead.run("--llmeval-concurrency=2").assert_outcomes(passed=6)

    assert sorted(ran(ahead)) == ["c0", "c1", "c1", "c2", "c3", "c3", "c4", "c5"]


COLUMN = """
ROWS = [{"id": f"c{n}", "reply": str(n), "expected": str(n)} for n in range(6)]

@pytest.mark.llmeval(ROWS, generator="column:reply")
def test_it(case, generator):
    app.note(case.id)
    assert_exact(generator(case), case)
"""


def test_a_body_that_waits_for_nothing_runs_in_its_own_turn(ahead: Suite) -> None:
    ahead.write(test_quick=HEAD + COLUMN)

    ahead.run().assert_outcomes(passed=6)

    assert in_main_thread(ahead) == {f"c{n}" for n in range(6)}


def test_bodies_that_take_their_time_all_the_same_run_ahead(
    ahead: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Slower than this is any body.
    monkeypatch.setattr("pytest_llmeval.plugin.pace._QUICK_SECONDS", -1.0)
    ahead.write(test_slow=HEAD + COLUMN)

    ahead.run().assert_outcomes(passed=6)

    # Two tell; the last one has no sibling left to run beside.
    assert in_main_thread(ahead) == {"c0", "c1"}


@pytest.mark.parametrize("order", ["column first", "application first"])
def test_models_of_both_sorts_run_ahead(ahead: Suite, order: str) -> None:
    models = ["column:reply", "python:app:same"]
    if order == "application first":
        models.reverse()
    ahead.write(
        app=f"{APP}\ndef same(prompt):\n    return prompt\n",
        test_both=HEAD + BOTH.format(models=models),
    )

    ahead.run().assert_outcomes(passed=12)

    # The first one that has to be waited for tells, where others did not.
    told = {"c0python"} if order == "column first" else set()
    assert len(ran(ahead)) == 12
    assert {n for n in in_main_thread(ahead) if n.endswith("python")} == told


BOTH = """
ROWS = [{{"id": f"c{{n}}", "input": str(n), "reply": str(n), "expected": str(n)}}
        for n in range(6)]

@pytest.mark.llmeval(ROWS, generator={models})
def test_it(case, generator):
    reply = generator(case)
    app.note(case.id + reply.provider)
    assert_exact(reply, case)
"""

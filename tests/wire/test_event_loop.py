"""One loop thread for everybody: async and sync bodies, loops of others, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import QUIET

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.conftest import FaultServer

SHARED = """
import sys
from pytest_llmeval import assert_exact

async def test_one(generator):
    assert_exact(await generator.acall("hi"), "fine")

async def test_two(generator):
    assert_exact(await generator.acall("hi"), "fine")

def test_three(generator):
    assert_exact(generator("hi"), "fine")
    assert "nest_asyncio" not in sys.modules
"""


@pytest.fixture
def lab_suite(suite: Suite, server: FaultServer) -> Suite:
    suite.write(
        llmeval_yaml=(
            "generator: lab\n"
            "models:\n"
            f"  lab: {{provider: openai, base_url: '{server.base_url}', model: m}}\n"
        ),
        test_a=SHARED,
    )
    return suite


def last_line(result: pytest.RunResult) -> str:
    return [line for line in result.outlines if line.strip()][-1]


def test_async_and_sync_bodies_share_the_client_and_leave_no_noise(
    lab_suite: Suite, server: FaultServer
) -> None:
    result = lab_suite.run_alone("-W", "error", "-p", "no:randomly")

    result.assert_outcomes(passed=3)
    assert result.ret == pytest.ExitCode.OK
    assert "3 passed" in last_line(result)
    assert result.errlines == []
    assert server.connections == 1


def test_a_suite_with_a_loop_of_its_own_keeps_it(lab_suite: Suite) -> None:
    lab_suite.write(
        test_a="""
import asyncio

RUN = asyncio.run

def test_in_a_loop(generator):
    async def body():
        return (await generator.acall("hi")).text, asyncio.get_running_loop()

    text, loop = asyncio.run(body())

    assert text == "fine"
    assert asyncio.run is RUN
"""
    )

    result = lab_suite.run_alone("-W", "error")

    result.assert_outcomes(passed=1)
    assert result.errlines == []


def test_a_blocking_call_in_an_async_body_names_the_other(lab_suite: Suite) -> None:
    lab_suite.write(
        test_a="""
async def test_blocks(generator):
    assert generator("hi").text
"""
    )

    result = lab_suite.run()

    result.stdout.fnmatch_lines(["*would block the event loop*await generator.acall(*"])


@pytest.mark.parametrize("runner", ["asyncio", "uvloop"])
def test_pytest_can_be_run_from_within_a_loop(lab_suite: Suite, runner: str) -> None:
    pytest.importorskip(runner)
    lab_suite.write(
        main_py=f"""
import {runner}
import sys
import pytest

async def main():
    return pytest.main(["-q", "-p", "no:cacheprovider", "-W", "error"])

sys.exit({runner}.run(main()))
"""
    )

    done = subprocess.run(
        [sys.executable, "main.py"],
        cwd=lab_suite.path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "3 passed" in done.stdout


def test_a_test_under_another_loop_works(lab_suite: Suite) -> None:
    pytest.importorskip("uvloop")
    lab_suite.write(
        test_a="""
import uvloop

def test_uvloop(generator):
    async def body():
        return (await generator.acall("hi")).text

    assert uvloop.run(body()) == "fine"

def test_blocking_there(generator):
    async def body():
        return generator("hi").text

    assert uvloop.run(body()) == "fine"
"""
    )

    lab_suite.run_alone("-W", "error").assert_outcomes(passed=2)


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent otherwise there")
def test_ctrl_c_during_a_call_ends_the_run_and_leaves_no_noise(
    lab_suite: Suite, server: FaultServer
) -> None:
    server.always(is_held=True)

    run = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "pytest",
            *QUIET,
            "-p",
            "no:cacheprovider",
            "-W",
            "error",
        ],
        cwd=lab_suite.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with run:
        server.wait_for_requests(1)
        run.send_signal(signal.SIGINT)
        output, errors = run.communicate(timeout=20)

    assert run.returncode == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in output
    assert errors == ""


def test_a_suite_that_sets_a_policy_of_loops_is_asked_on_such_a_loop(
    lab_suite: Suite,
) -> None:
    pytest.importorskip("uvloop")
    lab_suite.write(
        conftest="""
import asyncio
import uvloop

asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
""",
        test_a="""
import asyncio
import uvloop

async def test_kind(generator):
    assert isinstance(asyncio.get_running_loop(), uvloop.Loop)
    assert (await generator.acall("hi")).text == "fine"

def test_plain(generator):
    assert generator("hi").text == "fine"
""",
    )

    lab_suite.run_alone().assert_outcomes(passed=2)

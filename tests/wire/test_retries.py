"""Retries on a real wire: which errors, how often, and what the record keeps."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.config import Limits

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.conftest import FaultServer, Lab

LIMITS = Limits(retries=2, timeout_seconds=20)
DOWN = {"error": {"message": "the server's own words"}}


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tests not wait: that waits grow is tested in virtual time."""
    monkeypatch.setattr("pytest_llmeval.clients.retry._FIRST_SECONDS", 0.0)


def posts(server: FaultServer) -> int:
    return sum(seen.method == "POST" for seen in server.seen)


@pytest.mark.parametrize(
    ("status", "requests"),
    [
        *((status, 1) for status in (400, 401, 403, 404, 422)),
        *((status, 3) for status in (408, 409, 429, 500, 502, 503, 529)),
    ],
)
def test_what_can_not_get_better_is_sent_once(
    lab: Lab, server: FaultServer, status: int, requests: int
) -> None:
    server.always(DOWN, status=status)

    error = lab.error(limits=LIMITS)

    assert posts(server) == requests
    assert "the server's own words" in error.reason
    assert ("3 attempts were made" in error.reason) == (requests == 3)


@pytest.mark.parametrize(
    ("code", "message", "requests"),
    [(429, "Upstream is busy", 3), (402, "Account has no credit", 1)],
)
def test_an_error_in_a_good_reply_counts_as_its_code(
    lab: Lab, server: FaultServer, code: int, message: str, requests: int
) -> None:
    server.always({"error": {"message": message, "code": code}}, status=200)

    error = lab.error(limits=LIMITS)

    assert posts(server) == requests
    assert message in error.reason
    assert error.status == code


def test_a_spent_quota_is_not_asked_again(lab: Lab, server: FaultServer) -> None:
    said = {"message": "You exceeded your quota", "code": "insufficient_quota"}
    server.always({"error": said}, status=429)

    error = lab.error(limits=LIMITS)

    assert posts(server) == 1
    assert (
        "the quota of the key is spent (429): You exceeded your quota" in error.reason
    )


@pytest.mark.parametrize("fault", [{"is_dropped": True}, {"cut_at": 1}])
def test_a_broken_connection_is_asked_again(
    lab: Lab, server: FaultServer, fault: dict[str, Any]
) -> None:
    server.will({}, **fault)

    assert lab.ask(limits=LIMITS).text == "fine"
    assert posts(server) == 2


def test_a_time_out_is_asked_again(lab: Lab, server: FaultServer) -> None:
    server.will(is_held=True)

    reply = lab.ask(limits=Limits(retries=1, timeout_seconds=0.2))

    assert reply.text == "fine"
    assert posts(server) == 2


def test_the_server_is_not_asked_before_it_wants(lab: Lab, server: FaultServer) -> None:
    for header in (("retry-after-ms", "30"), ("retry-after", "0.03")):
        server.will(DOWN, status=429, headers=(header,))

    assert lab.ask(limits=LIMITS).text == "fine"
    assert posts(server) == 3


@pytest.mark.parametrize(
    ("headers", "text"),
    [
        (("retry-after", "86400"), "asks to wait 86,400 s"),
        (("retry-after", "Wed, 21 Oct 2026 09:28:00 GMT"), "asks to wait 7,200 s"),
    ],
)
def test_a_wait_beyond_the_deadline_is_told_at_once(
    lab: Lab, server: FaultServer, headers: tuple[str, str], text: str
) -> None:
    date = ("date", "Wed, 21 Oct 2026 07:28:00 GMT")
    server.always(DOWN, status=503, headers=(headers, date))

    error = lab.error(limits=LIMITS)

    assert posts(server) == 1
    assert f"{text}, longer than the deadline of 300 s" in error.reason


def test_a_certificate_that_is_not_trusted_is_tried_once(tls_lab: Lab) -> None:
    error = tls_lab.error(base_url=tls_lab.server.base_url, limits=LIMITS)

    assert "certificate is not trusted" in error.reason
    assert "attempts" not in error.reason


def test_waiting_is_no_latency(lab: Lab, server: FaultServer) -> None:
    server.will(DOWN, status=429, headers=(("retry-after-ms", "300"),))

    reply = lab.ask(limits=LIMITS)

    assert reply.latency_seconds is not None
    assert reply.latency_seconds < 0.3


# --- in a run ------------------------------------------------------------------------

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval(["a", "b", "c"])
def test_it(case, generator):
    assert_exact(generator(case), "fine")
"""


@pytest.fixture
def lab_suite(suite: Suite, server: FaultServer) -> Suite:
    config = {
        "generator": "lab",
        "models": {"lab": {"provider": "openai", "model": "m"}},
        "limits": {"retries": 2, "concurrency": 1},
    }
    config["models"]["lab"]["base_url"] = server.base_url  # type: ignore[index]
    suite.write(llmeval_yaml=json.dumps(config), test_a=TEST)
    return suite


def test_attempts_and_waits_stand_in_the_record_and_the_reports(
    lab_suite: Suite, server: FaultServer
) -> None:
    server.will(DOWN, status=500)
    server.will(DOWN, status=429, headers=(("retry-after-ms", "30"),))

    result, data = lab_suite.report("-v")

    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["retried 1 call · 2 further requests · * of waiting*"])
    calls = [case["samples"][0]["calls"][0] for case in data["cases"]]
    assert [call["attempts"] for call in calls] == [3, 1, 1]
    assert [len(call["waits"]) for call in calls] == [2, 0, 0]
    assert calls[0]["waits"][1] >= 0.03
    retries = data["tests"][0]["retries"]
    assert (retries["calls"], retries["requests"]) == (1, 2)
    assert retries["waited_seconds"] == pytest.approx(sum(calls[0]["waits"]))
    assert lab_suite.journal()[1]["samples"][0]["calls"][0]["attempts"] == 3


def test_without_v_nothing_is_said_of_retries(
    lab_suite: Suite, server: FaultServer
) -> None:
    server.will(DOWN, status=500)

    result = lab_suite.run()

    result.assert_outcomes(passed=3)
    result.stdout.no_fnmatch_line("*retried*")


def test_a_recorded_reply_takes_no_attempt(
    lab_suite: Suite, server: FaultServer
) -> None:
    lab_suite.run("--llmeval-mode=record").assert_outcomes(passed=3)

    _, data = lab_suite.report("--llmeval-mode=replay", "-v")

    calls = [case["samples"][0]["calls"][0] for case in data["cases"]]
    assert [call["attempts"] for call in calls] == [0, 0, 0]
    assert len(server.seen) == 3


def test_a_call_that_failed_to_the_end_says_how_often_it_was_tried(
    lab_suite: Suite, server: FaultServer
) -> None:
    server.always(DOWN, status=500)

    result, data = lab_suite.report("-v")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert [case["status"] for case in data["cases"]] == ["unscored"] * 3
    reasons = {case["reason"] for case in data["cases"]}
    assert reasons == {
        "lab: the server failed (500): the server's own words; 3 attempts were made"
    }
    assert data["tests"][0]["retries"]["requests"] == 6


def test_limits_of_the_file_hold(lab_suite: Suite, server: FaultServer) -> None:
    path = lab_suite.path / "llmeval.yaml"
    config = json.loads(path.read_text("utf-8"))
    config["limits"] = {"requests_per_minute": 1200, "tokens_per_minute": 600_000}
    path.write_text(json.dumps(config), "utf-8")

    lab_suite.run("--llmeval-mode=live").assert_outcomes(passed=3)

    assert len(server.seen) == 3


# --- on workers ----------------------------------------------------------------------

MANY = """
import asyncio
import os
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval(["now"])
async def test_crash(case, generator):
    if os.environ.get("CRASH"):
        with open("process", "w") as file:
            file.write(str(os.getpid()))
        await generator.acall("crash")

@pytest.mark.llmeval([f"{n}" for n in range(16)])
async def test_it(case, generator):
    calls = [generator.acall(f"{case.input} {n}") for n in range(3)]
    replies = await asyncio.gather(*calls)
    assert_exact(replies[0], "fine")
"""


def workers_suite(suite: Suite, server: FaultServer, **limits: Any) -> Suite:
    entry = {"provider": "openai", "model": "m", "base_url": server.base_url}
    config = {"generator": "lab", "models": {"lab": entry}, "limits": limits}
    suite.write(llmeval_yaml=json.dumps(config), test_a=MANY)
    return suite


def test_workers_together_keep_to_the_concurrency(
    suite: Suite, server: FaultServer
) -> None:
    server.seconds = 0.02
    workers_suite(suite, server, concurrency=2)

    result = suite.run("-n3", "--llmeval-mode=live")

    result.assert_outcomes(passed=17)
    assert len(server.seen) == 48
    assert server.most_in_flight == 2
    assert not list((suite.path / ".llmeval").glob("limits-*"))


def test_workers_together_keep_to_the_rate(suite: Suite, server: FaultServer) -> None:
    workers_suite(suite, server, requests_per_minute=1200)

    result = suite.run("-n2", "--llmeval-mode=live")

    result.assert_outcomes(passed=17)
    # 48 of them, one every 0.05 s; each worker by itself would need half of that.
    assert server.seen[-1].at - server.seen[0].at > 1.75


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process by a signal")
def test_slots_of_a_worker_that_crashed_come_back(
    suite: Suite, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def has_asked(times: int) -> bool:
        return sum(b"crash" in seen.body for seen in server.seen) >= times

    def kill() -> None:
        # Twice: what a worker had in hand when it died is run again, one at a time.
        for count in (1, 2):
            server.wait_for(partial(has_asked, count))
            process = (suite.path / "process").read_text("utf-8")
            os.kill(int(process), signal.SIGKILL)

    monkeypatch.setenv("CRASH", "1")
    server.holds(b"crash")
    workers_suite(suite, server, concurrency=1)
    killer = threading.Thread(target=kill)
    killer.start()

    result = suite.run_alone("-n2", "--llmeval-mode=live")
    killer.join()

    result.stdout.fnmatch_lines(["*16 passed, 1 unscored*"])
    assert not has_asked(3)

"""The cache, through pytest and a server that counts its requests."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.conftest import FaultServer, Seen

TEST = """
import pytest

@pytest.mark.llmeval([{"id": "a", "input": "hi"}, {"id": "b", "input": "ho"}])
def test_rows(case, generator):
    assert generator(case).text == "to " + case.input
"""


def echo(seen: Seen) -> Any:
    text = f"to {seen.data['messages'][-1]['content']}"
    return {
        "model": "m-test",
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5},
    }


@pytest.fixture
def lab_suite(suite: Suite, server: FaultServer) -> Suite:
    server.rule(echo)
    suite.write(llmeval_yaml=entry(server), test_a=TEST)
    return suite


def entry(server: FaultServer, **rest: Any) -> str:
    data = {
        "provider": "openai",
        "base_url": server.base_url,
        "model": "m-test",
        **rest,
    }
    return f"generator: lab\nmodels:\n  lab: {json.dumps(data)}\n"


def cache_file(suite: Suite) -> Path:
    return suite.path / ".llmeval" / "cache.sqlite"


def kept(suite: Suite) -> list[Any]:
    """Return the texts that the cache holds."""
    if not cache_file(suite).exists():
        return []
    connection = sqlite3.connect(cache_file(suite))
    try:
        rows = connection.execute("SELECT response FROM replies").fetchall()
    finally:
        connection.close()
    return sorted(json.loads(row[0])["text"] for row in rows)


# --- modes ---------------------------------------------------------------------------


def test_what_was_answered_is_not_asked_again(
    lab_suite: Suite, server: FaultServer
) -> None:
    first = lab_suite.run()
    result, data = lab_suite.report()

    assert len(server.seen) == 2
    first.stdout.fnmatch_lines(["live 2 · *"])
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["cached 2 · *"])
    assert {case["samples"][0]["origin"] for case in data["cases"]} == {"cache"}
    assert data["tests"][0]["p50_seconds"] is None  # nothing was waited for
    assert data["tests"][0]["tokens"]["input"] == 18


def test_a_recording_comes_before_the_cache(
    lab_suite: Suite, server: FaultServer
) -> None:
    lab_suite.run("--llmeval-mode=record", "--llmeval-cases=a")
    lab_suite.run()

    result = lab_suite.run()

    assert len(server.seen) == 2
    result.stdout.fnmatch_lines(["cached 1 · recorded 1 · *"])


def test_what_is_cached_is_recorded_without_asking(
    lab_suite: Suite, server: FaultServer
) -> None:
    lab_suite.run()
    lab_suite.run("--llmeval-mode=record").assert_outcomes(passed=2)

    assert len(server.seen) == 2
    server.stop_listening()
    lab_suite.run("--llmeval-mode=replay").assert_outcomes(passed=2)


def test_rerecording_asks_for_everything_once_and_renews_the_cache(
    lab_suite: Suite, server: FaultServer
) -> None:
    lab_suite.run()
    server.always({"choices": [{"message": {"content": "new"}}]})

    lab_suite.run("--llmeval-mode=rerecord")

    assert len(server.seen) == 4
    assert kept(lab_suite) == ["new", "new"]


@pytest.mark.parametrize("mode", ["live", "replay"])
def test_live_and_replay_have_no_cache(
    lab_suite: Suite, server: FaultServer, mode: str
) -> None:
    lab_suite.run()
    cache_file(lab_suite).write_text("broken")

    result = lab_suite.run(f"--llmeval-mode={mode}")

    assert len(server.seen) == (4 if mode == "live" else 2)
    assert cache_file(lab_suite).read_text() == "broken"
    assert "the cache" not in result.stdout.str()


def test_a_run_that_asks_nothing_opens_no_cache(suite: Suite) -> None:
    suite.write(
        test_a="""
import sys, pytest

@pytest.mark.llmeval([{"input": "a", "reply": "b"}], generator="column:reply")
def test_column(case, generator):
    assert generator(case).text == "b"
    assert "sqlite3" not in sys.modules
"""
    )

    suite.run_alone("-p", "no:cov").assert_outcomes(passed=1)

    assert not cache_file(suite).exists()
    assert not cache_file(suite).with_name("cache.lock").exists()


# --- what is cached ------------------------------------------------------------------

CHANGES: dict[str, dict[str, Any]] = {
    "model m2": {"model": "m2"},
    "base_url http://b/v1": {"base_url": "other"},
    "temperature 0.7": {"params": {"temperature": 0.7, "max_tokens": 16}},
    "temperature left out": {"params": {"max_tokens": 16}},
    "max_tokens 4000": {"params": {"temperature": 0, "max_tokens": 4000}},
    "seed 1": {"params": {"temperature": 0, "max_tokens": 16, "seed": 1}},
    "stop ['.']": {"params": {"temperature": 0, "max_tokens": 16, "stop": ["."]}},
    "response_format json_object": {
        "params": {
            "temperature": 0,
            "max_tokens": 16,
            "response_format": {"type": "json_object"},
        }
    },
    "a system message": {"system": "Be brief."},
    "messages 'x','yz'": {"messages": ["x", "yz"]},
    "one message 'xyz'": {"messages": ["xyz"]},
}
SAME: dict[str, dict[str, Any]] = {
    "same request with keys in another order": {
        "params": {"max_tokens": 16, "temperature": 0}
    },
    "another API key": {"api_key": "sk-another-0123456789"},
    "another timeout or retry number": {
        "limits": {"timeout_seconds": 30, "retries": 1}
    },
}


def asking(suite: Suite, server: FaultServer, **change: Any) -> None:
    """Write a suite that asks one question, changed so."""
    given = {"params": {"temperature": 0, "max_tokens": 16}, "model": "m1", **change}
    if given.get("base_url") == "other":
        given["base_url"] = f"{server.url}/other/v1"
    text = entry(
        server,
        api_key_env="LAB_KEY",
        **{k: given[k] for k in ("params", "model", "base_url") if k in given},
    )
    messages = [
        {"role": "user", "content": part} for part in given.get("messages", ["xy", "z"])
    ]
    call = f"generator({messages!r}, system={given.get('system')!r})"
    suite.write(
        llmeval_yaml=f"{text}limits: {json.dumps(given.get('limits', {}))}\n",
        test_a=f"def test_asks(generator):\n    assert {call}.text\n",
    )


def test_each_change_that_may_change_the_answer_makes_one_new_request(
    suite: Suite, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.rule(echo)
    monkeypatch.setenv("LAB_KEY", "sk-test-0123456789")
    asking(suite, server)
    suite.run().assert_outcomes(passed=1)

    requests = {}
    for name, change in {**CHANGES, **SAME}.items():
        monkeypatch.setenv("LAB_KEY", change.get("api_key", "sk-test-0123456789"))
        before = len(server.seen)
        asking(suite, server, **change)
        suite.run().assert_outcomes(passed=1)
        requests[name] = len(server.seen) - before

    assert requests == {**dict.fromkeys(CHANGES, 1), **dict.fromkeys(SAME, 0)}
    assert len(CHANGES) == 11


def test_each_repeat_is_a_question_of_its_own(
    lab_suite: Suite, server: FaultServer
) -> None:
    lab_suite.write(
        test_a="""
def test_asks(generator):
    for sample in (0, 1, 0, 1):
        assert generator("hi", sample=sample).text
"""
    )

    lab_suite.run().assert_outcomes(passed=1)

    assert len(server.seen) == 2


FAILURES: dict[str, dict[str, Any]] = {
    "503": {"data": {"error": {"message": "down"}}, "status": 503},
    "200 with an error object": {"data": {"error": {"message": "down", "code": 503}}},
    "200 with empty choices": {"data": {"choices": []}},
    "an empty reply": {"data": {"choices": [{"message": {"content": " \n"}}]}},
    "a dropped connection": {"is_dropped": True},
    "a timeout": {"is_held": True},
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_is_never_kept(
    suite: Suite, server: FaultServer, failure: str
) -> None:
    limits = "limits: {retries: 0, timeout_seconds: 0.5, deadline_seconds: 5}\n"
    test = """
import pytest
from pytest_llmeval import assert_contains

@pytest.mark.llmeval([{"input": "hi", "expected": "ok"}])
def test_asks(case, generator):
    assert_contains(generator(case), case)
"""
    suite.write(llmeval_yaml=entry(server) + limits, test_a=test)
    server.always(**FAILURES[failure])

    result, data = suite.report()

    assert data["totals"]["unscored"] == 1
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert kept(suite) == []

    server.release()
    server.always({"choices": [{"message": {"content": "ok"}}]})
    before = len(server.seen)
    suite.run().assert_outcomes(passed=1)
    assert len(server.seen) == before + 1
    assert kept(suite) == ["ok"]


APP = """
import pathlib

def answer(prompt):
    with pathlib.Path("asked").open("a") as file:
        file.write("x")
    return f"to {prompt}"
"""


@pytest.mark.parametrize(("cache", "asked"), [("", 4), (", cache: true", 2)])
def test_code_under_test_is_cached_where_its_entry_says_so(
    suite: Suite, cache: str, asked: int
) -> None:
    app = f"provider: python, model: 'app:answer'{cache}"
    suite.write(
        app=APP,
        llmeval_yaml=f"generator: app\nmodels:\n  app: {{{app}}}\n",
        test_a=TEST,
    )

    suite.run().assert_outcomes(passed=2)
    suite.run().assert_outcomes(passed=2)

    assert len((suite.path / "asked").read_text()) == asked


def test_a_model_whose_entry_says_no_is_not_cached(
    lab_suite: Suite, server: FaultServer
) -> None:
    lab_suite.write(llmeval_yaml=entry(server, cache=False))

    lab_suite.run()
    lab_suite.run()

    assert len(server.seen) == 4
    assert not cache_file(lab_suite).exists()


def test_a_script_is_read_anew(suite: Suite) -> None:
    suite.write(test_a=TEST)
    for text in ("to", "changed to"):
        suite.write(fake_jsonl=json.dumps({"reply": text}) + "\n")
        result = suite.run("--llmeval-generator=fake:fake.jsonl", "-k", "a")
        result.stdout.fnmatch_lines([f"*'{text}'*"])


def test_a_reply_that_is_too_old_is_asked_for_again(
    lab_suite: Suite, server: FaultServer
) -> None:
    lab_suite.run()
    connection = sqlite3.connect(cache_file(lab_suite))
    connection.execute("UPDATE replies SET made = made - 86400 * 8 WHERE id = 1")
    connection.commit()
    connection.close()

    lab_suite.run()
    assert len(server.seen) == 2
    limited = entry(server) + "limits: {cache_days: 7}\n"
    lab_suite.write(llmeval_yaml=limited)
    lab_suite.run()
    assert len(server.seen) == 3
    lab_suite.run()
    assert len(server.seen) == 3


def test_an_age_that_is_none_is_refused(lab_suite: Suite, server: FaultServer) -> None:
    lab_suite.write(llmeval_yaml=entry(server) + "limits: {cache_days: 0}\n")

    result = lab_suite.run()

    result.stdout.fnmatch_lines(["*limits: cache_days is a number above 0, not 0"])


# --- secrets -------------------------------------------------------------------------


def test_no_secret_comes_into_the_cache(
    suite: Suite, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-test-0123456789"
    monkeypatch.setenv("LAB_KEY", key)
    answer = {"role": "assistant", "content": f"your key is {key}"}
    server.always({"choices": [{"message": answer}], "model": f"m-{key}"})
    test = f"def test_asks(generator):\n    assert generator('I am {key}').text\n"
    suite.write(
        llmeval_yaml=entry(server, api_key_env="LAB_KEY"),
        test_a=test,
    )

    suite.run().assert_outcomes(passed=1)
    suite.run().assert_outcomes(passed=1)

    assert len(server.seen) == 1
    assert kept(suite) == ["your key is [redacted]"]
    for path in (suite.path / ".llmeval").rglob("*"):
        assert path.is_dir() or key.encode() not in path.read_bytes()


# --- trouble -------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_a_damaged_cache_costs_a_line(
    lab_suite: Suite, server: FaultServer, workers: tuple[str, ...]
) -> None:
    lab_suite.run()
    cache_file(lab_suite).write_text("broken" * 1000)

    result = lab_suite.run(*workers)

    result.assert_outcomes(passed=2)
    lines = [x for x in result.outlines if x.startswith("the cache .llmeval/cache.sq")]
    assert len(lines) == 1
    assert "was unusable (file is not a database)" in lines[0]
    assert len(server.seen) == 4
    lab_suite.run()
    assert len(server.seen) == 4


def test_a_folder_that_is_a_file_costs_a_line_and_no_case(
    lab_suite: Suite, server: FaultServer
) -> None:
    cache_file(lab_suite).mkdir(parents=True)

    result = lab_suite.run()

    result.assert_outcomes(passed=2)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["the cache .llmeval/cache.sqlite can't be used (*"])


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_a_full_disk_costs_a_line_and_no_case(
    lab_suite: Suite, server: FaultServer
) -> None:
    lab_suite.write(
        conftest="""
import resource

def pytest_collection_finish():
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
"""
    )

    result = lab_suite.run_alone()

    result.assert_outcomes(passed=2)
    assert result.ret == 0
    lines = [x for x in result.outlines if x.startswith("the cache .llmeval/cache.sq")]
    assert len(lines) == 1


def test_what_goes_wrong_on_a_worker_after_its_last_case_is_told(
    lab_suite: Suite,
) -> None:
    lab_suite.write(
        conftest="""
import pytest

@pytest.fixture(scope="session", autouse=True)
def full_at_the_end(request):
    yield
    run = request.config.pluginmanager.getplugin("llmeval-run")
    run.runtime.clients._flights.cache.notes.append("the cache is full by now")
"""
    )

    result = lab_suite.run("-n2")

    result.assert_outcomes(passed=2)
    assert result.outlines.count("the cache is full by now") == 1


# --- workers -------------------------------------------------------------------------


def test_a_question_of_four_workers_is_sent_once(
    suite: Suite, server: FaultServer
) -> None:
    server.rule(echo)
    suite.write(
        llmeval_yaml=entry(server),
        test_a="""
import pytest

@pytest.mark.parametrize("n", range(40))
def test_asks(n, generator):
    # Each question is asked by four tests in a row: most often by four workers.
    assert generator(f"question {n // 4}").text == f"to question {n // 4}"
""",
    )

    result = suite.run("-n4", "--dist=load", "--maxschedchunk=1")

    result.assert_outcomes(passed=40)
    result.stdout.fnmatch_lines(["live 10 · cached 30 · *"])
    assert len(server.seen) == 10


def test_a_worker_that_dies_while_it_asks_blocks_nobody(
    suite: Suite, server: FaultServer
) -> None:
    asked = suite.path / "asked"

    def first_is_held(seen: Seen) -> Any:
        if asked.exists():
            return echo(seen)
        asked.touch()
        return server.held()

    server.rule(first_is_held)
    suite.write(
        llmeval_yaml=entry(server),
        test_a="""
import os, threading, pathlib
import pytest

def die(generator):
    threading.Thread(target=lambda: generator("hi"), daemon=True).start()
    while not pathlib.Path("asked").exists():
        pass
    os._exit(1)

@pytest.mark.parametrize("n", range(2))
def test_asks(n, generator):
    if n == 0:
        die(generator)
    while not pathlib.Path("asked").exists():
        pass
    assert generator("hi").text == "to hi"
""",
    )

    _, data = suite.report("-n2", "--maxschedchunk=1")

    statuses = [case["cause"] or case["status"] for case in data["cases"]]
    assert sorted(statuses) == ["crashed", "passed"]
    assert len(server.seen) == 2

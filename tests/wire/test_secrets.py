"""A planted key stands nowhere: no file, no output, no local variable of a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.wire.conftest import completion

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Suite
    from tests.wire.conftest import FaultServer, Lab, Seen

KEY = "sk-test-79-fedcba9876543210"
TEAM = "team-secret/+ 0123"
FORMS = [KEY, TEAM, "team-secret%2F", "team-secret\\/"]

#: All that makes pytest print more.
LOUD = (
    "-l",
    "-vv",
    "--full-trace",
    "--log-level=DEBUG",
    "-rA",
    "--junitxml=j.xml",
    "-o",
    "junit_logging=all",
    *(f"--llmeval-report=report.{s}" for s in ("json", "jsonl", "csv", "md", "html")),
    "--llmeval-show=all",
    "--llmeval-save=main",
    "--llmeval-save-force",
)

TEST = """
import logging
import os
import warnings
import pytest
from pytest_llmeval import assert_exact, assert_judge

@pytest.mark.llmeval([{"id": "a", "input": "hi", "expected": "yes"}], generator="GEN")
def test_sync(case, generator, llmeval):
    key = os.environ["LAB_KEY"]
    print("printed", key)
    logging.getLogger("app").warning("logged %s", key)
    llmeval.attach("note", f"attached {key}")
    assert_exact(generator(case), case)

@pytest.mark.llmeval([{"id": "b", "input": "hi", "expected": "yes"}], generator="GEN")
async def test_async(case, generator):
    key = os.environ["LAB_KEY"]
    assert_exact(await generator.acall(case), case)

@pytest.mark.llmeval([{"id": "c", "input": "hi", "expected": "yes"}], generator="GEN")
def test_raises(case, generator):
    headers = {"authorization": "Bearer " + os.environ["LAB_KEY"]}
    raise ValueError(f"failed with {headers}")

@pytest.mark.llmeval([{"id": "d", "input": "hi", "expected": "yes"}], generator="GEN")
def test_xfails(case, generator):
    pytest.xfail("known since " + os.environ["LAB_KEY"])

@pytest.mark.llmeval([{"id": "e", "input": "hi", "expected": "yes"}], generator="GEN")
def test_warns_and_skips(case, generator):
    warnings.warn("deprecated: " + os.environ["LAB_KEY"])
    pytest.skip("not with " + os.environ["LAB_KEY"])

def test_no_evaluation():
    key = os.environ["LAB_KEY"]
    print("printed", key)
    assert key == "another"
"""

YAML = """
models:
  lab:
    provider: openai
    base_url: BASE
    model: m-test
    api_key_env: LAB_KEY
    headers: {X-Team: "${TEAM}", X-Api-Key: "${LAB_KEY}"}
  app: {provider: python, model: "app:answer"}
limits: {retries: 1}
"""

APP = """
import os

def answer(prompt):
    token = os.environ["LAB_KEY"]
    print("in the app", token)
    raise RuntimeError("server said: bad key " + token)
"""


@pytest.fixture
def secret_suite(
    suite: Suite, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> Suite:
    monkeypatch.setenv("LAB_KEY", KEY)
    monkeypatch.setenv("TEAM", TEAM)
    suite.write(app=APP)
    return suite


def run(
    suite: Suite,
    server: FaultServer,
    *args: str,
    generator: str = "lab",
    base: str = "",
    alone: bool = False,
) -> tuple[str, dict[str, int]]:
    """Run everything loudly; return the output, and where the secrets stand.

    Alone, in a process of its own, what it says at its very end is output too.
    """
    config = YAML.replace("BASE", base or server.base_url)
    suite.write(llmeval_yaml=config, test_a=TEST.replace("GEN", generator))
    result = (suite.run_alone if alone else suite.run)(*LOUD, *args)
    output = result.stdout.str() + result.stderr.str()
    found = {"output": count(output.encode())}
    for path in suite.path.rglob("*"):
        if path.is_file() and is_written(path):
            found[str(path.relative_to(suite.path))] = count(path.read_bytes())
    return output, {name: number for name, number in found.items() if number}


def is_written(path: Path) -> bool:
    """Return whether the run wrote a file, pytester's copy of the output apart."""
    return path.name not in {"llmeval.yaml", "stdout", "stderr"}


def count(data: bytes) -> int:
    return sum(data.count(form.encode()) for form in FORMS)


def echo(seen: Seen) -> Any:
    """Return a completion that repeats every secret it was sent."""
    text = f"You sent {seen.headers.get('authorization')} to {seen.target}"
    text += f" for {seen.headers.get('x-team')}"
    message = {"content": text, "reasoning_content": text, "refusal": text}
    return {"model": KEY, "choices": [{"message": message, "finish_reason": "stop"}]}


def assert_searched_failures(suite: Suite, reply: str) -> None:
    """Assert that what was searched has failures, with requests and replies in them."""
    kept = suite.path / ".llmeval" / "failures"
    replies = [path.read_text("utf-8") for path in kept.glob("*/reply.txt")]
    assert any(reply in text for text in replies)
    commands = [path.read_text("utf-8") for path in kept.glob("*/curl.sh")]
    assert any("${LAB_KEY}" in text and "${TEAM}" in text for text in commands)


def test_a_key_that_is_echoed_in_replies(
    secret_suite: Suite, server: FaultServer
) -> None:
    server.rule(echo)

    output, found = run(secret_suite, server, "--llmeval-mode=record", alone=True)

    assert found == {}
    assert "You sent Bearer [redacted] to" in output
    assert (secret_suite.path / "llmeval_recordings" / "test_a.jsonl").is_file()
    assert_searched_failures(secret_suite, "You sent Bearer [redacted] to")
    assert {seen.headers["x-team"] for seen in server.seen} == {TEAM}
    assert {seen.headers["authorization"] for seen in server.seen} == {f"Bearer {KEY}"}


def test_a_key_that_is_echoed_replays_as_it_was_recorded(
    secret_suite: Suite, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.rule(echo)
    run(secret_suite, server, "--llmeval-mode=rerecord")
    secret_suite.run("--llmeval-mode=rerecord")
    asked = len(server.seen)

    output, found = run(secret_suite, server, "--llmeval-mode=replay")

    assert found == {}
    assert "You sent Bearer [redacted] to" in output
    assert len(server.seen) == asked


@pytest.mark.parametrize("status", [200, 401, 500])
def test_a_key_that_is_echoed_in_errors_and_headers(
    secret_suite: Suite, server: FaultServer, status: int
) -> None:
    server.always(
        {"error": {"message": f"Incorrect key: {KEY}", "code": 401}},
        status=status,
        headers=(("set-cookie", f"s={KEY}"), ("location", f"/x?{KEY}")),
    )

    output, found = run(secret_suite, server)

    assert found == {}
    assert "Incorrect key: [redacted]" in output
    assert_searched_failures(
        secret_suite, "Incorrect key: [redacted]" if status > 200 else ""
    )


@pytest.mark.parametrize(
    "query", [f"?key={KEY}", "?key=${LAB_KEY}&team=${TEAM}&api-version=2"]
)
def test_a_key_in_the_address(
    secret_suite: Suite, server: FaultServer, query: str
) -> None:
    server.rule(echo)

    _, found = run(
        secret_suite, server, "--llmeval-mode=record", base=server.base_url + query
    )

    assert found == {}
    assert f"key={KEY}" in server.seen[0].target


def test_a_key_in_an_address_that_nobody_answers(
    secret_suite: Suite, server: FaultServer
) -> None:
    output, found = run(secret_suite, server, base=f"http://127.0.0.1:1/v1?key={KEY}")

    assert found == {}
    assert "the connection was refused" in output


def test_a_key_in_exceptions_of_the_application(
    secret_suite: Suite, server: FaultServer
) -> None:
    output, found = run(secret_suite, server, generator="app")

    assert found == {}
    assert "RuntimeError: server said: bad key [redacted]" in output


def test_a_key_on_workers(secret_suite: Suite, server: FaultServer) -> None:
    server.rule(echo)
    secret_suite.write(
        conftest="""
import json
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_report_from_serializable(data):
    if data is not None:
        with open("messages", "a", encoding="utf-8") as file:
            file.write(json.dumps(data, default=repr) + "\\n")
"""
    )

    _, found = run(secret_suite, server, "-n2", "--llmeval-mode=record")

    assert found == {}
    messages = (secret_suite.path / "messages").read_text("utf-8")
    assert messages.count("You sent Bearer [redacted] to") >= 2
    assert_searched_failures(secret_suite, "You sent Bearer [redacted] to")


def test_a_key_in_the_cache_and_nothing_else_redacted(
    secret_suite: Suite, server: FaultServer
) -> None:
    like = (
        "max_tokens, Bearer of news, sk-other-0123456789, token: 12345678, " + KEY[:-1]
    )
    server.rule(lambda seen: completion(f"{like}; {seen.headers['authorization']}"))

    output, found = run(secret_suite, server)

    assert found == {}
    assert (secret_suite.path / ".llmeval" / "cache.sqlite").is_file()
    assert f"{like}; Bearer [redacted]" in output
    report = (secret_suite.path / "report.json").read_text("utf-8")
    assert f"{like}; Bearer [redacted]" in report


def test_live_logs_hold_no_key(secret_suite: Suite, server: FaultServer) -> None:
    server.always(
        {"choices": [{"message": {"content": "fine"}}]},
        headers=(("set-cookie", f"s={KEY}"), ("x-seen", f"Bearer {KEY}")),
    )
    query = "?key=${LAB_KEY}"

    output, found = run(
        secret_suite,
        server,
        "--log-cli-level=DEBUG",
        "--log-file=log.txt",
        "--log-file-level=DEBUG",
        "--deselect=test_a.py::test_sync",  # whose own log is the suite's own affair
        alone=True,
        base=server.base_url + query,
    )

    assert found == {}
    assert "(b'x-seen', b'Bearer [redacted]')" in output


def test_a_key_set_by_a_fixture_long_after_the_model_was_built(
    secret_suite: Suite, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.rule(echo)
    monkeypatch.delenv("LAB_KEY")
    secret_suite.write(
        conftest="""
import os
import pytest

@pytest.fixture(autouse=True, scope="session")
def key():
    os.environ["LAB_KEY"] = "sk-test-79-" + "fedcba9876543210"
"""
    )

    _, found = run(secret_suite, server, "--llmeval-mode=record")

    assert found == {}
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("provider", "variable", "header"),
    [
        ("openai", "OPENAI_API_KEY", "authorization"),
        ("openai-responses", "OPENAI_API_KEY", "authorization"),
        ("anthropic", "ANTHROPIC_API_KEY", "x-api-key"),
        ("gemini", "GEMINI_API_KEY", "x-goog-api-key"),
    ],
)
def test_a_key_of_each_provider_is_sent_and_shown_nowhere(
    lab: Lab,
    server: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    variable: str,
    header: str,
) -> None:
    monkeypatch.setenv(variable, "key-12345678")
    server.rule(
        lambda seen: (401, {"error": {"message": f"wrong: {seen.headers[header]}"}})
    )

    error = lab.error(provider=provider)

    assert server.seen[0].headers[header].endswith("key-12345678")
    assert "wrong: " in error.reason
    assert f"(key from ${variable})" in error.reason
    assert "key-12345678" not in f"{error} {error!r} {lab.backend(provider=provider)!r}"

"""Recordings and modes, through pytest and a server that counts its requests."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite
    from tests.wire.conftest import FaultServer, Seen

ROWS = [
    {"id": "rivers", "input": "List 3 rivers.", "expected": "List 3 rivers."},
    {"id": "cities", "input": "Nenne Städte: 東京", "expected": "Nenne Städte: 東京"},
    {"id": "odd", "input": "a \ud800 b", "expected": "a \\ud800 b"},
]

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", generator="lab")
def test_rows(case, generator):
    assert_exact(generator(case), case)
"""

REFUSES_SOCKETS = """
import socket

def refuse(*args):
    raise AssertionError(f"a socket was opened: {args}")

socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = refuse
"""


def echo(seen: Seen) -> Any:
    return {
        "model": "m-test",
        "choices": [
            {
                "message": {"content": seen.data["messages"][-1]["content"]},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5},
        "created": len(str(seen.connection)),
    }


@pytest.fixture
def lab_suite(suite: Suite, server: FaultServer) -> Suite:
    server.rule(echo)
    suite.write(
        llmeval_yaml=(
            "models:\n"
            "  lab:\n"
            "    provider: openai\n"
            f"    base_url: {server.base_url}\n"
            "    model: m-test\n"
            "    params: {temperature: 0}\n"
        ),
        test_a=TEST,
    )
    suite.rows("rows.jsonl", ROWS)
    return suite


def recording(suite: Suite, stem: str = "test_a", folder: str = ".") -> Path:
    return suite.path / folder / "llmeval_recordings" / f"{stem}.jsonl"


def entries(suite: Suite, stem: str = "test_a") -> list[Any]:
    text = recording(suite, stem).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def mode(suite: Suite, name: str, *args: str) -> pytest.RunResult:
    return suite.run(f"--llmeval-mode={name}", *args)


# --- record, then replay -------------------------------------------------------------


def test_what_was_recorded_is_replayed_without_a_socket(
    lab_suite: Suite, server: FaultServer
) -> None:
    mode(lab_suite, "record").assert_outcomes(passed=3)
    server.stop_listening()
    lab_suite.write(conftest=REFUSES_SOCKETS)

    result = lab_suite.run_alone("--llmeval-mode=replay")

    result.assert_outcomes(passed=3)
    assert len(server.seen) == 3
    result.stdout.fnmatch_lines(["recorded 3 *"])


def test_recording_again_asks_nothing_and_changes_no_byte(
    lab_suite: Suite, server: FaultServer
) -> None:
    mode(lab_suite, "record")
    before = recording(lab_suite).read_bytes()

    mode(lab_suite, "record").assert_outcomes(passed=3)

    assert recording(lab_suite).read_bytes() == before
    assert len(server.seen) == 3


def test_rerecording_asks_again_and_changes_no_byte_when_the_answers_are_the_same(
    lab_suite: Suite, server: FaultServer
) -> None:
    mode(lab_suite, "record")
    before = recording(lab_suite).read_bytes()

    mode(lab_suite, "rerecord").assert_outcomes(passed=3)

    assert recording(lab_suite).read_bytes() == before
    assert len(server.seen) == 6


def test_rerecording_replaces(lab_suite: Suite, server: FaultServer) -> None:
    mode(lab_suite, "record")
    server.rule(lambda seen: {"choices": [{"message": {"content": "changed"}}]})

    mode(lab_suite, "rerecord")

    assert {e["response"]["text"] for e in entries(lab_suite)} == {"changed"}


def test_auto_reads_recordings_and_asks_for_what_is_new_without_keeping_it(
    lab_suite: Suite, server: FaultServer
) -> None:
    mode(lab_suite, "record")
    before = recording(lab_suite).read_bytes()
    lab_suite.rows("rows.jsonl", [*ROWS, {"id": "new", "input": "x", "expected": "x"}])

    result = lab_suite.run()

    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["live 1 · recorded 3 *"])
    assert recording(lab_suite).read_bytes() == before


def test_live_reads_and_writes_nothing(lab_suite: Suite, server: FaultServer) -> None:
    mode(lab_suite, "record")
    recording(lab_suite).write_text("broken\n", encoding="utf-8")

    mode(lab_suite, "live").assert_outcomes(passed=3)

    assert recording(lab_suite).read_text("utf-8") == "broken\n"
    assert len(server.seen) == 6


def test_the_environment_needs_no_key_to_replay(
    lab_suite: Suite, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "sk-test-0123456789")
    with (lab_suite.path / "llmeval.yaml").open("a") as file:
        file.write("    api_key_env: LAB_KEY\n    headers: {X-Key: '${LAB_KEY}'}\n")
    mode(lab_suite, "record").assert_outcomes(passed=3)
    monkeypatch.delenv("LAB_KEY")

    mode(lab_suite, "replay").assert_outcomes(passed=3)


# --- a miss --------------------------------------------------------------------------


def test_a_changed_prompt_is_unscored_alone_and_says_what_differs(
    lab_suite: Suite, server: FaultServer
) -> None:
    mode(lab_suite, "record")
    changed = {"id": "rivers", "input": "List 4 rivers.", "expected": "List 4 rivers."}
    lab_suite.rows("rows.jsonl", [changed, *ROWS[1:]])

    result, data = lab_suite.report("--llmeval-mode=replay")

    result.assert_outcomes(passed=2)
    causes = {case["case_id"]: case["cause"] for case in data["cases"]}
    assert causes == {"rivers": "recording", "cities": None, "odd": None}
    result.stdout.fnmatch_lines(
        [
            "*no recording of this request in llmeval_recordings/test_a.jsonl; the *",
            "*user message 1: recorded 'List 3 rivers.', asked 'List 4 rivers.'",
            "*record it: pytest *test_a.py::test_rows?rivers?* --llmeval-mode=record",
        ]
    )
    assert "--llmeval-mode=replay --llmeval-mode" not in result.stdout.str()
    assert len(server.seen) == 3
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_changed_parameter_is_shown(lab_suite: Suite) -> None:
    mode(lab_suite, "record")
    path = lab_suite.path / "llmeval.yaml"
    path.write_text(path.read_text("utf-8").replace("ature: 0", "ature: 0.5"), "utf-8")

    result = mode(lab_suite, "replay")

    result.stdout.fnmatch_lines(["*params.temperature: recorded 0, asked 0.5"])


def test_a_module_without_recordings_names_the_command(lab_suite: Suite) -> None:
    result = mode(lab_suite, "replay", "-k", "rivers")

    result.stdout.fnmatch_lines(
        [
            "*no recording: llmeval_recordings/test_a.jsonl does not exist; record it: "
            "pytest *test_a.py::test_rows?rivers?* --llmeval-mode=record"
        ]
    )


def test_another_sample_is_another_recording(lab_suite: Suite) -> None:
    lab_suite.write(
        test_a="""
import pytest

@pytest.mark.llmeval("rows.jsonl", generator="lab", limit=1)
def test_rows(case, generator):
    assert generator(case, sample=SAMPLE).text
""".replace("SAMPLE", "0")
    )
    mode(lab_suite, "record").assert_outcomes(passed=1)
    path = lab_suite.path / "test_a.py"
    path.write_text(path.read_text("utf-8").replace("sample=0", "sample=1"), "utf-8")

    result = mode(lab_suite, "replay")

    result.stdout.fnmatch_lines(["*differs in", "*the index of the repeat (sample)"])


# --- what no key can know ------------------------------------------------------------

PYTHON_TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval([{"id": "a", "input": "hi", "expected": "ANSWER"}], generator=GEN)
def test_app(case, generator):
    assert_exact(generator(case), case)
"""


def python_suite(suite: Suite, answer: str, *, generator: str) -> None:
    text = PYTHON_TEST.replace("ANSWER", answer).replace("GEN", repr(generator))
    app = f"def answer(prompt):\n    return {answer!r}\n"
    suite.write(test_a=text, app=app)


def test_code_under_test_is_run_again_in_auto_and_replayed_in_replay(
    suite: Suite,
) -> None:
    python_suite(suite, "old", generator="python:app:answer")
    suite.run("--llmeval-mode=record").assert_outcomes(passed=1)
    suite.write(app="def answer(prompt):\n    return 'newer'\n")

    suite.run().assert_outcomes(failed=1)
    suite.run("--llmeval-mode=record").assert_outcomes(failed=1)
    assert entries(suite)[0]["response"]["text"] == "newer"
    suite.write(app="def answer(prompt):\n    raise OSError('no')\n")
    suite.run("--llmeval-mode=replay").assert_outcomes(failed=1)


def test_code_whose_entry_says_cache_is_served_in_auto(suite: Suite) -> None:
    python_suite(suite, "old", generator="app")
    suite.write(
        llmeval_yaml=(
            "models:\n"
            "  app: {provider: python, model: 'app:answer', cache: true}\n"
            "generator: app\n"
        )
    )
    suite.run("--llmeval-mode=record").assert_outcomes(passed=1)
    suite.write(app="def answer(prompt):\n    return 'newer'\n")

    suite.run().assert_outcomes(passed=1)


def test_columns_are_never_recorded(suite: Suite) -> None:
    suite.write(test_a=TEST.replace('"lab"', '"column:reply"'))
    suite.rows("rows.jsonl", [{"input": "a", "expected": "b", "reply": "b"}])

    mode(suite, "record").assert_outcomes(passed=1)
    mode(suite, "replay").assert_outcomes(passed=1)

    assert not recording(suite).parent.exists()


# --- files ---------------------------------------------------------------------------


def test_two_tests_of_a_module_use_one_entry(
    lab_suite: Suite, server: FaultServer
) -> None:
    replies = iter(range(100))
    server.rule(
        lambda seen: {"choices": [{"message": {"content": str(next(replies))}}]}
    )
    lab_suite.write(
        test_a="""
import pytest

ASKED = []

@pytest.mark.parametrize("n", [1, 2])
def test_same(n, llm_client):
    ASKED.append(llm_client("lab")("the same").text)
    assert len(set(ASKED)) == 1
"""
    )

    mode(lab_suite, "record").assert_outcomes(passed=2)

    assert len(entries(lab_suite)) == 1
    assert len(server.seen) == 1
    mode(lab_suite, "replay").assert_outcomes(passed=2)


def test_file_names_come_from_modules_alone_and_stay_in_their_folder(
    lab_suite: Suite,
) -> None:
    ids = ["x" * 300 + "1", "x" * 300 + "2", "../../outside", "/abs/path", "CON", "a:b"]
    lab_suite.rows(
        "rows.jsonl", [{"id": name, "input": name, "expected": name} for name in ids]
    )
    outside = set(lab_suite.path.parent.iterdir())

    mode(lab_suite, "record").assert_outcomes(passed=6)

    assert [p.name for p in recording(lab_suite).parent.iterdir()] == ["test_a.jsonl"]
    assert len(entries(lab_suite)) == 6
    assert set(lab_suite.path.parent.iterdir()) == outside


def test_a_module_in_a_sub_folder_keeps_its_recordings_there(
    lab_suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab_suite.write(evals__deep__test_b_py=TEST)
    lab_suite.rows("evals/deep/rows.jsonl", ROWS)
    monkeypatch.chdir(lab_suite.path / "evals")

    result = mode(lab_suite, "record", "deep", f"--rootdir={lab_suite.path}")

    result.assert_outcomes(passed=3)
    assert recording(lab_suite, "test_b", "evals/deep").is_file()
    result.stdout.fnmatch_lines(
        ["recorded evals/deep/llmeval_recordings/test_b.jsonl: 3 new"]
    )
    mode(lab_suite, "replay", "deep").assert_outcomes(passed=3)


def test_what_is_asked_outside_of_a_case_is_shared(
    lab_suite: Suite, server: FaultServer
) -> None:
    lab_suite.write(
        conftest="""
import pytest

@pytest.fixture(scope="session")
def first_words(llm_client):
    return llm_client("lab")("from a fixture").text
""",
        test_a="""
def test_words(first_words, llmeval):
    assert first_words == "from a fixture"
""",
        test_b="""
def test_words(first_words, llmeval):
    assert first_words == "from a fixture"
""",
    )
    mode(lab_suite, "record").assert_outcomes(passed=2)
    assert len(server.seen) == 1

    mode(lab_suite, "replay").assert_outcomes(passed=2)
    mode(lab_suite, "replay", "test_b.py").assert_outcomes(passed=1)


def test_workers_record_into_one_file(lab_suite: Suite, server: FaultServer) -> None:
    mode(lab_suite, "record", "-n2").assert_outcomes(passed=3)
    assert len(entries(lab_suite)) == 3

    mode(lab_suite, "replay").assert_outcomes(passed=3)
    assert len(server.seen) == 3


@pytest.mark.parametrize("name", ["auto", "replay", "record", "rerecord"])
def test_a_broken_recording_is_told_at_collection_and_stays(
    lab_suite: Suite, server: FaultServer, name: str
) -> None:
    mode(lab_suite, "record")
    path = recording(lab_suite)
    broken = path.read_bytes() + b"<<<<<<< HEAD\n"
    path.write_bytes(broken)
    lab_suite.rows("rows.jsonl", [*ROWS, {"id": "new", "input": "x", "expected": "x"}])

    result = mode(lab_suite, name)

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        [
            "*llmeval_recordings/test_a.jsonl:4: no recording (the mark of a merge "
            "conflict); restore *"
        ]
    )
    assert len(server.seen) == 3
    assert path.read_bytes() == broken


@pytest.mark.parametrize("name", ["auto", "record"])
def test_a_broken_recording_of_a_neighbour_stays_and_spoils_no_other(
    lab_suite: Suite, server: FaultServer, name: str
) -> None:
    path = recording(lab_suite, "test_other")
    path.parent.mkdir()
    path.write_text("{", encoding="utf-8")

    result, data = lab_suite.report(f"--llmeval-mode={name}")

    assert data["totals"]["unscored"] == 3
    result.stdout.fnmatch_lines(["*llmeval_recordings/test_other.jsonl:1: no rec*"])
    assert server.seen == []
    assert path.read_text("utf-8") == "{"


@pytest.mark.skipif(os.name == "nt", reason="folders are read-only otherwise there")
def test_recordings_that_can_not_be_written_cost_the_exit_status_and_no_result(
    lab_suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A file where the folder belongs: also root can't write there.
    recording(lab_suite).parent.write_text("in the way", encoding="utf-8")

    result, data = lab_suite.report("--llmeval-mode=record")

    result.assert_outcomes(passed=3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["could not write the recordings: *"])
    assert data["totals"]["passed"] == 3
    assert len([x for x in lab_suite.journal() if x["kind"] == "case"]) == 3


# --- what is dropped -----------------------------------------------------------------


def recorded_texts(suite: Suite, stem: str = "test_a") -> set[str]:
    return {e["request"]["messages"][-1]["content"] for e in entries(suite, stem)}


def without_cities(suite: Suite) -> None:
    """Take a row away whose reply is recorded."""
    suite.rows("rows.jsonl", [row for row in ROWS if row["id"] != "cities"])


@pytest.mark.parametrize("name", ["record", "rerecord"])
@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_what_no_test_uses_is_dropped_when_its_module_ran_whole(
    lab_suite: Suite, name: str, workers: tuple[str, ...]
) -> None:
    mode(lab_suite, "record")
    before = recording(lab_suite).read_text("utf-8").splitlines()
    without_cities(lab_suite)

    result = mode(lab_suite, name, *workers)

    after = recording(lab_suite).read_text("utf-8").splitlines()
    assert recorded_texts(lab_suite) == {"List 3 rivers.", "a \\ud800 b"}
    assert set(before) - set(after) == {line for line in before if "Städte" in line}
    assert set(after) < set(before)
    result.stdout.fnmatch_lines(["recorded llmeval_recordings/test_a.jsonl: 1 dropped"])


PARTIAL = {
    "-k": ("-k", "rivers"),
    "a node id": ("test_a.py::test_rows[rivers]",),
    "all node ids": ("test_a.py::test_rows",),
    "--llmeval-cases": ("--llmeval-cases=rivers",),
    "--llmeval-limit": ("--llmeval-limit=1",),
    "--llmeval-sample": ("--llmeval-sample=1",),
    "--llmeval-generator": ("--llmeval-generator=lab",),
    "--lf": ("--lf", "-p", "cacheprovider"),
    "--deselect": ("--deselect=test_a.py::test_rows[rivers]",),
    "-x": ("-x", "--llmeval-config=wrong.yaml"),
    "-m": ("-m", "not llmeval"),
}


@pytest.mark.parametrize("part", PARTIAL)
def test_nothing_is_dropped_when_a_module_ran_in_part(
    lab_suite: Suite, part: str
) -> None:
    mode(lab_suite, "record")
    before = recording(lab_suite).read_bytes()
    without_cities(lab_suite)

    mode(lab_suite, "record", *PARTIAL[part])

    assert recording(lab_suite).read_bytes() == before


STOPS = {
    "a case that fails first": "assert False",
    "an exit": "pytest.exit('enough')",
    "a skip": "pytest.skip('today')",
    "an application that raises": "raise OSError('gone')",
    "a crash": "os._exit(1)",
}


@pytest.mark.parametrize("stop", STOPS)
def test_nothing_is_dropped_when_a_case_stopped_before_it_asked(
    lab_suite: Suite, stop: str
) -> None:
    mode(lab_suite, "record")
    before = recording(lab_suite).read_bytes()
    body = f"    if case.id == 'rivers':\n        {STOPS[stop]}\n"
    text = TEST.replace("    assert_exact", f"{body}    assert_exact")
    lab_suite.write(test_a=f"import os\n{text}")
    without_cities(lab_suite)
    arguments = ["-n1"] if stop == "a crash" else ["-x"] if "fails" in stop else []

    mode(lab_suite, "record", *arguments)

    assert recording(lab_suite).read_bytes() == before


def test_a_case_that_fails_its_check_has_run(lab_suite: Suite) -> None:
    mode(lab_suite, "record")
    lab_suite.rows("rows.jsonl", [ROWS[0], {**ROWS[2], "expected": "something else"}])

    mode(lab_suite, "record").assert_outcomes(passed=1, failed=1)

    assert recorded_texts(lab_suite) == {"List 3 rivers.", "a \\ud800 b"}


def test_another_module_of_the_folder_is_left_alone(lab_suite: Suite) -> None:
    lab_suite.write(test_b=TEST)
    mode(lab_suite, "record")
    before = recording(lab_suite).read_bytes()
    without_cities(lab_suite)

    mode(lab_suite, "record", "test_b.py")

    assert recording(lab_suite).read_bytes() == before


def test_a_module_that_asks_nothing_any_more_has_no_file(lab_suite: Suite) -> None:
    mode(lab_suite, "record")
    lab_suite.write(test_a="def test_it(llmeval):\n    assert llmeval\n")

    result = mode(lab_suite, "record")

    assert not recording(lab_suite).parent.exists()
    result.stdout.fnmatch_lines(["recorded llmeval_recordings/test_a.jsonl: 3 dropped"])


def test_what_is_found_in_a_neighbours_file_stays_there(
    lab_suite: Suite, server: FaultServer
) -> None:
    fixture = """
import pytest

@pytest.fixture(scope="session")
def words(llm_client):
    return llm_client("lab")("from a fixture").text
"""
    test = "def test_words(words, llmeval):\n    assert words == 'from a fixture'\n"
    lab_suite.write(conftest=fixture, test_a=test, test_b=test)
    mode(lab_suite, "record", "test_b.py")

    mode(lab_suite, "record").assert_outcomes(passed=2)
    mode(lab_suite, "record", "test_b.py", "test_a.py").assert_outcomes(passed=2)

    assert recorded_texts(lab_suite, "test_b") == {"from a fixture"}
    assert not recording(lab_suite).exists()
    assert len(server.seen) == 1


def test_a_broken_file_does_not_keep_the_others_from_being_written(
    lab_suite: Suite,
) -> None:
    lab_suite.write(test_b=TEST)
    mode(lab_suite, "record")
    without_cities(lab_suite)
    lab_suite.write(
        conftest="""
import pathlib

def pytest_collection_finish(session):
    pathlib.Path("llmeval_recordings/test_a.jsonl").write_text("{")
"""
    )

    result = mode(lab_suite, "record")

    assert recording(lab_suite).read_text("utf-8") == "{"
    assert recorded_texts(lab_suite, "test_b") == {"List 3 rivers.", "a \\ud800 b"}
    result.stdout.fnmatch_lines(["could not write the recordings: *test_a.jsonl:1: *"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_the_order_of_parameters_changes_no_byte(
    lab_suite: Suite, server: FaultServer
) -> None:
    path = lab_suite.path / "llmeval.yaml"
    text = path.read_text("utf-8")
    params = "{temperature: 0, max_tokens: 9}", "{max_tokens: 9.0, temperature: 0.0}"
    path.write_text(text.replace("{temperature: 0}", params[0]), "utf-8")
    mode(lab_suite, "record")
    before = recording(lab_suite).read_bytes()

    path.write_text(text.replace("{temperature: 0}", params[1]), "utf-8")
    mode(lab_suite, "rerecord")

    assert recording(lab_suite).read_bytes() == before
    assert len(server.seen) == 6


def test_an_error_is_never_recorded(lab_suite: Suite, server: FaultServer) -> None:
    server.always({"error": {"message": "down", "code": 503}})
    with (lab_suite.path / "llmeval.yaml").open("a") as file:
        file.write("limits: {retries: 0}\n")

    mode(lab_suite, "record")

    assert not recording(lab_suite).exists()


def test_the_refusal_of_sockets_would_be_seen(lab_suite: Suite) -> None:
    lab_suite.write(conftest=REFUSES_SOCKETS)

    result = lab_suite.run_alone("--llmeval-mode=live", "-k", "rivers")

    result.stdout.fnmatch_lines(["*a socket was opened*"])

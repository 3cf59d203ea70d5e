"""Repeats: bodies that run several times, and what becomes of their case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

APP = """
import threading

lock = threading.Lock()
left = {}

def answer(text):
    \"\"\"Give the replies that the question itself lists, in turn.\"\"\"
    with lock:
        replies = left.setdefault(text, text.split())
        reply = replies.pop(0)
    print("asked for", reply)
    if reply == "crash":
        raise RuntimeError("the application is down")
    return reply
"""

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", generator="python:app:answer", {marker})
def test_it(case, generator):
    response = generator(case)
    {before}
    assert_exact(response, "a")
"""

WORKERS = pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "xdist"])
#: On the engine's threads, and one after another in the main thread.
IN_PROCESS = pytest.mark.parametrize(
    "way", [[], ["--llmeval-concurrency=1"]], ids=["ahead", "in turn"]
)
WAYS = pytest.mark.parametrize(
    "way",
    [[], ["--llmeval-concurrency=1"], ["-n1"]],
    ids=["ahead", "in turn", "xdist"],
)


def write(suite: Suite, marker: str, *replies: str, before: str = "pass") -> None:
    """Write a test with one case for each text of replies."""
    suite.write(app=APP, test_it=TEST.format(marker=marker, before=before))
    suite.pytester.makeini("[pytest]\npythonpath = .\n")
    suite.rows(
        "rows.jsonl", [{"id": f"c{n}", "input": text} for n, text in enumerate(replies)]
    )


def statuses(report: dict[str, Any]) -> list[str]:
    return [
        case["status"] for case in sorted(report["cases"], key=lambda c: c["nodeid"])
    ]


def samples(report: dict[str, Any], number: int = 0) -> list[str]:
    case = sorted(report["cases"], key=lambda c: c["nodeid"])[number]
    return [sample["status"] for sample in case["samples"]]


@WAYS
def test_enough_samples_decide(suite: Suite, way: list[str]) -> None:
    write(
        suite,
        "repeat=5, min_sample_rate=0.6, gate=['pass@1 >= 0', 'pass_rate >= 0']",
        "a a a a a",
        "a b a b a",
        "a b c b a",
        "b b b b b",
    )

    result, report = suite.report(*way)

    assert statuses(report) == ["passed", "passed", "gated", "gated"]
    assert result.ret == pytest.ExitCode.OK
    assert [len(case["samples"]) for case in report["cases"]] == [5] * 4
    indices = {sample["index"] for sample in report["cases"][0]["samples"]}
    assert indices == set(range(5))
    found = report["tests"][0]["repeats"]
    assert (found["samples"], found["passed"], found["unstable"]) == (20, 10, 1)
    assert found["pass_at"]["2"] == pytest.approx((1 + 0.9 + 0.7 + 0) / 4)
    assert found["pass_hat"]["2"] == pytest.approx((1 + 0.3 + 0.1 + 0) / 4)
    assert report["tests"][0]["metrics"]["exact"]["n"] == 20


@IN_PROCESS
def test_the_failure_groups_replies(suite: Suite, way: list[str]) -> None:
    write(suite, "repeat=4, min_sample_rate=0.5", "b b c a")

    result, report = suite.report(
        "--llmeval-fail-on-unstable", "--junitxml=j.xml", *way
    )

    result.stdout.fnmatch_lines(
        [
            "E         samples   3 failed, 1 passed; 2 of 4 must pass",
            "E         replies   2× b · 1× c · 1× a",
            "*stdout*",
            "asked for b",
            "asked for b",
            "asked for c",
            "asked for a",
            "    1 of 4 samples passed (2× b · 1× c · 1× a) · exact failed*",
        ]
        if way == ["--llmeval-concurrency=1"]
        else ["E         samples   3 failed, 1 passed; 2 of 4 must pass"]
    )
    replies = {one["text"]: one["n"] for one in report["cases"][0]["replies"]}
    assert replies == {"a": 1, "b": 2, "c": 1}
    assert "3 failed, 1 passed" in "".join(
        node.text or ""
        for node in ElementTree.parse(suite.path / "j.xml").iter("failure")
    )
    assert result.stdout.str().count("asked for") == 4


def test_it_stops_once_failed(suite: Suite) -> None:
    write(suite, "repeat=5", "a b a a a")

    result, report = suite.report("--llmeval-concurrency=1")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert samples(report) == ["passed", "failed"]
    result.stdout.fnmatch_lines(
        [
            "E         samples   1 passed, 1 failed, 3 not run; 5 of 5 must pass",
            "FAILED test_it.py::test_it?c0? - 1 of 2 samples failed: *",
        ]
    )
    assert report["tests"][0]["repeats"]["whole"] == 0
    assert report["tests"][0]["repeats"]["pass_at"] == {}


def test_it_stops_once_passed(suite: Suite) -> None:
    write(suite, "repeat=5, min_sample_rate=0.4", "b a a b b")

    result, report = suite.report("--llmeval-concurrency=1")

    assert result.ret == pytest.ExitCode.OK
    assert samples(report) == ["failed", "passed", "passed"]
    assert report["cases"][0]["unstable"]
    result.stdout.fnmatch_lines(
        [
            "    samples 2 of 3 passed · 1 unstable",
            "1 unstable: passed, although a sample failed",
            "  ~ test_it?c0?  rows.jsonl:1",
            "    2 of 3 samples passed (2× a · 1× b)",
        ]
    )


def test_more_samples_than_may_run_at_once_are_left_out_too(suite: Suite) -> None:
    write(suite, "repeat=50, concurrency=2", " ".join(["b"] * 50))

    _, report = suite.report()

    assert 1 <= len(samples(report)) <= 2


@pytest.mark.parametrize(
    ("extra", "option"),
    [("gate='pass@2 >= 0.5'", []), ("gate=[]", ["--llmeval-fail-on-unstable"])],
)
def test_what_asks_for_all_samples_gets_them(
    suite: Suite, extra: str, option: list[str]
) -> None:
    write(suite, f"repeat=4, min_sample_rate=0.5, {extra}", "a a b b")

    _, report = suite.report("--llmeval-concurrency=1", *option)

    assert samples(report) == ["passed", "passed", "failed", "failed"]


def test_a_gate_of_the_file_gets_all_samples_too(suite: Suite) -> None:
    write(suite, "repeat=4", "b b b b")
    suite.write(llmeval_yaml="gates: ['tag x: pass@2 >= 0.5', 'pass@2 >= 0.5']")

    _, report = suite.report("--llmeval-concurrency=1")

    assert len(samples(report)) == 4
    assert [gate["state"] for gate in report["gates"]][1] == "fails"


@WORKERS
def test_unstable_cases_can_fail_the_run(suite: Suite, workers: list[str]) -> None:
    write(suite, "repeat=2, min_sample_rate=0.5", "a b", "a a")

    result, report = suite.report("--llmeval-fail-on-unstable", *workers)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert statuses(report) == ["passed", "passed"]
    assert report["repeats"]["unstable"] == 1
    result.stdout.fnmatch_lines(
        ["1 unstable, and --llmeval-fail-on-unstable fails the run for that"]
    )


def test_stable_cases_do_not(suite: Suite) -> None:
    write(suite, "repeat=2, min_sample_rate=0.5", "a a")

    result = suite.run("--llmeval-fail-on-unstable")

    assert result.ret == pytest.ExitCode.OK


@IN_PROCESS
@pytest.mark.parametrize(
    ("replies", "status"),
    [
        ("a a a crash", "passed"),
        ("a a b crash", "unscored"),
        ("b b crash crash", "failed"),
        ("a crash crash crash", "unscored"),
    ],
)
def test_an_unscored_sample_may_be_a_pass_or_a_failure(
    suite: Suite, replies: str, status: str, way: list[str]
) -> None:
    write(suite, "repeat=4, min_sample_rate=0.75", replies)

    _, report = suite.report("--llmeval-fail-on-unstable", *way)

    assert statuses(report) == [status]
    assert len(samples(report)) == 4


def test_an_unscored_case_says_of_how_many(suite: Suite) -> None:
    write(suite, "repeat=2", "a crash")

    result, report = suite.report("--llmeval-concurrency=1")

    assert report["cases"][0]["cause"] == "application"
    result.stdout.fnmatch_lines(
        [
            "*samples   1 passed, 1 unscored; 2 of 2 must pass",
            "UNSCORED test_it.py::test_it?c0? - python:app:answer raised*",
        ]
    )


@IN_PROCESS
@pytest.mark.parametrize(
    ("call", "status"), [("skip", "skipped"), ("xfail", "xfailed")]
)
def test_a_sample_that_withdraws_ends_the_case(
    suite: Suite, call: str, status: str, way: list[str]
) -> None:
    write(suite, "repeat=3", "a a a", before=f"pytest.{call}('not today')")

    result, report = suite.report(*way)

    assert result.ret == pytest.ExitCode.OK
    assert statuses(report) == [status]


def test_a_row_can_expect_the_failure(suite: Suite) -> None:
    write(suite, "repeat=2")
    suite.rows("rows.jsonl", [{"id": "x", "input": "b b", "xfail": "known bug"}])

    result, report = suite.report()

    assert result.ret == pytest.ExitCode.OK
    assert statuses(report) == ["xfailed"]


def test_a_plain_assert_fails_a_sample(suite: Suite) -> None:
    write(suite, "repeat=2", "c c", before="assert response.text == 'a'")

    result, report = suite.report("--llmeval-concurrency=1")

    assert statuses(report) == ["failed"]
    result.stdout.fnmatch_lines(["*assert 'c' == 'a'*", "*samples   1 failed, 1 not*"])


@WORKERS
def test_the_command_line_wins_over_the_marker(
    suite: Suite, workers: list[str]
) -> None:
    write(suite, "repeat=9", "a a b")

    result, report = suite.report("--llmeval-repeat=3", *workers)

    assert report["cases"][0]["repeat"] == 3
    assert statuses(report) == ["failed"]
    result.stdout.fnmatch_lines(["next: pytest *--llmeval-repeat=3"])


@IN_PROCESS
def test_async_bodies_are_repeated(suite: Suite, way: list[str]) -> None:
    write(suite, "repeat=3, min_sample_rate=0.6", "a b a")
    text = (suite.path / "test_it.py").read_text("utf-8")
    text = text.replace("def test", "async def test")
    text = text.replace("generator(case)", "await generator.acall(case)")
    suite.write(test_it=text)

    result, report = suite.report("--llmeval-fail-on-unstable", *way)

    assert statuses(report) == ["passed"]
    assert sorted(samples(report)) == ["failed", "passed", "passed"]
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_samples_have_recordings_of_their_own(suite: Suite) -> None:
    write(suite, "repeat=3", "a a a", "a b a")

    suite.run("--llmeval-mode=record", "--llmeval-fail-on-unstable")
    (suite.path / "app.py").write_text("def answer(text): raise SystemError", "utf-8")
    _, report = suite.report("--llmeval-mode=replay", "--llmeval-fail-on-unstable")

    assert statuses(report) == ["passed", "failed"]
    assert [len(case["samples"]) for case in report["cases"]] == [3, 3]
    origins = {s["origin"] for case in report["cases"] for s in case["samples"]}
    assert origins == {"recording"}


def test_ctrl_c_in_a_sample_ends_the_run(suite: Suite) -> None:
    write(suite, "repeat=3", "a a a", before="raise KeyboardInterrupt")

    result = suite.run_alone("--llmeval-concurrency=1")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert result.stdout.str().count("asked for") <= 1


def test_pytest_exit_in_a_sample_ends_the_run(suite: Suite) -> None:
    write(suite, "repeat=3", "a a a", before="pytest.exit('enough', returncode=7)")

    assert suite.run().ret == 7


def test_x_stops_at_a_failed_case(suite: Suite) -> None:
    write(suite, "repeat=2, min_sample_rate=0.5", "a b", "b b", "a a")

    result = suite.run("-x")

    result.assert_outcomes(passed=1, failed=1)


def test_subtests_are_refused(suite: Suite) -> None:
    write(suite, "repeat=2", "a a")
    text = (suite.path / "test_it.py").read_text("utf-8")
    text = text.replace("(case, gen", "(case, subtests, gen")
    suite.write(
        test_it=text,
        conftest="import pytest\n@pytest.fixture\ndef subtests(): return None\n",
    )

    result = suite.run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*'subtests' reports parts of a case by itself*"])


@pytest.mark.parametrize(
    ("marker", "text"),
    [
        ("repeat=0", "*repeat is a whole number from 1 up, not 0*"),
        ("repeat=True", "*repeat is a whole number from 1 up, not True*"),
        (
            "min_sample_rate=0",
            "*min_sample_rate is a number above 0, at most 1, not 0*",
        ),
        ("min_sample_rate=1.1", "*at most 1, not 1.1"),
        ("min_sample_rate=80", "*at most 1, not 80 (80 % is 0.8)"),
        ("min_sample_rate='1'", "*at most 1, not '1'*"),
        ("gate='pass@2 >= 0.9'", "*pass@2 needs 2 samples of a case, and there is 1:*"),
        ("repeat=2, gate='pass^3 >= 1'", "*pass^3 needs 3 samples*there are 2:*"),
        ("gate='pass@x >= 1'", "*'pass@x' is about a number of samples*"),
        ("gate='pass^0 >= 1'", "*'pass^0' is about a number of samples*"),
    ],
)
def test_mistakes_are_collection_errors(suite: Suite, marker: str, text: str) -> None:
    write(suite, marker, "a")

    result = suite.run()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([text])


def test_a_repeat_option_that_is_no_number_is_told(suite: Suite) -> None:
    write(suite, "repeat=1", "a")

    result = suite.run("--llmeval-repeat=often")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*--llmeval-repeat is a whole number from 1 up, not 'often'"]
    )


TASK = """
task: t
dataset: rows.jsonl
generator: "python:app:answer"
assert: [{exact: {expected: a}}]
"""


@WAYS
def test_yaml_tasks_are_repeated(suite: Suite, way: list[str]) -> None:
    write(suite, "", "a b a", "b a b")
    (suite.path / "test_it.py").unlink()
    text = f"{TASK}repeat: 3\nmin_sample_rate: 0.6\n"
    (suite.path / "t.llmeval.yaml").write_text(text, "utf-8")

    _, report = suite.report("--llmeval-fail-on-unstable", *way)

    assert statuses(report) == ["passed", "failed"]
    assert sorted(samples(report)) == ["failed", "passed", "passed"]


def test_a_share_that_is_none_is_told_of_a_yaml_task(suite: Suite) -> None:
    write(suite, "", "a")
    (suite.path / "test_it.py").unlink()
    text = f"{TASK}min_sample_rate: 80\n"
    (suite.path / "t.llmeval.yaml").write_text(text, "utf-8")

    result = suite.run()

    result.stdout.fnmatch_lines(
        ["*min_sample_rate is a share above 0, at most 1, not*"]
    )

"""Runs that went wrong elsewhere: the inputs of docs/faults.md, through a suite."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import QUIET

if TYPE_CHECKING:
    from tests.conftest import Suite, Troubles

SCORED = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("{data}", generator="{generator}", prompt="{prompt}")
def test_it(case, generator):
    assert_exact(generator(case), case, preset="raw")
"""

JUDGED = """
import pytest
from pytest_llmeval import assert_judge

@pytest.mark.llmeval("rows.jsonl", generator="column:reply", judge="column:says")
def test_it(case, generator, judge):
    assert_judge(generator(case), case, judge, rubric="It is right.")
"""


def write(
    suite: Suite,
    data: str,
    generator: str = "python:echo_app:answer",
    prompt: str = "{{ input }}",
) -> None:
    """Write a test of a dataset; by default its reply is the prompt."""
    suite.write(
        test_it=SCORED.format(data=data, generator=generator, prompt=prompt),
        echo_app_py="def answer(prompt):\n    return prompt\n",
    )


def statuses(report: dict[str, Any]) -> dict[str, str]:
    """Return how each case ended; one that is there twice fails."""
    ended = Counter((case["case_id"], case["status"]) for case in report["cases"])
    assert set(ended.values()) <= {1}
    found = dict(ended.keys())
    assert len(found) == len(ended)
    return found


def test_a_judge_that_breaks_down_gives_no_low_grade(
    suite: Suite, troubles: Troubles
) -> None:
    replies = troubles.input(9)["judge_replies_for_4_cases"]
    rows = [
        {"id": f"c{n}", "input": "q", "reply": "r", "says": says}
        for n, says in enumerate(replies)
    ]
    suite.rows("rows.jsonl", rows)
    suite.write(test_it=JUDGED)

    result, report = suite.report()

    assert list(statuses(report).values()) == [
        "passed",
        "failed",
        "unscored",
        "unscored",
    ]
    assert {case["cause"] for case in report["cases"][2:]} == {"judge"}
    judged = report["tests"][0]["metrics"]["judge"]
    assert (judged["mean"], judged["n"], judged["unscored"]) == (0.5, 2, 2)
    result.stdout.re_match_lines([r"test_it +4 +1 +1 +2 +50 % .*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_words_of_yaml_reach_prompts_ids_and_reports_unchanged(
    suite: Suite, troubles: Troubles
) -> None:
    troubles.copy("n31_norway.yaml", suite)
    write(suite, "n31_norway.yaml", prompt="{{ expected }}")

    result, report = suite.report("-v")

    result.assert_outcomes(passed=5)
    prompts = [
        case["samples"][0]["prompt"][0]["content"]
        if isinstance(case["samples"][0]["prompt"], list)
        else case["samples"][0]["prompt"]
        for case in report["cases"]
    ]
    assert prompts == ["no", "yes", "on", "off", "NO"]
    result.stdout.fnmatch_lines(["*test_it?no? PASSED*"])
    cases = json.dumps(report["cases"]).lower()
    assert '"false"' not in cases
    assert "[false]" not in result.stdout.str().lower()


def test_nothing_is_read_or_written_in_the_machines_encoding(
    suite: Suite, troubles: Troubles, monkeypatch: pytest.MonkeyPatch
) -> None:
    troubles.copy("n33_utf8.jsonl", suite)
    write(suite, "n33_utf8.jsonl", prompt="ask.j2")
    suite.write(
        ask_j2="{{ input }}",
        llmeval_yaml=(
            "models:\n  app: {provider: python, model: 'echo_app:answer', cache: true}\n"
        ),
    )
    path = suite.path / "test_it.py"
    text = path.read_text("utf-8").replace("python:echo_app:answer", "app")
    path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    formats = ["json", "jsonl", "csv", "md", "html"]
    options = [f"--llmeval-report=r.{suffix}" for suffix in formats]

    result = suite.pytester.run(
        sys.executable,
        *("-X", "warn_default_encoding", "-W", "error::EncodingWarning"),
        *("-m", "pytest", *QUIET, "-p", "no:cacheprovider"),
        *("--llmeval-mode=record", "--llmeval-save=main", "--junitxml=j.xml"),
        *("-vv", "--llmeval-show=all"),
        *options,
    )

    assert "EncodingWarning" not in result.stdout.str() + result.stderr.str()
    told = "Größe – 5 €, naïve, 東京, 😀"
    report = json.loads((suite.path / "r.json").read_text("utf-8"))
    assert report["cases"][0]["samples"][0]["response"] == told
    for name in ["r.jsonl", "r.csv", "r.html"]:
        assert told in (suite.path / name).read_text("utf-8"), name
    recording = (suite.path / "llmeval_recordings" / "test_it.jsonl").read_text("utf-8")
    assert json.loads(recording)["response"]["text"] == told
    assert (suite.path / "llmeval_baselines" / "main.json").is_file()
    assert (suite.path / ".llmeval" / "cache.sqlite").is_file()


@pytest.mark.parametrize("name", ["n37_cp1252.csv", "n37_utf16.csv"])
def test_a_file_in_another_encoding_is_one_collection_error(
    suite: Suite, troubles: Troubles, name: str
) -> None:
    troubles.copy(name, suite)
    write(suite, name)

    result = suite.run()

    result.assert_outcomes(errors=1)
    output = result.stdout.str()
    assert f"{name}" in output
    assert "UTF-8" in output
    assert "Traceback" not in output
    assert "\ufffd" not in output
    assert "GrÃ¶ÃŸe" not in output


def test_no_id_leads_out_of_its_folder_or_into_anothers_record(
    suite: Suite, troubles: Troubles
) -> None:
    (suite.path / "inner").mkdir()
    project = suite.path / "inner"
    troubles.copy("n41_long_ids.jsonl", suite)
    (suite.path / "n41_long_ids.jsonl").rename(project / "n41_long_ids.jsonl")
    write(suite, "n41_long_ids.jsonl")
    for name in ("test_it.py", "echo_app.py"):
        (suite.path / name).rename(project / name)
    (project / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    before = {path for path in suite.path.rglob("*") if path.is_file()}

    result = suite.run(
        *("--rootdir=inner", "-c", "inner/pytest.ini", "inner"),
        *("--llmeval-mode=record", "--llmeval-report=inner/r.html"),
    )

    result.assert_outcomes(passed=6)
    written = {path for path in suite.path.rglob("*") if path.is_file()} - before
    own = [path for path in written if "__pycache__" not in path.parts]
    assert own
    assert all(path.resolve().is_relative_to(project.resolve()) for path in own)
    assert all(len(os.fsencode(path.name)) <= 255 for path in own)
    lines = (project / "llmeval_recordings" / "test_it.jsonl").read_text("utf-8")
    entries = [json.loads(line) for line in lines.split("\n") if line]
    assert sorted(entry["response"]["text"] for entry in entries) == list("pqrstu")


def test_a_missing_variable_asks_no_model(suite: Suite, troubles: Troubles) -> None:
    given = troubles.input(43)
    suite.rows("rows.jsonl", [given["row"], {"id": "v2", "question": "q"}])
    write(suite, "rows.jsonl", prompt="ask.j2")
    suite.write(ask_j2=given["template"])

    _, report = suite.report()

    first = report["cases"][0]
    assert (first["status"], first["cause"]) == ("unscored", "data")
    assert first["samples"][0]["calls"] == []
    assert "question" in json.dumps(first)


def test_missing_scores_are_neither_noughts_nor_left_out(
    suite: Suite, troubles: Troubles
) -> None:
    given = troubles.input(71)
    rows = [
        {"id": f"c{n}", "input": "q", "reply": json.dumps(value)}
        for n, value in enumerate(given["scores"])
    ]
    suite.rows("rows.jsonl", rows)
    suite.write(
        test_it="""
import json
import pytest
from pytest_llmeval import assert_metric
from pytest_llmeval.metrics import metric

@metric("told_score")
def told_score(response, expected):
    value = json.loads(response)
    return float(value) if value is not None else None

@pytest.mark.llmeval("rows.jsonl", generator="column:reply", gate="told_score >= 0.7")
def test_it(case, generator):
    assert_metric(generator(case), "any", "told_score", threshold=0)
"""
    )

    result, report = suite.report()

    found = report["tests"][0]["metrics"]["told_score"]
    assert (found["mean"], found["n"], found["unscored"]) == (0.75, 2, 2)
    assert [gate["state"] for gate in report["gates"]] != ["holds"]
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*told_score 0.75 (n 2, 2 unscored)*", "2 unscored*"])

    def refused(word: str) -> None:
        raise AssertionError(word)

    text = (suite.path / "report.json").read_text("utf-8")
    json.loads(text, parse_constant=refused)


def test_html_shows_hostile_text_and_runs_none(
    suite: Suite, troubles: Troubles
) -> None:
    hostile = troubles.path("n75_output.txt").read_text("utf-8")
    rows: list[dict[str, Any]] = [
        {"id": hostile, "input": "q", "reply": hostile, "says": f"FAIL: {hostile}"},
        {"id": "b", "input": hostile, "reply": "r", "says": "PASS", "tags": [hostile]},
    ]
    suite.rows("rows.jsonl", rows)
    suite.write(test_it=JUDGED)

    suite.run("--llmeval-report=r.html")

    page = (suite.path / "r.html").read_text("utf-8")
    assert "<img src=x" not in page
    assert "<script>alert" not in page
    assert "&lt;img src=x onerror=alert(75)&gt;" in page
    data = page.partition('id="data">')[2].partition("</script>")[0]
    first, second = json.loads(data)["cases"]
    assert first["case"] == first["samples"][0]["reply"] == hostile
    assert first["reason"].endswith(hostile)
    assert second["row"]["input"] == hostile


def test_square_brackets_are_no_markup(suite: Suite, troubles: Troubles) -> None:
    leaked = troubles.path("n77_output.txt").read_text("utf-8")
    suite.rows("rows.jsonl", [{"id": "a", "input": leaked, "expected": "x"}])
    write(suite, "rows.jsonl")

    result = suite.run("--color=yes", "--llmeval-show=all")

    output = result.stdout.str()
    assert "[/INST] done [bold]x[/] [red" in output
    assert "INTERNALERROR" not in output
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert output.rstrip().endswith("\x1b[0m")


def test_node_ids_are_the_same_on_every_worker_and_in_every_run(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(5):
        rows = [{"input": f"f{n} r{m}", "expected": f"f{n} r{m}"} for m in range(4)]
        (suite.path / "data").mkdir(exist_ok=True)
        suite.rows(f"data/d{n}.jsonl", rows)
    write(suite, "data/*.jsonl")

    def nodeids(*args: str) -> list[str]:
        result, report = suite.report(*args)
        assert "Different tests were collected" not in result.stdout.str()
        return [case["nodeid"] for case in report["cases"]]

    alone = nodeids()
    assert len(set(alone)) == 20
    monkeypatch.setenv("PYTHONHASHSEED", "random")
    assert sorted(nodeids("-n2")) == sorted(alone)
    with (suite.path / "data" / "d2.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"input": "more"}\n')
    assert set(alone) < set(nodeids())


def test_a_dead_worker_takes_no_result_with_it(suite: Suite) -> None:
    rows = [{"id": f"c{n}", "input": "x", "expected": "x"} for n in range(1, 7)]
    suite.rows("rows.jsonl", rows)
    write(suite, "rows.jsonl")
    path = suite.path / "test_it.py"
    crash = 'import os; case.id == "c4" and os._exit(1); assert_exact('
    text = path.read_text("utf-8").replace("    assert_exact(", f"    {crash}")
    path.write_text(text, encoding="utf-8")

    result, report = suite.report("-n2", "--llmeval-save=main")

    found = statuses(report)
    assert found.pop("c4") == "unscored"
    assert found == dict.fromkeys(["c1", "c2", "c3", "c5", "c6"], "passed")
    assert (report["totals"]["passed"], report["totals"]["unscored"]) == (5, 1)
    crashed = next(case for case in report["cases"] if case["case_id"] == "c4")
    assert crashed["cause"] == "crashed"
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert not (suite.path / "llmeval_baselines").exists()


def compared(suite: Suite, now: dict[str, float], *args: str) -> tuple[int, Any]:
    """Run cases that are right or wrong, and compare them with the baseline."""
    rows = [
        {"id": name, "input": "x" if value else "y", "expected": "x"}
        for name, value in now.items()
    ]
    suite.rows("rows.jsonl", rows)
    result, report = suite.report(*args)
    return int(result.ret), report["comparison"]


def names(identities: list[str]) -> list[str]:
    return [identity.rpartition("::")[2] for identity in identities]


def test_cases_that_came_and_went_are_no_part_of_the_difference(
    suite: Suite, troubles: Troubles
) -> None:
    given = troubles.input(85)
    write(suite, "rows.jsonl")
    compared(suite, given["baseline"], "--llmeval-save=main")

    status, found = compared(suite, given["now"], "--llmeval-compare=main")

    assert names(found["regressed"]) == []
    assert (names(found["missing"]), names(found["new"])) == (["b"], ["d"])
    means = found["metrics"][0] if isinstance(found["metrics"], list) else found
    assert "0.667" not in json.dumps(means)
    assert status == pytest.ExitCode.TESTS_FAILED

    allowed, _ = compared(
        suite, given["now"], "--llmeval-compare=main", "--llmeval-allow-missing"
    )
    assert allowed == pytest.ExitCode.OK


def test_cases_that_were_not_selected_are_not_missing(
    suite: Suite, troubles: Troubles
) -> None:
    given = troubles.input(85)
    write(suite, "rows.jsonl")
    compared(suite, given["baseline"], "--llmeval-save=main")
    baseline = suite.path / "llmeval_baselines" / "main.json"
    before = baseline.read_bytes()

    one = ("-k", "a and not b and not c")
    status, found = compared(suite, given["baseline"], *one, "--llmeval-compare=main")
    compared(suite, given["baseline"], *one, "--llmeval-save=main")

    assert status == pytest.ExitCode.OK
    assert names(found["missing"]) == []
    assert baseline.read_bytes() == before

"""Node ids: stable, readable, and good to be pasted back; tags as marks."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

ODD = [
    "plain",
    "a::b",
    "dir/sub.py::test_x",
    "br[1]",
    "]",
    "[",
    "two words",
    "q\"uote'",
    "$HOME",
    "-k",
    "--lf",
    "..",
    "@file",
    "100%",
    "x-y-z",
    "a or b",
    "emoji😀",
    "back\\slash",
]

TEST = """
import pytest
from pytest_llmeval import assert_exact

@pytest.mark.llmeval("rows.jsonl", generator="column:reply")
def test_it(case, generator):
    assert_exact(generator(case), case, preset="raw")
"""


@pytest.fixture
def odd(suite: Suite) -> Suite:
    rows = [{"id": name, "expected": name, "reply": name} for name in ODD]
    rows[4]["reply"] = "something else"
    suite.rows("rows.jsonl", rows)
    suite.write(test_it=TEST)
    return suite


def _printed_ids(suite: Suite) -> list[str]:
    lines = suite.run("--collect-only", "-q").outlines
    return [line for line in lines if line.startswith("test_it.py::")]


def test_odd_ids_are_all_collected(odd: Suite) -> None:
    ids = _printed_ids(odd)

    assert len(ids) == len(ODD)
    assert "test_it.py::test_it[plain]" in ids
    assert "test_it.py::test_it[x-y-z]" in ids


def test_every_printed_id_can_be_pasted_back(odd: Suite) -> None:
    for printed in _printed_ids(odd):
        result = odd.run(printed)

        counts = result.parseoutcomes()
        assert counts.get("passed", 0) + counts.get("failed", 0) == 1, printed


@pytest.mark.parametrize("failing", ["a::b", "br[1]", "--lf", "back\\slash"])
def test_last_failed_finds_an_odd_id_again(odd: Suite, failing: str) -> None:
    rows = [{"id": i, "expected": i, "reply": i * (1 + (i == failing))} for i in ODD]
    odd.rows("rows.jsonl", rows)
    odd.run_with_cache()

    result = odd.run_with_cache("--lf")

    result.assert_outcomes(failed=1)


def test_keyword_selects_a_case(odd: Suite) -> None:
    result = odd.run("-k", "plain")

    result.assert_outcomes(passed=1, deselected=17)


def test_true_ids_stay_in_the_report(odd: Suite) -> None:
    _, report = odd.report()

    assert [case["case_id"] for case in report["cases"]] == ODD


def test_the_rerun_command_runs_the_case(odd: Suite) -> None:
    lines = odd.run().outlines
    command = next(line.split(" rerun ")[1] for line in lines if " rerun " in line)

    result = odd.run(*shlex.split(command)[1:])

    result.assert_outcomes(failed=1)


def test_rows_without_ids_are_numbered(suite: Suite) -> None:
    suite.rows("rows.jsonl", [{"expected": "a", "reply": "a"}] * 2)
    suite.write(test_it=TEST)

    result = suite.run("-v")

    result.stdout.fnmatch_lines(["*test_it?1? PASSED*", "*test_it?2? PASSED*"])


def test_doubled_ids_are_refused_with_both_places(suite: Suite) -> None:
    suite.rows("rows.jsonl", [{"id": "a", "expected": "a"}] * 2)
    suite.write(test_it=TEST)

    result = suite.run()

    result.stdout.fnmatch_lines(["*rows.jsonl:2*'a'*rows.jsonl:1*"])


@pytest.fixture
def tagged(suite: Suite) -> Suite:
    rows = [
        {"id": "a", "expected": "a", "reply": "a", "tags": ["geo", "hard one"]},
        {"id": "b", "expected": "b", "reply": "b", "tags": ["v1.2"]},
    ]
    suite.rows("rows.jsonl", rows)
    suite.write(test_it=TEST)
    return suite


@pytest.mark.parametrize(
    "selection",
    [["-m", "geo"], ["-m", "v1.2"], ["-m", "hard_one"], ["-k", "geo"]],
    ids=str,
)
def test_tags_select(tagged: Suite, selection: list[str]) -> None:
    result = tagged.run("--strict-markers", *selection)

    result.assert_outcomes(passed=1, deselected=1)


@pytest.mark.parametrize("tag", ["skip", "xfail", "parametrize", "llmeval", "slow"])
def test_a_tag_called_like_a_mark_is_refused(suite: Suite, tag: str) -> None:
    suite.pytester.makeini("[pytest]\nmarkers =\n    slow: takes long\n")
    suite.rows("rows.jsonl", [{"id": "a", "reply": "a", "tags": [tag]}])
    suite.write(test_it=TEST)

    result = suite.run()

    result.stdout.fnmatch_lines([f"*rows.jsonl:1: the tag '{tag}' is called like *"])


def test_ids_are_the_same_on_every_worker_and_hash_seed(
    odd: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "random")
    alone = _printed_ids(odd)

    result = odd.run("-n2", "--llmeval-report=report.json")

    data = json.loads((odd.path / "report.json").read_text("utf-8"))
    assert "Different tests were collected" not in result.stdout.str()
    assert sorted(case["nodeid"] for case in data["cases"]) == sorted(alone)


@pytest.mark.parametrize(
    ("tag", "name"),
    [("_wip", "wip"), ("[x]", "x"), ("#1", "1"), ("__dunder__", "dunder")],
)
def test_a_tag_is_selected_by_its_letters_and_digits(
    suite: Suite, tag: str, name: str
) -> None:
    suite.write(test_it=TEST)
    suite.rows("rows.jsonl", [{"id": "a", "reply": "a", "tags": [tag]}, {"id": "b"}])

    result = suite.run("--collect-only", "-q", "-m", name)

    result.stdout.fnmatch_lines(["test_it.py::*[[]a]", "", "1/2 tests collected*"])


def test_a_tag_of_signs_alone_is_refused(suite: Suite) -> None:
    suite.write(test_it=TEST)
    suite.rows("rows.jsonl", [{"id": "a", "reply": "a", "tags": ["#!"]}])

    result = suite.run()

    result.stdout.fnmatch_lines(["*rows.jsonl:1: the tag '#!' has no letter or digit*"])

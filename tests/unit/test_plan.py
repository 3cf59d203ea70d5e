"""What a run would ask, as far as its cases are known: counted and said."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.clients import Clients
from pytest_llmeval.clients.forecast import Forecast
from pytest_llmeval.config import Config, Limits, parse_spec
from pytest_llmeval.report.lines import Page
from pytest_llmeval.report.plan import PlannedTest, plan_line, plan_lines
from pytest_llmeval.store.cache import Cache, Reply
from pytest_llmeval.store.journal import Journal
from pytest_llmeval.store.last import last_cases
from pytest_llmeval.store.recordings import Entry, recording_path
from pytest_llmeval.types import Mode, Record, Sample


def call(
    key: str = "", *, role: str = "generator", text: str = "Lima", **rest: Any
) -> dict[str, Any]:
    """Return the JSON of a call, as far as a plan looks at it."""
    response = {"text": text, "origin": "live", "provider": "openai", **rest}
    return {
        "role": role,
        "client": "lab",
        "prompt": [{"role": "user", "content": "Capital?"}],
        "response": response,
        "key": key,
        "setup": setup(),
    }


# --- counted -------------------------------------------------------------------------

PRICED: dict[str, Any] = {
    "usage": {"input_tokens": 1000, "output_tokens": 10},
    "cost": 0.5,
}


def planned(name: str = "test_x") -> PlannedTest:
    test = PlannedTest(name)
    for _ in range(3):
        test.add(2)
    test.add(2, is_skipped=True)
    test.add_call(call(**PRICED), "cached")
    test.add_call(call(**PRICED), "to ask")
    test.add_call(call(role="judge", **PRICED), "not known")
    test.new, test.changed, test.further = 1, 1, 1
    return test


def test_a_test_is_told_with_what_is_known_and_what_is_not() -> None:
    lines = [line.text for line in plan_lines([planned()], Page(width=90))]

    assert lines == [
        "what a run would ask, if the tests ask as they did the last time:",
        "test_x",
        "    4 cases · 6 samples · 1 skipped",
        "    generator 2 calls · judge 1 call",
        "    cached 1 · to ask 1 · not known 1",
        "    tokens 3,000 in, 30 out · cost $1.50 · of it to be spent $1.00",
        "    1 case not run before · 1 case with another row or prompt than before".ljust(
            0
        ),
        "    1 sample not run the last time",
    ]


def test_several_tests_are_added_up() -> None:
    lines = [line.text for line in plan_lines([planned("a"), planned("b")], Page())]

    place = lines.index("all")
    assert lines[place + 1 : place + 4] == [
        "    8 cases · 12 samples · 2 skipped",
        "    generator 4 calls · judge 2 calls",
        "    cached 2 · to ask 2 · not known 2",
    ]
    assert "cost $3.00 · of it to be spent $2.00" in lines[place + 4]


def test_the_sum_fits_a_line() -> None:
    text = plan_line([planned()])

    assert text.startswith("llmeval: 4 cases, 6 samples, 1 skipped, generator 2 calls,")
    assert "::" not in text  # tools take such a line for a node id


def test_nothing_is_made_up_of_cases_that_never_ran() -> None:
    test = PlannedTest("test_x")
    test.add(5)
    test.new = 1

    lines = [line.text for line in plan_lines([test], Page())]

    assert lines == [
        "test_x",
        "    1 case · 5 samples",
        "    calls not known",
        "    1 case not run before",
    ]


# --- where replies would come from ---------------------------------------------------

LAB = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
MODULE = "test_x.py"


def clients(root: Path, mode: Mode = "auto", **limits: Any) -> Clients:
    models = {"lab": replace(parse_spec(LAB, Config()), name="lab")}
    return Clients(Config(models=models, limits=Limits(**limits)), root, mode)


@cache
def setup() -> str:
    """Return the fingerprint that calls of the model keep."""
    asks = clients(Path()).forecast()
    found = asks._setting("lab")
    assert found is not None
    return found.setup


def forecast(root: Path, mode: Mode = "auto", **limits: Any) -> Forecast:
    return clients(root, mode, **limits).forecast()


def record(root: Path, key_of: dict[str, Any]) -> str:
    """Write a recording beside the test; return its key."""
    entry = Entry(request=key_of, sample=0, response={"text": "Lima"})
    path = recording_path(root, "test_x")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entry.to_json()) + "\n", encoding="utf-8")
    return entry.key


def cached(root: Path, key: str) -> str:
    home = root / ".llmeval"
    home.mkdir(exist_ok=True)
    file = Cache.open(home / "cache.sqlite")
    file.put([Reply(key=key, response={"text": "Lima"}, model="openai:m")])
    file.close()
    return key


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("auto", ["recorded", "cached", "to ask"]),
        ("record", ["recorded", "cached", "to ask"]),
        ("replay", ["recorded", "not recorded", "not recorded"]),
        ("rerecord", ["to ask", "to ask", "to ask"]),
        ("live", ["to ask", "to ask", "to ask"]),
    ],
)
def test_the_mode_says_what_counts(
    tmp_path: Path, mode: Mode, expected: list[str]
) -> None:
    keys = [record(tmp_path, {"a": 1}), cached(tmp_path, "k2"), "k3"]

    asks = forecast(tmp_path, mode)

    assert [asks.of(call(key), MODULE) for key in keys] == expected


def test_a_reply_that_is_too_old_is_asked_for(tmp_path: Path) -> None:
    key = cached(tmp_path, "k")

    assert forecast(tmp_path, cache_days=1e-9).of(call(key), MODULE) == "to ask"
    assert forecast(tmp_path, cache_days=1).of(call(key), MODULE) == "cached"


@pytest.mark.parametrize(
    "change", [{"key": ""}, {"setup": "another"}, {"client": "gone"}]
)
def test_what_can_not_be_looked_up_is_not_known(
    tmp_path: Path, change: dict[str, str]
) -> None:
    key = cached(tmp_path, "k")

    assert forecast(tmp_path).of({**call(key), **change}, MODULE) == "not known"


def test_code_under_test_is_asked_whatever_is_on_file(tmp_path: Path) -> None:
    code = {**call(record(tmp_path, {"a": 1})), "client": "python:app:answer"}

    assert forecast(tmp_path).of(code, MODULE) == "to ask"
    assert forecast(tmp_path, "replay").of(code, MODULE) == "not known"


def test_a_verdict_on_a_reply_that_is_not_there_is_not_known(tmp_path: Path) -> None:
    cached(tmp_path, "verdict")
    cached(tmp_path, "reply")
    judge = call("verdict", role="judge")

    def expected(key: str) -> list[str]:
        sample = forecast(tmp_path).of_sample([call(key), judge], MODULE)
        return [where for _, where in sample]

    assert expected("reply") == ["cached", "cached"]
    assert expected("gone") == ["to ask", "not known"]


def test_a_question_that_quotes_a_reply_depends_on_it(tmp_path: Path) -> None:
    key = cached(tmp_path, "k")
    quoting = {**call(key), "prompt": [{"role": "user", "content": "Why Lima?"}]}

    def expected(second: dict[str, Any]) -> list[str]:
        asks = forecast(tmp_path)
        return [where for _, where in asks.of_sample([call("gone"), second], MODULE)]

    assert expected(quoting) == ["to ask", "not known"]
    assert expected(call(key)) == ["to ask", "cached"]


def test_looking_makes_no_file(tmp_path: Path) -> None:
    assert forecast(tmp_path).of(call("k"), MODULE) == "to ask"
    assert list(tmp_path.iterdir()) == []


# --- the last time -------------------------------------------------------------------


def journal(root: Path, *cases: Record, end: bool = True) -> Path:
    kept = Journal.open(root, {})
    for case in cases:
        kept.append(case.to_json())
    if end:
        kept.close({})
    return kept.path


def ended(nodeid: str, seconds: float, *, has_run: bool = True) -> Record:
    samples = [Sample(index=0, status="passed").to_json()] if has_run else []
    return Record(
        nodeid=nodeid,
        test="t.py::test",
        case_id="c",
        status="passed" if has_run else "not_run",
        seconds=seconds,
        samples=samples,
    )


def test_the_newest_run_that_has_a_case_counts(tmp_path: Path) -> None:
    journal(tmp_path, ended("a", 1), ended("b", 1))
    journal(tmp_path, ended("a", 2), ended("a", 3), end=False)

    found = {key: data["seconds"] for key, data in last_cases(tmp_path / "runs", "abc")}

    assert found == {"a": 3, "b": 1}


def test_a_case_that_did_not_run_is_looked_for_further_back(tmp_path: Path) -> None:
    journal(tmp_path, ended("a", 1))
    journal(tmp_path, ended("a", 2, has_run=False))

    found = [data["seconds"] for _, data in last_cases(tmp_path / "runs", "a")]

    assert found == [1]


def test_a_journal_that_is_cut_or_of_another_format_costs_nothing(
    tmp_path: Path,
) -> None:
    journal(tmp_path, ended('ü["\\]', 1))
    cut = journal(tmp_path, ended("a", 2), end=False)
    cut.write_bytes(cut.read_bytes()[:-10])
    other = journal(tmp_path, ended("a", 3))
    other.write_text(other.read_text("utf-8").replace('"format": 1', '"format": 9'))
    journal(tmp_path).write_text("")

    found = dict(last_cases(tmp_path / "runs", ["a", 'ü["\\]']))

    assert {key: data["seconds"] for key, data in found.items()} == {'ü["\\]': 1}


def test_no_folder_is_no_run(tmp_path: Path) -> None:
    assert list(last_cases(tmp_path / "runs", "a")) == []

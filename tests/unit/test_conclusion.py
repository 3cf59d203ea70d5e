"""What is kept of a run besides its cases, and what is united of several."""

from __future__ import annotations

from typing import Any

from pytest_llmeval.conclusion import Collected, Ended, KeptRun, merged
from pytest_llmeval.types import Record


def record(name: str, test: str = "a.yaml::task") -> Record:
    check = {
        "name": "f1",
        "metric": "f1",
        "value": 1.0,
        "version": 1,
        "higher_is_better": True,
        "passed": None,
        "aggregation": "a_users_own",
    }
    sample: dict[str, Any] = {
        "index": 0,
        "status": "passed",
        "calls": [],
        "checks": [check],
        "attachments": {},
    }
    return Record(
        nodeid=f"{test}[{name}]",
        test=test,
        case_id=name,
        status="passed",
        samples=(sample,),
    )


def kept(*records: Record, value: float, **changes: Any) -> KeptRun:
    aggregates = {one.test: {"f1": [value]} for one in records}
    given = {"ended": Ended(), **changes}
    return KeptRun(run={}, records=records, aggregates=aggregates, **given)


def means(run: KeptRun) -> list[float | None]:
    rows = run.report(run.conclude()).rows
    return [metric.mean for row in rows for metric in row.metrics]


def test_a_value_of_a_tasks_own_function_is_kept() -> None:
    run = kept(record("a"), value=0.25)

    assert means(run) == [0.25]
    assert means(run) == [0.25]


def test_such_a_value_is_unknown_once_its_cases_come_from_several_runs() -> None:
    one = kept(record("a"), record("x", "b.yaml::other"), value=0.25)
    whole = merged({"one": one, "two": kept(record("b"), value=0.5)})

    assert means(whole) == [None, 0.25]


def test_a_part_without_tests_fails_nothing() -> None:
    runs = {
        "one": kept(record("a"), value=0.0),
        "two": KeptRun(run={}, ended=Ended(status=5)),
    }

    assert merged(runs).ended == Ended(status=0)
    assert merged({"two": runs["two"]}).ended == Ended(status=5)


def test_what_runs_collected_adds_up() -> None:
    one, two = Collected(looked_at=("a",)), Collected(looked_at=("b", "a"))
    one.add_test("a.py::t", 3)
    two.add_test("a.py::t", 2)
    two.add_test("b.py::t", 1)
    one.take(two.to_json())

    assert one.items_of("a.py::t") == 3
    assert one.left(["a.py::t[x]"]) == 3
    assert one.looked_at == ("a", "b")
    assert one.is_in_scope("b/c.py::t")
    assert not one.is_in_scope("c.py::t")

from __future__ import annotations

from typing import Any

from pytest_llmeval.baseline import Compared, compare, decide, standing_of
from pytest_llmeval.report.build import build_report
from pytest_llmeval.report.github import annotation_commands
from pytest_llmeval.types import Record
from tests.browser.reports import record


def commands(*records: Record, compared: Compared | None = None) -> list[str]:
    report = build_report(records, {}, compared=compared)
    return list(annotation_commands(report, lambda name: f"sub/{name}"))


def bad(name: str, status: str = "failed", **changes: Any) -> Record:
    return record(name, status, reason="too low", **changes)


def test_a_failed_case_is_an_error_on_its_row() -> None:
    assert commands(bad("peru"), record("chad")) == [
        "::error file=sub/data.jsonl,line=2,title=failed%3A test_cities[peru]"
        "::too low%0Apytest 'test_a.py::test_cities[peru]'"
    ]


def test_a_case_without_a_row_is_annotated_on_its_test() -> None:
    (line,) = commands(bad("peru", source=None))

    assert line.startswith("::error file=sub/test_a.py,title=")


def test_errors_and_warnings_have_ten_places_each() -> None:
    failed = [bad(f"f{n}") for n in range(15)]
    gated = [bad(f"g{n}", "gated") for n in range(15)]

    found = commands(*failed, *gated)

    assert [line.partition(" ")[0] for line in found] == [
        *(["::error"] * 10),
        *(["::warning"] * 10),
    ]


def test_regressed_cases_come_first_and_are_errors() -> None:
    now = [bad(f"f{n}") for n in range(15)] + [bad("worse", "gated")]
    before = [*now[:15], record("worse")]
    comparison = compare(
        [standing_of(r) for r in now], [standing_of(r) for r in before]
    )
    decision = decide(comparison, "any", allow_missing=False)
    compared = Compared(name="main", comparison=comparison, decision=decision)

    found = commands(*now, compared=compared)

    assert "title=regressed%3A test_cities[worse]" in found[0]
    assert found[0].startswith("::error ")


def test_texts_can_not_begin_a_command_of_their_own() -> None:
    evil = "a\n::error::b\r%0A,c:\x1b[31m"

    (line,) = commands(
        bad("x", test=f"test_a.py::{evil}", source=f"{evil}:3", rerun=evil)
    )

    assert "\n" not in line
    assert "\r" not in line
    assert "\x1b" not in line
    properties = line.removeprefix("::error ").partition("::")[0]
    assert "%250A" in properties
    assert properties.count(",") == 2

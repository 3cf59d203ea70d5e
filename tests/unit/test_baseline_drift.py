"""A model served as another one than before: what is seen, and where it is said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pytest_llmeval.baseline import (
    Compared,
    Comparison,
    Drift,
    Snapshot,
    Standing,
    compare,
    decide,
    standing_of,
)
from pytest_llmeval.report.build import build_report
from pytest_llmeval.report.decisions import comparison_lines
from pytest_llmeval.report.html import html_pieces
from pytest_llmeval.report.json_file import render
from pytest_llmeval.report.lines import Page
from pytest_llmeval.report.markdown import markdown_text
from pytest_llmeval.types import Call, Prompt, Record, Response, Sample

ASKED = "openai:m"


def snapshot(model: str = "m-1", fingerprint: str = "", **rest: Any) -> Snapshot:
    values = {"role": "generator", "asked": ASKED, "system_fingerprint": fingerprint}
    return Snapshot(model=model, **{**values, **rest})


def standing(*served: Snapshot, case_id: str = "peru", **rest: Any) -> Standing:
    values = {"test": "t.py::t", "status": "passed", "served": served, **rest}
    return Standing(case_id=case_id, **values)


def drift_of(before: list[Standing], now: list[Standing]) -> tuple[Drift, ...]:
    return compare(now, before).drifts


def test_another_name_is_a_drift_of_the_model() -> None:
    (found,) = drift_of([standing(snapshot())], [standing(snapshot("m-2"))])

    assert found == Drift(
        role="generator", asked=ASKED, part="model", before=("m-1",), now=("m-2",)
    )


def test_another_fingerprint_under_the_same_name_is_one_too() -> None:
    before, now = snapshot(fingerprint="fp_a"), snapshot(fingerprint="fp_b")

    (found,) = drift_of([standing(before)], [standing(now)])

    assert found.part == "system_fingerprint"
    assert (found.before, found.now) == (("fp_a",), ("fp_b",))


def test_another_model_is_told_once_and_not_by_its_fingerprint_too() -> None:
    before, now = snapshot(fingerprint="fp_a"), snapshot("m-2", "fp_b")

    assert [d.part for d in drift_of([standing(before)], [standing(now)])] == ["model"]


def test_each_model_is_looked_at_by_itself() -> None:
    judge = snapshot("j-1", role="judge", asked="openai:j")
    now = [snapshot(), replace(judge, model="j-2")]

    (found,) = drift_of([standing(snapshot(), judge)], [standing(*now)])

    assert (found.role, found.asked, found.now) == ("judge", "openai:j", ("j-2",))


def test_machines_that_were_all_seen_before_are_no_news() -> None:
    a, b = snapshot(fingerprint="fp_a"), snapshot(fingerprint="fp_b")
    before = [standing(a, case_id="1"), standing(b, case_id="2")]
    now = [standing(b, case_id="1"), standing(b, case_id="2")]

    assert drift_of(before, now) == ()


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([], [snapshot("m-2")]),
        ([snapshot()], []),
        ([snapshot("")], [snapshot("", "fp_b")]),
        # Who asks another model knows it; that is no drift.
        ([snapshot()], [snapshot("n-1", asked="openai:n")]),
    ],
)
def test_what_is_not_known_of_both_runs_is_no_drift(
    before: list[Snapshot], now: list[Snapshot]
) -> None:
    assert drift_of([standing(*before)], [standing(*now)]) == ()


@pytest.mark.parametrize(
    ("now", "part"),
    [
        (snapshot("m-2"), "model snapshot (m-1 → m-2)"),
        (snapshot("m-1", "fp_b"), "model's system_fingerprint"),
        (snapshot("m-2", role="judge"), "judge snapshot (m-1 → m-2)"),
        (snapshot("m-2", role="rows"), "client rows snapshot (m-1 → m-2)"),
    ],
)
def test_a_case_says_that_another_snapshot_answered(now: Snapshot, part: str) -> None:
    before = replace(now, model="m-1", system_fingerprint="fp_a")

    (found,) = compare([standing(now)], [standing(before)]).changes

    assert (found.kind, found.parts) == ("same", (part,))


def test_a_record_stands_with_what_its_servers_said() -> None:
    def call(role: str, **said: Any) -> Call:
        settings = {"provider": "openai", "model": role}
        response = Response(text="x", **said) if said else None
        return Call(
            role=role,
            client=role,
            prompt=Prompt.of("hi"),
            response=response,
            settings=settings,
        )

    calls = (
        call("judge", model="j-1"),
        call("generator", model="m-1", system_fingerprint="fp_a"),
        call("generator", model="m-1", system_fingerprint="fp_a"),
        call("generator"),
    )
    sample = Sample(index=0, status="passed", calls=calls)
    record = Record(
        nodeid="t.py::t[peru]",
        test="t.py::t",
        case_id="peru",
        status="passed",
        samples=(sample.to_json(),),
    )

    assert standing_of(record).served == (
        snapshot("m-1", "fp_a", asked="openai:generator"),
        snapshot("j-1", role="judge", asked="openai:judge"),
    )


def test_snapshots_survive_the_file() -> None:
    one = standing(snapshot(fingerprint="fp_a"), snapshot("j", role="judge"))

    assert Standing.from_json(json.loads(json.dumps(one.to_json()))) == one


# --- where it is said ----------------------------------------------------------------

FIRST = (
    "another snapshot answers for generator openai:m: m-2024-05 before, m-2024-08 now"
)


@pytest.fixture
def compared() -> Compared:
    before = standing(snapshot("m-2024-05"))
    comparison: Comparison = compare([standing(snapshot("m-2024-08"))], [before])
    decision = decide(comparison, "any", allow_missing=False)
    return Compared(name="main", comparison=comparison, decision=decision)


def test_the_terminal_says_it_before_the_decision(compared: Compared) -> None:
    lines = [line.text for line in comparison_lines(compared, Page(width=100))]

    assert lines[:3] == ["", FIRST, "compared with main: holds (nothing got worse)"]


def test_a_name_on_the_wire_can_not_write_to_the_terminal(compared: Compared) -> None:
    before = standing(snapshot("m-1"))
    comparison = compare([standing(snapshot("m\x1b[2J\nholds"))], [before])

    text = "\n".join(
        line.text
        for line in comparison_lines(replace(compared, comparison=comparison), Page())
    )

    assert "\x1b" not in text


def test_markdown_says_it_before_the_decision(compared: Compared) -> None:
    text = markdown_text(build_report([], {}, compared=compared))

    assert 0 < text.index("**Drift**: <code>another snapshot") < text.index("Compared")


def test_the_page_says_it_before_the_decision(compared: Compared) -> None:
    text = "".join(html_pieces(build_report([], {}, compared=compared)))

    assert 0 < text.index(FIRST) < text.index("nothing got worse")


def test_the_json_report_has_it_first(compared: Compared) -> None:
    data = render(build_report([], {}, compared=compared))["comparison"]

    assert next(iter(data)) == "drift"
    assert data["drift"] == [
        {
            "role": "generator",
            "asked": ASKED,
            "part": "model",
            "before": ("m-2024-05",),
            "now": ("m-2024-08",),
        }
    ]

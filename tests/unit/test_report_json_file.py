from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.report.build import build_report
from pytest_llmeval.report.files import write
from pytest_llmeval.report.json_file import render
from pytest_llmeval.report.model import Report
from pytest_llmeval.types import Call, Check, Prompt, Record, Response, Sample

PROMPT = Prompt.of("Capital of Peru?")
CHECK = Check(
    metric="f1",
    name="city",
    value=1.0,
    operator=">=",
    threshold=0.6,
    passed=True,
    reason="same",
)


def call(role: str = "generator", text: str | None = "Lima", **values: Any) -> Call:
    response = None if text is None else Response(text=text, **values)
    return Call(role=role, client="app", prompt=PROMPT, response=response)


def report_of(*calls: Call, **changes: Any) -> Report:
    sample = Sample(index=0, status="passed", calls=calls, checks=(CHECK,))
    values: dict[str, Any] = {
        "nodeid": "test_a.py::test_x[peru]",
        "test": "test_a.py::test_x",
        "case_id": "peru",
        "status": "passed",
        "params": {"temperature": "0.2"},
        "source": "data.jsonl:2",
        "samples": (sample.to_json(),),
    }
    return build_report([Record(**{**values, **changes})], {"arguments": ["-x"]})


def sample_of(*calls: Call) -> Any:
    return render(report_of(*calls))["cases"][0]["samples"][0]


def test_the_top_has_the_keys_of_format_1() -> None:
    data = render(report_of(call()))

    assert list(data) == [
        "format",
        "run",
        "totals",
        "tests",
        "cases",
        "gates",
        "comparison",
        "judge",
        "repeats",
        "groups",
    ]
    assert data["format"] == 1
    assert data["run"] == {"arguments": ["-x"]}
    assert data["gates"] == []
    assert data["comparison"] is None


def test_totals_have_counts_rate_and_interval() -> None:
    totals = render(report_of(call()))["totals"]

    assert totals == {
        "cases": 1,
        "passed": 1,
        "failed": 0,
        "unscored": 0,
        "gated": 0,
        "known": 0,
        "skipped": 0,
        "xfailed": 0,
        "xpassed": 0,
        "not_run": 0,
        "pass_rate": 1.0,
        "interval": [pytest.approx(0.2065, abs=5e-5), 1.0],
    }


def test_a_rate_of_nothing_is_null() -> None:
    totals = render(report_of(status="skipped"))["totals"]

    assert (totals["pass_rate"], totals["interval"]) == (None, None)


def test_a_test_has_its_numbers() -> None:
    live = call(provider="openai", cost=0.5, latency_seconds=2.0)
    (test,) = render(report_of(live, call("judge", provider="openai")))["tests"]

    assert test["name"] == "test_x"
    assert test["nodeid"] == "test_a.py::test_x"
    assert test["params"] == {"temperature": "0.2"}
    assert test["totals"]["cases"] == 1
    assert test["metrics"] == {
        "city": {
            "metric": "f1",
            "mean": 1.0,
            "stderr": None,
            "n": 1,
            "unscored": 0,
            "higher_is_better": True,
            "version": 1,
            "pooled": None,
            "pooled_as": None,
        }
    }
    assert test["tokens"] == {"input": 0, "output": 0, "unknown": 2, "calls": 2}
    assert (test["cost"], test["cost_live"]) == (0.5, 0.5)
    assert (test["cost_known_calls"], test["cost_calls"]) == (1, 2)
    assert test["cost_by_role"] == {"generator": 0.5}
    assert (test["p50_seconds"], test["p95_seconds"]) == (2.0, 2.0)
    assert test["live_calls_timed"] == 1
    assert test["origins"]["live"] == 2


def test_a_case_has_what_its_record_has() -> None:
    (case,) = render(report_of(call()))["cases"]

    assert case["nodeid"] == "test_a.py::test_x[peru]"
    assert case["test"] == "test_a.py::test_x"
    assert case["case_id"] == "peru"
    assert case["status"] == "passed"
    assert case["cause"] is None
    assert case["source"] == "data.jsonl:2"


def test_a_sample_has_prompt_reply_origin_and_scores() -> None:
    sample = sample_of(call(origin="cache"), call("judge", "PASS"))

    assert sample["prompt"] == [{"role": "user", "content": "Capital of Peru?"}]
    assert sample["response"] == "Lima"
    assert sample["origin"] == "cache"
    assert sample["scores"][0].items() >= {
        ("metric", "f1"),
        ("name", "city"),
        ("value", 1.0),
        ("threshold", 0.6),
        ("passed", True),
        ("reason", "same"),
    }
    assert [each["role"] for each in sample["calls"]] == ["generator", "judge"]


def test_the_last_answered_call_is_the_one_under_test() -> None:
    sample = sample_of(call(text="first"), call(text="last"), call(text=None))

    assert sample["response"] == "last"


def test_a_call_without_an_answer_still_shows_its_prompt() -> None:
    sample = sample_of(call(text=None))

    assert sample["prompt"] == [{"role": "user", "content": "Capital of Peru?"}]
    assert (sample["response"], sample["origin"]) == (None, None)


def test_a_sample_without_calls_has_no_prompt() -> None:
    assert sample_of()["prompt"] is None


def test_the_file_is_the_rendered_report_a_line_a_case(tmp_path: Path) -> None:
    report = report_of(call(text="Zürich\u2028"))
    path = tmp_path / "new" / "folder" / "report.json"
    write(report, path)
    text = path.read_bytes().decode()

    assert json.loads(text) == render(report)
    assert [json.loads(line) for line in text.split("\n") if "case_id" in line] == (
        render(report)["cases"]
    )
    assert "Zürich" in text


def test_an_empty_report_is_json(tmp_path: Path) -> None:
    write(build_report([], {}), tmp_path / "report.json")

    assert json.loads((tmp_path / "report.json").read_text())["cases"] == []


def test_the_file_is_strict_json_whatever_it_holds(tmp_path: Path) -> None:
    report = build_report([], {"a": float("nan"), "b": "\udc80", "c": tmp_path})
    write(report, tmp_path / "report.json")
    text = (tmp_path / "report.json").read_text("utf-8")

    assert json.loads(text)["run"] == {"a": "nan", "b": "\\udc80", "c": str(tmp_path)}


def test_an_older_report_is_replaced_and_no_draft_left(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    write(report_of(call()), path)

    assert path.read_text().startswith('{\n"format": 1,\n')
    assert os.listdir(tmp_path) == ["report.json"]


def test_a_report_that_cannot_be_written_leaves_the_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "report.json"
    path.write_text("old")
    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(OSError, match="No space left"):
        write(report_of(call()), path)

    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.json"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path = tmp_path / "link.json"
    path.symlink_to(tmp_path / "report.json")
    write(report_of(call()), path)

    assert path.is_symlink()
    assert (tmp_path / "report.json").is_file()


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="is no file") as caught:
        write(report_of(call()), tmp_path)

    assert str(caught.value) == f"{str(tmp_path)!r} is there already, and is no file"

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from pytest_llmeval.baseline import Compared, compare, decide, standing_of
from pytest_llmeval.cli import main
from pytest_llmeval.gates import GateResult, Measured, parse_gate
from pytest_llmeval.report.build import build_report
from pytest_llmeval.report.json_file import render
from tests.browser.reports import mixed, record

OLD = Path(__file__).parents[1] / "data" / "report_format_1.json"


@pytest.fixture
def schema(capsys: pytest.CaptureFixture[str]) -> Any:
    assert main(["schema"]) == 0
    return json.loads(capsys.readouterr().out)


def whole() -> Any:
    """A report with each of its parts, as it is read back from its file."""
    now, before = mixed(), mixed()
    before[0] = record("peru")
    before.append(record("gone"))
    comparison = compare(
        [standing_of(r) for r in now], [standing_of(r) for r in before]
    )
    compared = Compared(
        name="main",
        comparison=comparison,
        decision=decide(comparison, "any", allow_missing=False),
    )
    gates = (
        GateResult(
            gate=parse_gate("pass_rate >= 0.9"),
            state="fails",
            scope="the run",
            measured=Measured(value=0.5, low=0.5, high=0.5, n=8, interval=(0.2, 0.8)),
        ),
        GateResult(
            gate=parse_gate("f1 >= 0.5"), state="not evaluated", reason="2 of 6"
        ),
    )
    report = build_report(now, {"mode": "auto"}, gates=gates, compared=compared)
    return json.loads(json.dumps(render(report)))


def test_the_schema_is_one(schema: Any) -> None:
    Draft202012Validator.check_schema(schema)


def test_a_report_with_every_part_follows_the_schema(schema: Any) -> None:
    Draft202012Validator(schema).validate(whole())


def test_a_report_without_cases_follows_the_schema(schema: Any) -> None:
    Draft202012Validator(schema).validate(render(build_report([], {})))


def test_a_report_written_when_format_1_began_still_follows_the_schema(
    schema: Any,
) -> None:
    Draft202012Validator(schema).validate(json.loads(OLD.read_text("utf-8")))


def test_nothing_that_format_1_had_is_gone() -> None:
    old, new = json.loads(OLD.read_text("utf-8")), whole()

    assert _paths(old) - _paths(new) == set()


@pytest.mark.parametrize("part", ["totals", "cases", "gates", "comparison"])
def test_a_report_that_lacks_a_part_does_not_follow(schema: Any, part: str) -> None:
    data = whole()
    del data[part]

    with pytest.raises(ValidationError, match=part):
        Draft202012Validator(schema).validate(data)


def test_every_key_of_a_report_is_in_the_schema(schema: Any) -> None:
    strict = json.loads(json.dumps(schema), object_hook=_closed)

    Draft202012Validator(strict).validate(whole())


def _closed(data: dict[str, Any]) -> dict[str, Any]:
    """Forbid what is not described, where keys are ours and this room's."""
    is_open = {"text", "provider"} <= data.get("properties", {}).keys() or {
        "p_adjusted"
    } <= data.get("properties", {}).keys()
    if "properties" in data and "required" in data and not is_open:
        data.setdefault("additionalProperties", False)
    return data


def _paths(value: Any, path: str = "") -> set[str]:
    """Return where keys stand; what a suite names is left out."""
    if isinstance(value, list):
        return {found for item in value for found in _paths(item, f"{path}[]")}
    if not isinstance(value, dict) or path.rpartition(".")[2] in {
        *("run", "params", "settings", "changed", "cost_by_role", "columns"),
        *("attachments", "judge", "response", "row", "usage"),
    }:
        return set()
    found = set()
    for key, item in value.items():
        name = "*" if path.endswith(".metrics") and "[]" in path else key
        found |= {f"{path}.{name}"} | _paths(item, f"{path}.{name}")
    return found


def test_a_run_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["report", "last", "-o", "a.html"]) == 2
    assert "run pytest -m llmeval here first" in capsys.readouterr().err
    assert main(["report", "gone.jsonl", "-o", "a.html"]) == 2
    assert "there is no run 'gone.jsonl'" in capsys.readouterr().err


def test_a_format_there_is_not_is_told_before_the_run_is_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["report", "gone.jsonl", "-o", "a.pdf"]) == 2
    assert (
        "--output=a.pdf: no report format is called '.pdf'" in capsys.readouterr().err
    )

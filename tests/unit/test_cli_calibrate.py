"""``calibrate``: labelled replies, the judge's words on them, the exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_llmeval.cli import main

ROWS = [
    ("a", "Lima", "PASS"),
    ("b", "Cusco", "FAIL"),
    ("c", "Lima!", "pass"),
    ("d", "Bogota", "FAIL"),
]
SCRIPT = [
    {"match": "\nLima", "reply": "PASS: right"},
    {"match": "\nmumble", "reply": "PASS or FAIL?"},
    {"match": "\nboom", "error": "no more credit"},
    {"reply": "FAIL: wrong city"},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("fake.jsonl", SCRIPT)
    labels(ROWS)
    Path("llmeval.yaml").write_text(
        "judge: grader\nmodels:\n  grader: {provider: fake, model: fake.jsonl}\n"
        "  other: {provider: fake, model: fake.jsonl}\n"
        "  both: {panel: [grader, other]}\n"
    )
    return tmp_path


def write(name: str, rows: list[dict[str, str]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def labels(rows: list[tuple[str, str, str]]) -> None:
    write(
        "labels.jsonl",
        [
            {"id": name, "question": "Peru?", "response": reply, "label": label}
            for name, reply, label in rows
        ],
    )


def test_a_judge_that_agrees(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["calibrate", "labels.jsonl", "--gate", "kappa >= 0.6"])

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "calibration of grader: 4 labelled replies"
    assert lines[-1] == "  gate kappa >= 0.6 holds"
    assert status == 0


def test_disagreements_and_missing_verdicts_are_told_with_their_rows(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels(
        [*ROWS, ("e", "Cusco?", "PASS"), ("f", "mumble", "FAIL"), ("g", "boom", "FAIL")]
    )

    status = main(["calibrate", "labels.jsonl", "--gate", "kappa >= 0.9"])

    out = capsys.readouterr().out
    assert "labels.jsonl:5: label PASS, judge FAIL: wrong city" in out
    assert "labels.jsonl:6: label FAIL, judge undecided: the judge's reply" in out
    assert "labels.jsonl:7: label FAIL, judge undecided: the judge could not" in out
    assert "undecided  29 % (2 of 7)" in out
    assert status == 1


def test_without_a_gate_disagreement_is_no_failure(folder: Path) -> None:
    labels([*ROWS, ("e", "Cusco?", "PASS")])

    assert main(["calibrate", "labels.jsonl"]) == 0


def test_a_row_without_a_usable_label_fails_the_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels([*ROWS, ("e", "Lima", "so so")])

    assert main(["calibrate", "labels.jsonl"]) == 1
    assert "labels.jsonl:5: the label 'so so' is none of PASS, FAIL" in (
        capsys.readouterr().out
    )


def test_labels_of_a_score_map(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("fake.jsonl", [{"match": "\nLima", "reply": "Good"}, {"reply": "Bad"}])
    labels([("a", "Lima", "Good"), ("b", "Cusco", "Bad"), ("c", "Bogota", "Good")])

    status = main(["calibrate", "labels.jsonl", "--score-map", '{"Good": 1, "Bad": 0}'])

    assert "(2 of 3, " in capsys.readouterr().out
    assert status == 0


def test_a_panel_with_votes_and_a_rubric(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--judge=both", "--votes=2", "--rubric=Names the city."]

    assert main(["calibrate", "labels.jsonl", *arguments]) == 0
    assert "calibration of both: 4 labelled replies" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gate=kapa >= 0.6"], "did you mean 'kappa'"),
        (["--label=lable"], "did you mean 'label'"),
        (["--reply=replies"], "no row has a column 'replies'"),
        (["--judge=nobody"], "nobody"),
        (["--score-map={Good}"], "--score-map is a JSON object"),
        (["--language=fr"], "one of en, ja, de"),
        (["--votes=0"], "votes is how often"),
        (["--template={{ nothing }}"], "'nothing' is not there"),
    ],
)
def test_a_mistake_is_told(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    assert main(["calibrate", "labels.jsonl", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_replies_are_found_by_their_usual_names(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        "labels.jsonl", [{"id": "a", "question": "Peru?", "text": "x", "label": "PASS"}]
    )

    assert main(["calibrate", "labels.jsonl"]) == 2
    assert "no column holds the replies (response, reply, output)" in (
        capsys.readouterr().err
    )


def test_a_judge_is_needed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("llmeval.yaml").unlink()

    assert main(["calibrate", "labels.jsonl"]) == 2
    assert "no judge: give --judge=SPEC" in capsys.readouterr().err

"""generate: a dataset answered into a column; nothing lost, nothing judged."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval import load_cases
from pytest_llmeval.cli import main

ROWS = [
    {"id": "peru", "question": "Capital of Peru?", "expected": "Lima"},
    {"id": "oz", "question": "Capital of Oz?", "expected": "Emerald City"},
    {"id": "cuba", "question": "Capital of Cuba?", "expected": "Havana"},
]
SCRIPT = [
    {"match": "Peru", "reply": "It is Lima."},
    {"match": "Cuba", "reply": 'It is "Havana",\nI think; \u00e9\U0001f600'},
    {"error": "nobody knows"},
]
APP = """
import os, signal, time
ASKED = []

def upper(prompt):
    ASKED.append(prompt)
    return prompt.upper()

def stopped(prompt):
    if "Oz" in prompt:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(30)
    return prompt.upper()

def key(prompt):
    return "the key is " + os.environ["LAB_KEY"]

def leaking(prompt):
    raise KeyError(os.environ["LAB_KEY"])

def half(prompt):
    return "half \\ud83d \\0 a character"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_rows(tmp_path / "data.jsonl", ROWS)
    write_rows(tmp_path / "fake.jsonl", SCRIPT)
    (tmp_path / "app.py").write_text(APP)
    yield tmp_path
    sys.modules.pop("app", None)


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def generate(
    *arguments: str,
    data: str = "data.jsonl",
    out: str = "out.jsonl",
    column: str = "reply",
) -> int:
    return main(["generate", data, "-o", out, "--column", column, *arguments])


def upper(*arguments: str, **more: str) -> int:
    return generate("--generator=python:app:upper", *arguments, **more)


def asked() -> list[str]:
    """Return what the application was asked, nothing if it was never imported."""
    return list(getattr(sys.modules.get("app"), "ASKED", []))


# --- what is written --------------------------------------------------------------------


def test_each_row_gets_its_reply(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert upper() == 0

    assert rows_of(folder / "out.jsonl") == [
        {**row, "reply": row["question"].upper()} for row in ROWS
    ]
    captured = capsys.readouterr()
    assert captured.out == "out.jsonl: 3 of 3 rows answered into 'reply'\n"
    assert captured.err == ""


def test_a_row_without_a_reply_stays_empty_and_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate("--generator=fake:fake.jsonl") == 1

    replies = [row["reply"] for row in rows_of(folder / "out.jsonl")]
    assert replies == [SCRIPT[0]["reply"], None, SCRIPT[1]["reply"]]
    captured = capsys.readouterr()
    assert captured.err == "data.jsonl:2: nobody knows\n"
    assert captured.out == "out.jsonl: 2 of 3 rows answered into 'reply'\n"


@pytest.mark.parametrize(
    "suffix", ["jsonl", "ndjson", "json", "csv", "tsv", "yaml", "yml"]
)
@pytest.mark.parametrize("data_suffix", ["jsonl", "csv"])
def test_every_format_holds_the_replies(
    folder: Path, suffix: str, data_suffix: str
) -> None:
    generate("--generator=fake:fake.jsonl", out=f"data2.{data_suffix}", column="first")

    generate(
        "--generator=fake:fake.jsonl", data=f"data2.{data_suffix}", out=f"out.{suffix}"
    )

    cases = load_cases(f"out.{suffix}")
    assert [case.id for case in cases] == ["peru", "oz", "cuba"]
    for name in ("first", "reply"):
        texts = [case.fields.get(name) or None for case in cases]
        assert texts == [SCRIPT[0]["reply"], None, SCRIPT[1]["reply"]]


def test_the_replies_can_be_read_back_as_a_column(folder: Path) -> None:
    upper()

    status = generate(
        "--generator=column:reply", data="out.jsonl", out="copy.jsonl", column="copy"
    )

    assert status == 0
    assert [row["copy"] for row in rows_of(folder / "copy.jsonl")] == [
        row["question"].upper() for row in ROWS
    ]


def test_a_dataset_can_be_answered_into_itself(folder: Path) -> None:
    assert upper(out="data.jsonl") == 0

    assert [list(row) for row in rows_of(folder / "data.jsonl")] == [
        ["id", "question", "expected", "reply"]
    ] * 3


def test_rows_without_ids_stay_without(folder: Path) -> None:
    write_rows(folder / "data.jsonl", [{"question": "a"}, {"question": "b"}])

    upper()

    assert rows_of(folder / "out.jsonl") == [
        {"question": "a", "reply": "A"},
        {"question": "b", "reply": "B"},
    ]


def test_the_files_of_a_glob_go_into_one(folder: Path) -> None:
    (folder / "more").mkdir()
    for name in ("a", "b"):
        write_rows(folder / "more" / f"{name}.jsonl", [{"id": name, "input": name}])

    assert upper(data="more/*.jsonl") == 0

    assert [row["reply"] for row in rows_of(folder / "out.jsonl")] == ["A", "B"]


def test_prompt_and_system_are_templates(folder: Path) -> None:
    (folder / "ask.j2").write_text("{{ question }} ({{ id }})")

    assert upper("--prompt=ask.j2", "--system=Be short, {{ id }}.") == 0

    assert rows_of(folder / "out.jsonl")[0]["reply"] == (
        "SYSTEM: BE SHORT, PERU.\n\nUSER: CAPITAL OF PERU? (PERU)"
    )


def test_the_generator_of_the_file_answers(folder: Path) -> None:
    (folder / "llmeval.yaml").write_text("generator: python:app:upper\n")
    (folder / "other.yaml").write_text("generator: fake:fake.jsonl\n")

    assert generate() == 0
    assert generate("--config=other.yaml", out="other.jsonl") == 1


def test_an_empty_reply_of_a_model_is_none(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(folder / "fake.jsonl", [{"match": "Oz", "reply": " "}, {"reply": "x"}])

    assert generate("--generator=fake:fake.jsonl") == 1

    assert [r["reply"] for r in rows_of(folder / "out.jsonl")] == ["x", None, "x"]
    assert "data.jsonl:2: fake replied with white space only" in capsys.readouterr().err


def test_a_row_that_lacks_what_the_template_uses_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(folder / "data.jsonl", [{"q": "a", "note": "n"}, {"q": "b"}])

    assert upper("--prompt={{ q }} {{ note }}") == 1

    assert [r["reply"] for r in rows_of(folder / "out.jsonl")] == ["A N", None]
    assert "data.jsonl:2: the prompt:1, case '2'" in capsys.readouterr().err


def test_where_nothing_was_answered_nothing_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(folder / "fake.jsonl", [{"error": "down"}])

    assert generate("--generator=fake:fake.jsonl") == 1

    assert not (folder / "out.jsonl").exists()
    assert capsys.readouterr().err.splitlines()[-1] == (
        "no row was answered: out.jsonl is not written"
    )


def test_an_empty_dataset_is_answered(folder: Path) -> None:
    (folder / "data.json").write_text("[]")

    assert upper(data="data.json", out="out.json") == 0

    assert (folder / "out.json").read_text() == "[]\n"


# --- nothing is lost --------------------------------------------------------------------


def test_ctrl_c_keeps_what_was_answered(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "llmeval.yaml").write_text("limits: {concurrency: 1}\n")

    assert generate("--generator=python:app:stopped") == 1

    replies = [row["reply"] for row in rows_of(folder / "out.jsonl")]
    assert replies == ["CAPITAL OF PERU?", None, None]
    captured = capsys.readouterr()
    assert captured.err == "interrupted: 2 rows were not answered\n"
    assert captured.out == "out.jsonl: 1 of 3 rows answered into 'reply'\n"


def test_replies_that_a_format_can_not_hold_go_beside_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate("--generator=python:app:half", out="out.csv") == 1

    assert not (folder / "out.csv").exists()
    first = rows_of(folder / "out.csv.jsonl")[0]
    # Half a character stands as the escape that it is kept as everywhere.
    assert first["reply"] == "half \\ud83d \0 a character"
    captured = capsys.readouterr()
    assert captured.err == ".csv can't hold a reply: see out.csv.jsonl\n"
    assert "out.csv.jsonl: 3 of 3 rows answered" in captured.out


# --- what is refused before anything is asked -------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["data.jsonl", "-o", "out.jsonl", "--column=expected"],
            "data.jsonl has a column 'expected' already: give another --column, or "
            "--force to replace it",
        ),
        (
            ["data.jsonl", "-o", "fake.jsonl", "--column=reply"],
            "'fake.jsonl' is there already: give another --output, or --force to "
            "replace it",
        ),
        (
            ["data.jsonl", "-o", "out.xlsx", "--column=reply"],
            "'out.xlsx' has the suffix '.xlsx', and datasets are read from .jsonl, ",
        ),
        (
            ["data.jsonl", "-o", "out.jsnl", "--column=reply"],
            "'out.jsnl' has the suffix '.jsnl' (did you mean '.jsonl'?)",
        ),
        (
            ["data.jsonl", "-o", "nowhere/out.jsonl", "--column=reply"],
            f"{str(Path('nowhere/out.jsonl'))!r} is to be in a folder that isn't: name a "
            "file in a folder that is there",
        ),
        (
            ["data.jsonl", "-o", ".", "--column=reply"],
            "'.' is a folder: name a file in a folder that is there",
        ),
        (
            ["data.jsonl", "-o", f"{'x' * 300}.jsonl", "--column=reply"],
            "xxx.jsonl' can't be written: ",
        ),
        (
            ["data.jsonl", "-o", "out.csv", "--column", " reply"],
            "out.csv: ' reply' can't be the name of a column in this format",
        ),
        (
            ["nothing.jsonl", "-o", "out.jsonl", "--column=reply"],
            "nothing.jsonl",
        ),
        (
            [
                "data.jsonl",
                "-o",
                "out.jsonl",
                "--column=reply",
                "--prompt={{ qestion }}",
            ],
            "the variable 'qestion' is not there (did you mean 'question'?)",
        ),
        (
            [
                "data.jsonl",
                "-o",
                "out.jsonl",
                "--column=reply",
                "--system={{ qestion }}",
            ],
            "the variable 'qestion' is not there (did you mean 'question'?)",
        ),
        (
            ["data.jsonl", "-o", "out.jsonl", "--column=reply", "--prompt=ask.j2"],
            "ask.j2",
        ),
    ],
)
def test_a_mistake_is_told_before_anything_is_asked(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    before = {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}

    status = main(["generate", *arguments, "--generator=python:app:upper"])

    assert status == 2
    assert message in capsys.readouterr().err
    assert asked() == []
    assert {
        p.name: p.read_bytes() for p in folder.glob("*.*") if p.suffix != ".py"
    } == (before)


def test_values_that_a_format_can_not_hold_are_told_before_anything_is_asked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(folder / "data.jsonl", [{"id": "a", "question": "half \ud83d"}])

    assert upper(out="out.csv") == 2
    assert "holds half a character" in capsys.readouterr().err
    assert asked() == []


def test_without_a_generator_it_says_where_to_name_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert generate() == 2
    assert capsys.readouterr().err == (
        "no generator: give --generator=SPEC, or generator: in llmeval.yaml\n"
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("fakr:x", "there is no model 'fakr:x' (did you mean 'fake:x'?)"),
        ("python:app:lower", "python:app:lower: 'app' has no 'lower'"),
        ("fake:none.jsonl", "fake: can't read the script"),
    ],
)
def test_a_generator_there_is_not_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], spec: str, message: str
) -> None:
    assert generate(f"--generator={spec}") == 2
    assert message in capsys.readouterr().err
    assert not (folder / "out.jsonl").exists()


def test_force_replaces_a_column_and_a_file(folder: Path) -> None:
    (folder / "out.jsonl").write_text("old")

    assert upper("--force", column="expected") == 0

    assert [row["expected"] for row in rows_of(folder / "out.jsonl")] == [
        row["question"].upper() for row in ROWS
    ]


@pytest.mark.parametrize(
    ("column", "meaning"),
    [("answer", "expected"), ("tags", "tags"), ("labels", "labels")],
)
def test_a_column_that_a_dataset_gives_a_meaning_is_noted(
    capsys: pytest.CaptureFixture[str], column: str, meaning: str
) -> None:
    assert upper(column=column) == 0
    assert capsys.readouterr().err == (
        f"note: a column {column!r} is read as the {meaning} of a row\n"
    )


# --- safety -----------------------------------------------------------------------------


@pytest.fixture
def lab(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "sk-lab-0123456789")
    (folder / "llmeval.yaml").write_text(
        "models: {lab: {provider: openai, model: m, api_key_env: LAB_KEY}}\n"
    )


def test_a_key_in_a_reply_is_not_written(folder: Path, lab: None) -> None:
    assert generate("--generator=python:app:key") == 0

    assert "sk-lab" not in (folder / "out.jsonl").read_text()
    assert rows_of(folder / "out.jsonl")[0]["reply"] == "the key is [redacted]"


def test_a_key_in_an_error_is_not_printed(
    lab: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate("--generator=python:app:leaking") == 1

    text = capsys.readouterr().err
    assert "sk-lab" not in text
    assert "app:leaking raised KeyError: '[redacted]'" in text


def test_a_hostile_error_is_inert(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(folder / "fake.jsonl", [{"error": "\x1b[2J\u202e\ud83d"}])

    generate("--generator=fake:fake.jsonl")

    assert capsys.readouterr().err.replace("\n", "").isprintable()


@pytest.mark.parametrize("kind", ["text", "key3_q_a_rejected"])
def test_a_kind_without_answers_is_not_asked(
    folder: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    arguments = ["generate", "data.jsonl", "-o", "out.jsonl", "--column", "reply"]

    assert main([*arguments, "--generator=python:app:upper", f"--kind={kind}"]) == 0
    assert "needs no answer" in capsys.readouterr().out
    assert not (folder / "out.jsonl").exists()


def test_a_kind_brings_its_prompt(folder: Path) -> None:
    arguments = ["generate", "data.jsonl", "-o", "out.jsonl", "--column", "reply"]

    assert main([*arguments, "--generator=python:app:upper", "--kind=qa"]) == 0
    replies = [row["reply"] for row in rows_of(folder / "out.jsonl")]
    assert replies[0].startswith("QUESTION:\nCAPITAL OF PERU?\n\nREPLY WITH THE ANSWER")


def test_a_kind_that_needs_no_answer_is_answered_when_forced(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["generate", "data.jsonl", "-o", "out.jsonl", "--column", "reply"]
    arguments += ["--generator=python:app:upper", "--force"]

    assert main([*arguments, "--kind=preference"]) == 0
    assert len(rows_of(folder / "out.jsonl")) == 3
    assert main([*arguments, "--kind=text"]) != 0
    assert "no question that could be answered" in capsys.readouterr().err


def test_columns_of_a_preset_are_read(folder: Path) -> None:
    write_rows(folder / "flow.jsonl", [{"question": "Why?", "golden_label": "x"}])
    arguments = ["generate", "flow.jsonl", "-o", "out.jsonl", "--column", "reply"]
    arguments += ["--generator=python:app:upper", "--columns=dataflow", "--kind=qa"]

    assert main(arguments) == 0
    assert rows_of(folder / "out.jsonl")[0]["reply"].startswith("QUESTION:\nWHY?\n")

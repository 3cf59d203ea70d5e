"""The command line as a whole: help, unknown commands, exit statuses."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_llmeval.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])

    text = capsys.readouterr().out
    assert caught.value.code == 0
    assert "python -m pytest_llmeval" in text
    for command in ("check", "generate", "model"):
        assert f"\n    {command} " in text


@pytest.mark.parametrize("command", ["check", "generate", "model"])
def test_each_command_has_help(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])

    assert caught.value.code == 0
    assert f"python -m pytest_llmeval {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["chek"], "invalid choice: 'chek'"),
        (["model"], "the following arguments are required: NAME"),
        (["generate", "data.jsonl"], "required: -o/--output, --column"),
        (["check", "--modle"], "unrecognized arguments: --modle"),
    ],
)
def test_a_mistake_in_the_call_ends_with_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)

    assert caught.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [["check"], ["generate", "a", "-o", "b", "--column=c"]]
)
def test_a_config_that_is_not_there_ends_with_2(
    capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert main([*command, "--config=other.yaml"]) == 2
    assert "other.yaml" in capsys.readouterr().err


def test_a_broken_config_ends_with_2(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "llmeval.yaml").write_text("modles: {}\n")

    assert main(["check"]) == 2
    assert "llmeval.yaml:1" in capsys.readouterr().err


def test_an_error_s_text_is_inert(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", "\x1b[31mred"]) == 2

    assert "\x1b" not in capsys.readouterr().err


def test_the_module_runs_as_a_program(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest_llmeval", "check"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )

    assert done.returncode == 2
    assert "there is no model to check" in done.stderr


def test_a_terminal_that_can_not_show_a_reply_breaks_nothing(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    (folder / "fake.jsonl").write_text('{"reply": "\\u2192 OK"}\n')
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)

    assert main(["check", "fake:fake.jsonl"]) == 0

    stream.seek(0)
    assert r"said '\u2192 OK'" in stream.read()

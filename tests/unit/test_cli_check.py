"""check: each model asked once, what would be used, and whether it answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_llmeval.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "ok.jsonl").write_text('{"reply": "OK"}\n')
    (tmp_path / "down.jsonl").write_text('{"error": "the server is down"}\n')
    yield tmp_path
    sys.modules.pop("app", None)


def test_a_model_that_answers(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["check", "fake:ok.jsonl"])

    assert status == 0
    assert (
        capsys.readouterr().out == "ok      fake:ok.jsonl: fake said 'OK', in 0.00 s\n"
    )


def test_a_model_that_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["check", "fake:down.jsonl", "fake:ok.jsonl"])

    assert status == 1
    assert capsys.readouterr().out == (
        "failed  fake:down.jsonl\n"
        "        the server is down\n"
        "ok      fake:ok.jsonl: fake said 'OK', in 0.00 s\n"
    )


def test_all_of_the_file_with_their_roles(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "llmeval.yaml").write_text(
        """
generator: app
judge: fake:down.jsonl
models:
  app: {provider: fake, model: ok.jsonl}
  spare: {provider: fake, model: ok.jsonl}
  old: {provider: column, model: reply}
  both: {panel: [app, spare]}
"""
    )

    status = main(["check"])

    assert status == 1
    assert capsys.readouterr().out.splitlines() == [
        "ok      app (generator): fake:ok.jsonl, fake said 'OK', in 0.00 s",
        "ok      spare: fake:ok.jsonl, fake said 'OK', in 0.00 s",
        "ok      old: the column 'reply' of a dataset, nothing to ask",
        "failed  fake:down.jsonl (judge)",
        "        the server is down",
    ]


def test_a_panel_is_asked_by_its_judges(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "other.yaml").write_text(
        """
models:
  one: {provider: fake, model: ok.jsonl}
  two: {provider: fake, model: ok.jsonl}
  both: {panel: [one, two]}
"""
    )

    assert main(["check", "both", "one", "--config", "other.yaml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["ok      one", "ok      two"]


def test_nothing_to_check_is_a_mistake_in_the_call(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check"]) == 2
    assert capsys.readouterr().err == (
        "there is no model to check: name one (openai:MODEL), or write llmeval.yaml "
        "with models: in this folder\n"
    )


def test_a_typo_is_told_before_anything_is_asked(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "llmeval.yaml").write_text(
        "models: {grader: {provider: fake, model: ok.jsonl}}\n"
    )

    assert main(["check", "grader", "gradr"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "there is no model 'gradr' (did you mean 'grader'?)" in captured.err


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (
            "def answer(prompt): return 'OK'",
            "ok      app: python:app:answer, it said",
        ),
        (
            "async def answer(prompt): return 'OK'",
            "ok      app: python:app:answer, it said",
        ),
        (
            "def answer(prompt): raise KeyError('x')",
            "failed  app\n        app raised Key",
        ),
        ("def answer(prompt): return 7", "failed  app\n        app returned 7"),
        (
            "def reply(prompt): return 'OK'",
            "failed  app\n        python:app:answer: 'app'",
        ),
        (
            "import nowhere",
            "failed  app\n        python:app:answer: importing 'app' raised",
        ),
    ],
)
def test_an_application(
    capsys: pytest.CaptureFixture[str],
    folder: Path,
    source: str,
    line: str,
) -> None:
    (folder / "app.py").write_text(source)
    (folder / "llmeval.yaml").write_text(
        "models: {app: {provider: python, model: 'app:answer'}}\n"
    )

    status = main(["check"])

    assert capsys.readouterr().out.startswith(line)
    assert status == (0 if line.startswith("ok") else 1)


def test_an_application_that_takes_cases_gets_one(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "app.py").write_text("def answer(case): return case['input'][:6]")
    (folder / "llmeval.yaml").write_text(
        "models: {app: {provider: python, model: 'app:answer', pass: case}}\n"
    )

    assert main(["check"]) == 0
    assert "said 'Answer'" in capsys.readouterr().out


def test_the_tokens_are_shown_where_they_are_known(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "app.py").write_text(
        "from pytest_llmeval.types import Response, Usage\n"
        "def answer(prompt):\n"
        "    usage = Usage(input_tokens=10, output_tokens=2)\n"
        "    return Response(text='OK', model='m', usage=usage, latency_seconds=0.25)\n"
    )

    assert main(["check", "python:app:answer"]) == 0
    assert capsys.readouterr().out == (
        "ok      python:app:answer: m said 'OK', in 0.25 s, 12 tokens\n"
    )


def test_an_empty_reply_is_no_answer(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "empty.jsonl").write_text('{"reply": ""}\n')

    assert main(["check", "fake:empty.jsonl"]) == 1
    assert "fake replied with an empty text" in capsys.readouterr().out


def test_a_hostile_reply_is_inert_and_short(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "evil.jsonl").write_text('{"reply": "\\u001b[2J' + "x" * 100_000 + '"}\n')
    (folder / "bad.jsonl").write_text('{"error": "\\u001b[2J\\u202e\\ud83d"}\n')

    main(["check", "fake:evil.jsonl", "fake:bad.jsonl"])

    text = capsys.readouterr().out
    assert text.replace("\n", "").isprintable()
    assert len(text) < 250


def test_a_model_without_its_key_is_told_and_shows_no_other(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "llmeval.yaml").write_text(
        "models:\n"
        "  lab: {provider: openai, model: m, api_key_env: LAB_KEY}\n"
        "  app: {provider: python, model: 'app:answer'}\n"
        "  own: {provider: openai, model: m, api_key_env: OWN_KEY}\n"
    )
    (folder / "app.py").write_text(
        "import os\ndef answer(prompt): return os.environ['OWN_KEY']"
    )
    monkeypatch.delenv("LAB_KEY", raising=False)
    monkeypatch.setenv("OWN_KEY", "sk-own-0123456789")

    assert main(["check", "lab", "app"]) == 1

    text = capsys.readouterr().out
    assert "LAB_KEY" in text
    assert "said '[redacted]'" in text
    assert "sk-own" not in text

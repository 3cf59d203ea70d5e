from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import UnscoredError, UserError
from pytest_llmeval.store.answers import Answer, Answers, answers_text
from pytest_llmeval.types import Prompt, Response, Usage

PROMPT = Prompt.of("Capital of Peru?")
REQUEST = {"model": "m", "messages": PROMPT.to_json(), "params": {}}


def answer(text: str = "Lima", sample: int = 0, **request: Any) -> Answer:
    reply = Response(text=text, usage=Usage(input_tokens=3))
    return Answer.of({**REQUEST, **request}, sample, reply, None)


def written(folder: Path, *answers: Answer) -> Path:
    path = folder / "answers.jsonl"
    path.write_text(answers_text(one.to_json() for one in answers), "utf-8")
    return path


def given(answers: Answers, wanted: Answer) -> str:
    found = answers.find(wanted.key)
    assert found is not None
    return found.given(PROMPT).text


def test_a_reply_comes_back_as_it_was(tmp_path: Path) -> None:
    hostile = "\x1b[31m\u202e\u2028\ud800 </script>"

    path = written(tmp_path, answer(hostile))

    reply = Answers.read(path).find(answer().key)
    assert reply is not None
    found = reply.given(PROMPT)
    assert found.text == "\x1b[31m\u202e\u2028\\ud800 </script>"
    assert (found.usage, found.origin) == (Usage(input_tokens=3), "recording")
    assert path.read_bytes().isascii()
    assert b"\x1b" not in path.read_bytes()


def test_an_error_comes_back_as_it_was(tmp_path: Path) -> None:
    problem = UnscoredError("the server failed", cause="provider")
    failed = Answer.of(REQUEST, 0, None, problem)

    found = Answers.read(written(tmp_path, failed)).find(failed.key)

    assert found is not None
    with pytest.raises(UnscoredError, match="the server failed") as caught:
        found.given(PROMPT)
    assert caught.value.cause == "provider"


def test_a_reply_that_was_cut_is_a_reply(tmp_path: Path) -> None:
    cut = Answer.of(REQUEST, 0, Response(text="Li"), UnscoredError("cut", cause="cut"))

    assert given(Answers.read(written(tmp_path, cut)), cut) == "Li"


def test_a_question_asked_again_is_answered_in_turn() -> None:
    answers = Answers([answer("one"), answer("two"), answer("other", sample=1)])

    assert [given(answers, answer()) for _ in range(3)] == ["one", "two", "two"]
    assert given(answers, answer(sample=1)) == "other"
    assert answers.find(answer(model="another").key) is None


def test_what_differs_from_the_nearest_question_is_told() -> None:
    answers = Answers([answer(model="far", other=1), answer()])

    assert answers.difference({**REQUEST, "model": "n"}) == [
        "model: recorded 'm', asked 'n'"
    ]
    assert Answers([]).difference(REQUEST) == []


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "{}",
        json.dumps({"request": {}, "sample": 0}),
        json.dumps({"request": [1], "sample": 0, "error": "x"}),
        json.dumps({"request": {}, "sample": 0, "response": {"text": 7}}),
        json.dumps({"request": {}, "sample": 0, "response": {"text": "", "x": 1}}),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str) -> None:
    path = written(tmp_path, answer())
    path.write_text(f"{path.read_text('utf-8')}{line}\n", "utf-8")

    with pytest.raises(UserError, match=r"answers\.jsonl:2: no answer of a failure"):
        Answers.read(path)


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"can't read .*gone"):
        Answers.read(tmp_path / "gone")

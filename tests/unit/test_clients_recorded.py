"""Recordings in front of a model, without pytest and without a wire."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.clients import Request
from pytest_llmeval.clients.recorded import RecordedBackend
from pytest_llmeval.clients.shelf import Shelf
from pytest_llmeval.errors import UnscoredError
from pytest_llmeval.recorder import CaseRun, SampleRun, begin, end
from pytest_llmeval.types import Case, Mode, Prompt, Response

KEY = "sk-test-0123456789"


class Counting:
    """A model whose every reply is another one."""

    name = "counting"
    sends_prompt = True

    def __init__(self) -> None:
        self.asked = 0

    def identity(self, request: Request) -> dict[str, Any]:
        return {"model": "m", "messages": request.prompt.to_json()}

    async def answer(self, request: Request) -> Response:
        self.asked += 1
        text = f"reply {self.asked}"
        await asyncio.sleep(0)
        return Response(text=text, provider="counting")

    async def close(self) -> None:
        self.asked = -1


@pytest.fixture
def model() -> Counting:
    return Counting()


@pytest.fixture
def sample() -> Iterator[SampleRun]:
    yield running("tests/test_a.py::test_a[x]")
    end()


def running(nodeid: str, rerun: str = "") -> SampleRun:
    run = CaseRun(nodeid=nodeid, test="test_a", case=Case(id="x"), rerun=rerun)
    found = SampleRun(run)
    begin(found)
    return found


def recorded(model: Counting, root: Path, mode: Mode, **rest: Any) -> RecordedBackend:
    return RecordedBackend(inner=model, shelf=Shelf(root), mode=mode, **rest)


def ask(backend: RecordedBackend, *texts: str) -> list[str]:
    async def answers() -> list[Response]:
        requests = (Request(prompt=Prompt.of(text)) for text in texts)
        return await asyncio.gather(*map(backend.answer, requests))

    return [response.text for response in asyncio.run(answers())]


@pytest.mark.parametrize("mode", ["record", "rerecord"])
@pytest.mark.parametrize("is_stable", [True, False])
def test_the_same_question_has_one_reply_in_a_recording_run(
    model: Counting, tmp_path: Path, sample: SampleRun, mode: Mode, is_stable: bool
) -> None:
    backend = recorded(model, tmp_path, mode, is_stable=is_stable)

    first = ask(backend, "hi", "hi")
    later = ask(backend, "hi", "other")

    assert first == [first[0]] * 2
    assert later[0] == first[0] != later[1]
    texts = [kept["entry"]["response"]["text"] for kept in sample.recordings]
    assert set(texts) == {first[0], later[1]}


def test_auto_asks_each_time_and_keeps_nothing(
    model: Counting, tmp_path: Path, sample: SampleRun
) -> None:
    replies = ask(recorded(model, tmp_path, "auto"), "hi", "hi")

    assert replies == ["reply 1", "reply 2"]
    assert sample.recordings == []


def test_what_is_asked_outside_of_a_case_is_kept_apart(
    model: Counting, tmp_path: Path
) -> None:
    backend = recorded(model, tmp_path, "record")

    ask(backend, "hi")

    assert [e["entry"]["response"]["text"] for e in backend.shelf.outside] == [
        "reply 1"
    ]


def test_a_suite_outside_of_the_root_directory_has_its_recordings_beside_it(
    model: Counting, tmp_path: Path
) -> None:
    running("../other/test_b.py::test_b")
    root = tmp_path / "root"
    try:
        with pytest.raises(UnscoredError) as caught:
            ask(recorded(model, root, "replay"), "hi")
    finally:
        end()

    assert "other/llmeval_recordings/test_b.jsonl does not exist" in str(caught.value)


@pytest.mark.parametrize(
    "rerun",
    ["pytest a.py --llmeval-mode=replay", "pytest a.py --llmeval-mode replay", ""],
)
def test_the_command_of_a_miss_has_one_mode(
    model: Counting, tmp_path: Path, rerun: str
) -> None:
    running("a.py::test_a", rerun)
    try:
        with pytest.raises(UnscoredError) as caught:
            ask(recorded(model, tmp_path, "replay"), "hi")
    finally:
        end()

    assert caught.value.cause == "recording"
    assert str(caught.value).count("--llmeval-mode") == 1
    assert str(caught.value).endswith(" --llmeval-mode=record")


def test_a_miss_shows_no_more_parts_than_one_reads(
    model: Counting, tmp_path: Path, sample: SampleRun
) -> None:
    shelf = Shelf(tmp_path)
    request = {"case": {f"column {n}": 0 for n in range(30)}}
    entry = {"request": request, "sample": 0, "response": {"text": "x"}}
    path = shelf.path()
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(entry), encoding="utf-8")

    text = shelf.miss({"case": {f"column {n}": 1 for n in range(30)}})

    assert "  case.column 0: recorded 0, asked 1\n" in text
    assert "  and 18 parts more\n" in text


def test_a_secret_that_is_set_late_is_hidden_and_stays_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = Shelf(tmp_path)
    shelf.hide(lambda: [os.environ.get("LAB_KEY", "")])
    assert shelf.redactor.is_idle

    monkeypatch.setenv("LAB_KEY", KEY)
    assert shelf.redactor.text(KEY) == "[redacted]"
    monkeypatch.delenv("LAB_KEY")
    assert shelf.redactor.text(KEY) == "[redacted]"


def test_a_secret_that_changes_is_hidden_in_both_forms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = Shelf(tmp_path)
    shelf.hide(lambda: [os.environ.get("LAB_KEY", "")])
    monkeypatch.setenv("LAB_KEY", KEY)
    assert shelf.redactor.text(KEY) == "[redacted]"

    monkeypatch.setenv("LAB_KEY", f"{KEY}-new")

    assert shelf.redactor.text(f"{KEY}-new {KEY}") == "[redacted] [redacted]"


def test_secrets_are_asked_for_again_only_when_a_variable_was_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def secrets() -> list[str]:
        asked.append(1)
        return [KEY]

    shelf = Shelf(tmp_path)
    shelf.hide(secrets)
    for phase in ("setup", "call", "teardown"):
        monkeypatch.setenv("PYTEST_CURRENT_TEST", phase)
        assert shelf.redactor.text(KEY) == "[redacted]"
    assert len(asked) == 1

    monkeypatch.setenv("LAB_KEY", "another")
    assert shelf.redactor.text(KEY) == "[redacted]"
    assert len(asked) == 2


def test_a_secret_of_a_later_model_is_hidden(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    assert shelf.redactor.text(KEY) == KEY

    shelf.hide(lambda: [KEY])

    assert shelf.redactor.text(KEY) == "[redacted]"


def test_names_and_ends_are_those_of_the_model(model: Counting, tmp_path: Path) -> None:
    backend = recorded(model, tmp_path, "auto")
    request = Request(prompt=Prompt.of("hi"))

    asyncio.run(backend.close())

    assert (backend.name, backend.sends_prompt, model.asked) == ("counting", True, -1)
    assert backend.identity(request) == model.identity(request)

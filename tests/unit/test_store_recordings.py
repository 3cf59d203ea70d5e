"""Recordings: sorted files that lose nothing, and what differs from the nearest."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import UserError
from pytest_llmeval.store.difference import difference
from pytest_llmeval.store.recordings import (
    Change,
    Entry,
    Recordings,
    recording_path,
)
from pytest_llmeval.types import Prompt, Response, Usage


def asked(text: str = "hi", **rest: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    return {"provider": "openai", "model": "m", "messages": messages, **rest}


def entry(text: str = "hi", reply: str = "fine", sample: int = 0) -> Entry:
    return Entry.of(asked(text), sample, Response(text=reply, provider="openai"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return recording_path(tmp_path, "test_a")


def write(path: Path, *entries: Entry, only_these: bool = False) -> Change | None:
    return Recordings.read(path).write(entries, only_these=only_these)


# --- an entry ------------------------------------------------------------------------


def test_a_reply_comes_back_whole() -> None:
    response = Response(
        text="Ünï 🎉\n\u2028",
        model="m-1",
        provider="openai",
        finish_reason="stop",
        usage=Usage(input_tokens=9, output_tokens=5, reasoning_tokens=2),
        cost=0.0,
        sources=("a", "b"),
        tool_calls=({"id": "t"},),
        refusal="no",
        reasoning="hm",
        logprobs={"content": []},
    )
    kept = Entry.of(asked(), 0, response)

    back = Entry.from_json(json.loads(json.dumps(kept.to_json())))
    replayed = back.replayed(Prompt.of("hi"))

    assert replayed.to_json() == {**response.to_json(), "origin": "recording"}
    assert replayed.logprobs == response.logprobs
    assert replayed.messages == Prompt.of("hi").messages


def test_what_is_of_the_moment_is_not_kept() -> None:
    response = Response(
        text="x",
        latency_seconds=1.5,
        usage=Usage(input_tokens=9, cached_tokens=4),
        raw={"id": "c1"},
    )

    kept = Entry.of(asked(), 0, response).response

    assert kept == {"text": "x", "provider": "", "usage": {"input_tokens": 9}}


def test_an_empty_text_is_a_reply() -> None:
    kept = Entry.of(asked(), 0, Response(text=""))

    assert kept.replayed(Prompt.of("hi")).text == ""


def test_a_lone_surrogate_is_kept_as_its_escape(path: Path) -> None:
    write(path, entry("\ud800", "\udfff"))

    kept = next(iter(Recordings.read(path).entries.values()))
    assert kept.replayed(Prompt.of("x")).text == "\\udfff"
    assert kept.key == entry("\ud800").key


# --- the file ------------------------------------------------------------------------


def test_a_file_that_is_not_there_is_empty(path: Path) -> None:
    assert Recordings.read(path).entries == {}


def test_entries_are_sorted_by_request_and_sample(path: Path) -> None:
    write(path, entry("b", sample=10), entry("b", sample=9), entry("a"))

    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [(e["request"]["messages"][0]["content"], e["sample"]) for e in lines] == [
        ("a", 0),
        ("b", 9),
        ("b", 10),
    ]


def test_writing_the_same_again_changes_not_a_byte(path: Path) -> None:
    first = write(path, entry("a"), entry("é"))
    before = path.read_bytes()

    second = write(path, entry("é"), entry("a"))

    assert first == Change(new=2, changed=0, dropped=0)
    assert second is None
    assert path.read_bytes() == before
    assert "é".encode() in before


def test_other_entries_stay(path: Path) -> None:
    write(path, entry("a"), entry("b"))
    write(path, entry("c"), entry("b", "new"))

    replies = {
        e.request["messages"][0]["content"]: e.response["text"]
        for e in Recordings.read(path).entries.values()
    }
    assert replies == {"a": "fine", "b": "new", "c": "fine"}


def test_a_file_can_be_left_with_what_was_used(path: Path) -> None:
    write(path, entry("a"), entry("b"))
    write(path, entry("b"), only_these=True)

    assert list(Recordings.read(path).entries) == [entry("b").key]


def test_nothing_to_write_makes_no_file(path: Path) -> None:
    assert write(path) is None
    assert not path.parent.exists()


def test_a_changed_prompt_is_a_diff_of_a_line(path: Path) -> None:
    write(path, *(entry(f"question {n}") for n in range(5)))
    before = path.read_text("utf-8").splitlines()
    write(
        path,
        *(entry(f"question {n}") for n in (0, 1, 3, 4)),
        entry("question 2, please"),
        only_these=True,
    )

    after = path.read_text("utf-8").splitlines()
    assert len(set(before) - set(after)) == len(set(after) - set(before)) == 1


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_that_can_not_be_written_to_is_told_and_left_clean(path: Path) -> None:
    write(path, entry("a"))
    path.parent.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            write(path, entry("b"))
    finally:
        path.parent.chmod(0o700)
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_can_not_be_replaced_leaves_no_parts(path: Path) -> None:
    path.mkdir(parents=True)

    with pytest.raises(OSError, match="directory"):
        write(path, entry("a"))

    assert list(path.parent.iterdir()) == [path]


def test_lines_of_an_editor_are_read(path: Path) -> None:
    write(path, entry("a"))
    data = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf\n" + data.replace(b"\n", b"\r\n") + b"\n  \n")

    assert list(Recordings.read(path).entries) == [entry("a").key]


def test_the_key_is_that_of_the_request_whatever_the_line_says(path: Path) -> None:
    write(path, entry("a"))
    edited = path.read_text("utf-8").replace('"content": "a"', '"content": "b"')
    path.write_text(edited, encoding="utf-8")

    assert list(Recordings.read(path).entries) == [entry("b").key]


GOOD = entry().to_json()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "Expecting property name"),
        ("[]", "list indices"),
        ("7", "not subscriptable"),
        ("<<<<<<< HEAD", "the mark of a merge conflict"),
        ("=======", "the mark of a merge conflict"),
        (json.dumps({**GOOD, "request": None}), "request is None"),
        (json.dumps({**GOOD, "sample": "0"}), "sample is '0'"),
        (json.dumps({**GOOD, "response": []}), "response is []"),
        (json.dumps({**GOOD, "response": {}}), "it has no 'text'"),
        (json.dumps({**GOOD, "response": {"text": 3}}), "text is 3"),
        (json.dumps({**GOOD, "response": {"text": "a", "mood": 1}}), "'mood'"),
        (json.dumps({"request": {}, "sample": 0}), "it has no 'response'"),
        (json.dumps(GOOD)[:-9], "Unterminated string"),
        ('{"a": NaN}', "NaN is no JSON number"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_a_broken_line_is_named_and_the_file_left_as_it_is(
    path: Path, line: str, reason: str
) -> None:
    write(path, entry("a"))
    path.write_bytes(path.read_bytes() + line.encode() + b"\n")
    before = path.read_bytes()

    with pytest.raises(UserError) as caught:
        write(path, entry("b"))

    text = str(caught.value)
    assert text.startswith("llmeval_recordings/test_a.jsonl:2: no recording (")
    assert reason in text
    assert "restore the file from version control, or delete the line" in text
    assert path.read_bytes() == before


def test_a_line_that_is_not_utf_8_is_named(path: Path) -> None:
    write(path, entry("a"))
    path.write_bytes(path.read_bytes() + b'{"a": "\xe9"}\n')

    with pytest.raises(
        UserError, match=r"test_a.jsonl:2: no recording \('utf-8' codec"
    ):
        Recordings.read(path)


# --- what differs --------------------------------------------------------------------


def differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return list(difference(one, other))


def test_the_differing_part_of_a_prompt_is_shown_with_a_little_around() -> None:
    text = "Some instructions first. List {} rivers. Then some more text follows here."

    lines = differing(asked(text.format(4)), asked(text.format(3)))

    assert lines == [
        "user message 1: recorded '…uctions first. List 3 rivers. Then some m…', "
        "asked '…uctions first. List 4 rivers. Then some m…'"
    ]


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        (asked(model="m2", params={"t": 0}), "model: recorded 'm', asked 'm2'"),
        (asked(params={"t": 1}), "params.t: recorded 0, asked 1"),
        (asked(params={}), "params.t: recorded 0, asked nothing"),
        (asked(params={"t": 0, "s": [1]}), "params.s: recorded nothing, asked [1]"),
    ],
)
def test_the_differing_parameter_is_shown(wanted: dict[str, Any], line: str) -> None:
    assert differing(wanted, asked(params={"t": 0})) == [line]


def test_a_message_more_is_shown() -> None:
    wanted = asked()
    wanted["messages"].append({"role": "assistant", "content": "yes?"})

    assert differing(wanted, asked()) == [
        'assistant message 2: recorded nothing, asked "yes?"'
    ]


def test_the_differing_field_of_a_case_is_shown() -> None:
    fields = {f"column {n}": "x" * 100 for n in range(5)}

    lines = differing(
        asked(case={**fields, "column 4": "y"}), asked(case={**fields, "column 4": "z"})
    )

    assert lines == ["case.column 4: recorded 'z', asked 'y'"]


def test_another_key_of_a_message_is_shown() -> None:
    wanted = asked()
    wanted["messages"][0]["name"] = "ann"

    assert differing(wanted, asked()) == [
        'user message 1.name: recorded nothing, asked "ann"'
    ]


def test_the_same_request_differs_in_nothing() -> None:
    assert (
        differing(asked(params={"a": 1.0, "b": 2}), asked(params={"b": 2, "a": 1}))
        == []
    )


def test_the_nearest_entry_is_the_one_with_most_in_common(path: Path) -> None:
    write(path, entry("List 3 rivers."), entry("Name a city."), entry("Why?"))

    found = Recordings.read(path).nearest(asked("List 4 rivers."))

    assert found is not None
    assert found.request["messages"][0]["content"] == "List 3 rivers."


def test_an_empty_file_has_no_nearest_entry(path: Path) -> None:
    assert Recordings.read(path).nearest(asked()) is None


def test_a_large_suite_whose_prompts_all_changed_is_told_in_seconds(path: Path) -> None:
    template = "Answer in one word. " * 100
    write(path, *(entry(f"{template}Question {n}?") for n in range(300)))
    recordings = Recordings.read(path)

    started = time.process_time()
    found = [
        recordings.nearest(asked(f"{template}Now question {n}?")) for n in range(300)
    ]

    assert time.process_time() - started < 10
    assert found[299] is not None
    assert found[299].request["messages"][0]["content"].endswith("Question 299?")


def test_a_megabyte_that_differs_is_shown_short() -> None:
    lines = differing(asked("a" * 10**6), asked("b" * 10**6))

    assert len(lines[0]) < 500

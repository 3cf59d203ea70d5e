"""Replies of OpenAI's interface that come in pieces: read whole, or not at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.clients import Request
from pytest_llmeval.clients._stream import BrokenStreamError, joined
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.types import Prompt

if TYPE_CHECKING:
    from tests.wire.conftest import FaultServer, Lab

EVENTS = (("content-type", "text/event-stream; charset=utf-8"),)


def piece(delta: Any = None, *, finish: Any = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish, **more}
    return {"object": "chat.completion.chunk", "model": "m-test", "choices": [choice]}


def stream(*pieces: Any, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(one)}\n\n" for one in pieces]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


USAGE = {
    "choices": [],
    "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
}
WHOLE = (
    piece({"role": "assistant", "content": None}),
    piece({"content": "Good "}),
    piece({"content": "day ✓"}),
    piece(finish="stop"),
    USAGE,
)


# --- over the wire -------------------------------------------------------------------


def test_a_stream_is_read_whole_where_the_entry_says_so(
    lab: Lab, server: FaultServer
) -> None:
    server.always(stream(*WHOLE), headers=EVENTS)

    found = lab.ask("hi", stream=True, params={"temperature": 0})

    assert (found.text, found.finish_reason, found.model) == (
        "Good day ✓",
        "stop",
        "m-test",
    )
    assert found.usage is not None
    assert (found.usage.input_tokens, found.usage.output_tokens) == (9, 2)
    assert found.latency_seconds is not None
    assert server.seen[0].data == {
        "model": "m-test",
        "messages": [{"role": "user", "content": "hi"}],
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_a_server_that_can_not_count_is_not_asked_to(
    lab: Lab, server: FaultServer
) -> None:
    server.always(stream(*WHOLE[:-1]), headers=EVENTS)

    found = lab.ask("hi", stream=True, omit=["stream_options"])

    assert (found.text, found.usage) == ("Good day ✓", None)
    assert "stream_options" not in server.seen[0].data


def test_whether_it_streams_does_not_change_the_key(lab: Lab) -> None:
    request = Request(prompt=Prompt.of("hi"))

    assert lab.backend(stream=True).identity(request) == (
        lab.backend().identity(request)
    )


def test_a_server_that_does_not_stream_is_as_good(lab: Lab) -> None:
    assert lab.ask("hi", stream=True).text == "fine"


def test_a_plain_completion_streams_too(lab: Lab, server: FaultServer) -> None:
    pieces = [
        {"choices": [{"index": 0, "text": text, "finish_reason": end}]}
        for text, end in (("Good ", None), ("day", None), ("", "length"))
    ]
    server.always(stream(*pieces), headers=EVENTS)

    found = lab.ask("hi", api="completions", stream=True)

    assert (found.text, found.finish_reason) == ("Good day", "length")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (stream(*WHOLE[:3]), "the stream broke off: none of its 3 pieces says why the "
         "model stopped; it ends 'Good day ✓'"),
        (stream(*WHOLE[:3], done=False), "the stream broke off: none of its 3 pieces"),
        (stream(WHOLE[0]), "none of its 1 pieces says why the model stopped; nothing of it"),
        (stream(*WHOLE)[:-100][:150], "a piece of the stream is no JSON object: '{"),
        (stream(), "the stream has no pieces"),
        (b"", "the stream has no pieces"),
        (b"data: 3\n\n", "no JSON object: '3'"),
        (b"data: \xff\n\n", "the stream is not UTF-8 (invalid start byte at byte 6)"),
    ],
)  # fmt: skip
def test_a_cut_stream_is_no_reply(
    lab: Lab, server: FaultServer, body: bytes, said: str
) -> None:
    server.always(body, headers=EVENTS)

    error = lab.error("hi", stream=True)

    assert error.reason.startswith("openai:m-test: ")
    assert said in error.reason
    assert error.is_transient  # another time it may come whole


def test_a_connection_that_dies_in_the_middle_is_no_reply(
    lab: Lab, server: FaultServer
) -> None:
    server.always(stream(*WHOLE), headers=EVENTS, cut_at=300)

    error = lab.error("hi", stream=True)

    assert "the reply broke off" in error.reason
    assert error.is_transient


@pytest.mark.parametrize(
    "event",
    [
        'data: {"error": {"message": "Overloaded", "code": 529}}\n\n',
        'event: error\ndata: {"message": "Overloaded", "code": 529}\n\n',
    ],
)
def test_an_error_in_the_middle_is_told(
    lab: Lab, server: FaultServer, event: str
) -> None:
    server.always(stream(*WHOLE[:3], done=False) + event.encode(), headers=EVENTS)

    error = lab.error("hi", stream=True)

    assert "the server failed (529): Overloaded" in error.reason
    assert error.is_transient


def test_a_refusal_before_the_stream_is_told(lab: Lab, server: FaultServer) -> None:
    server.always({"error": {"message": "no streams here"}}, status=400)

    assert "(400): no streams here" in lab.error("hi", stream=True).reason


def test_params_can_not_ask_for_a_stream(lab: Lab) -> None:
    with pytest.raises(ConfigError, match="stream: true in the entry"):
        lab.backend(params={"stream": True})


def test_a_key_in_a_broken_piece_is_not_shown(
    lab: Lab, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "sk-very-secret-1")
    server.always(b"data: sk-very-secret-1\n\n", headers=EVENTS)

    error = lab.error("hi", stream=True, api_key_env="LAB_KEY")

    assert "sk-very" not in str(error)


def test_the_real_server_streams_what_it_says_at_once(
    lab: Lab, real: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REAL_KEY", real.key)
    entry = {"base_url": real.base_url, "model": "smollm2", "api_key_env": "REAL_KEY"}
    params = {"temperature": 0, "max_tokens": 12, "logprobs": True, "top_logprobs": 2}

    for api in ("chat", "completions"):
        sent = params if api == "chat" else {**params, "logprobs": 2}
        once = lab.ask("Say hello.", params=sent, api=api, **entry)
        streamed = lab.ask("Say hello.", params=sent, api=api, stream=True, **entry)

        assert streamed.text == once.text
        assert streamed.finish_reason == once.finish_reason
        assert streamed.usage is not None
        assert once.usage is not None
        assert streamed.usage.input_tokens == once.usage.input_tokens
        assert streamed.usage.output_tokens == once.usage.output_tokens
        assert values(streamed) == pytest.approx(values(once), abs=1e-3)
        assert len(values(once)) == once.usage.output_tokens


def values(response: Any) -> list[float]:
    return [token["logprob"] for token in response.logprobs["content"]]


# --- pieces made whole ---------------------------------------------------------------


def message(*deltas: Any) -> Any:
    whole = joined(stream(*map(piece, deltas), piece(finish="stop")))
    return whole["choices"][0]["message"]


def test_texts_of_every_kind_grow() -> None:
    assert message(
        {"role": "assistant", "reasoning_content": "I "},
        {"reasoning_content": "see.", "refusal": None},
        {"content": "A"},
        {"content": "", "refusal": "N"},
        {"content": "B", "refusal": "o"},
    ) == {
        "role": "assistant",
        "reasoning_content": "I see.",
        "content": "AB",
        "refusal": "No",
    }


def test_parts_of_contents_follow_each_other() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}

    assert message({"content": [thought]}, {"content": "A"}) == {
        "content": [thought, "A"]
    }


def call(index: Any, id_: Any = None, name: Any = None, arguments: Any = None) -> Any:
    part = {"id": id_, "function": {"name": name, "arguments": arguments}}
    return {"tool_calls": [part if index is None else {"index": index, **part}]}


def calls(*deltas: Any) -> list[Any]:
    return [
        (one["id"], one["function"]["name"], one["function"]["arguments"])
        for one in message(*deltas)["tool_calls"]
    ]


def test_tool_calls_grow_by_their_index() -> None:
    assert calls(
        call(0, "a", "sun", ""),
        call(1, "b", "rain", '{"at"'),
        call(0, arguments='{"in": '),
        call(1, arguments=": 3}"),
        call(0, arguments='"Lima"}'),
    ) == [("a", "sun", '{"in": "Lima"}'), ("b", "rain", '{"at": 3}')]


def test_calls_that_all_have_the_same_index_are_told_apart_by_id() -> None:
    assert calls(call(0, "a", "sun", "{}"), call(0, "b", "rain", "{}")) == [
        ("a", "sun", "{}"),
        ("b", "rain", "{}"),
    ]


def test_calls_without_an_index_are_whole() -> None:
    assert calls(call(None, "a", "sun", "{}"), call(None, "b", "sun", "{}")) == [
        ("a", "sun", "{}"),
        ("b", "sun", "{}"),
    ]


def test_an_old_function_call_grows() -> None:
    parts = ({"name": "sun", "arguments": '{"a"'}, {"arguments": ": 1}"})

    assert message(*({"function_call": part} for part in parts)) == {
        "function_call": {"name": "sun", "arguments": '{"a": 1}'}
    }


def test_the_other_choices_are_left_out() -> None:
    other = piece({"content": "B"})
    other["choices"][0]["index"] = 1

    whole = joined(stream(piece({"content": "A"}), other, piece(finish="stop")))

    assert [c["message"]["content"] for c in whole["choices"]] == ["A"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_they_like(end: str) -> None:
    text = stream(*WHOLE).decode().replace("\n", end)
    text = f": a comment{end}{end}id: 1{end}retry: 5{end}{text}"

    assert joined(text.encode())["choices"][0]["message"]["content"] == "Good day ✓"


def test_data_may_stand_on_several_lines_and_without_a_blank() -> None:
    text = 'data:{"choices": [{"delta": {"content": "A"},\ndata: "finish_reason": "stop"}]}'

    assert joined(text.encode())["choices"][0]["message"]["content"] == "A"


def test_what_comes_after_done_is_nothing() -> None:
    assert joined(stream(*WHOLE) + b"data: oops\n\n")["model"] == "m-test"


def test_a_broken_stream_is_an_exception_of_its_own() -> None:
    with pytest.raises(BrokenStreamError, match="it ends 'A'"):
        joined(stream(piece({"content": "A"})))

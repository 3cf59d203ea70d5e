"""The façades: from a case to a prompt to a reply, and from a reply to a verdict."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval import (
    Case,
    ConfigError,
    Message,
    Pairwise,
    Prompt,
    Response,
    UnscoredError,
    Verdict,
)
from pytest_llmeval.clients import Backend, Clients, Request
from pytest_llmeval.clients.callable import CallableBackend
from pytest_llmeval.clients.column import ColumnBackend
from pytest_llmeval.clients.fake import FakeBackend, Line
from pytest_llmeval.config import Config
from pytest_llmeval.evaluate import Generator, Judge, as_judge
from pytest_llmeval.loop import BlockingCallError, LoopThread
from pytest_llmeval.prompts import Template
from pytest_llmeval.recorder import CaseRun, Plan, SampleRun, begin, end

CASE = Case(id="peru", input="Peru?", expected="Lima", fields={"country": "Peru"})
PLAN = Plan(
    prompt=Template.of("The capital of {{ country }}?"),
    system=Template.of("Be short about {{ country }}."),
)


@pytest.fixture(scope="module")
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


@pytest.fixture
def running() -> Iterator[SampleRun]:
    run = CaseRun(nodeid="t.py::t[peru]", test="t.py::t", case=CASE, plan=PLAN)
    sample = SampleRun(run, index=2)
    begin(sample)
    yield sample
    end()


Asking = Callable[..., Generator]


@pytest.fixture
def asking(loop: LoopThread) -> Asking:
    """Makes a generator in front of a backend, by default one that echoes."""

    def make(backend: Backend | None = None, role: str = "generator") -> Generator:
        backend = backend or CallableBackend(name="echo", target=lambda prompt: prompt)
        return Generator(role=role, lookup=lambda _: backend, loop=loop)

    return make


def fake(*lines: Line) -> FakeBackend:
    return FakeBackend(name="fake", script=lines)


# --- what is sent -----------------------------------------------------------------------


def test_a_case_is_rendered_by_the_test_s_prompt_and_system(
    running: SampleRun, asking: Asking
) -> None:
    response = asking()(CASE)

    assert [m.to_json() for m in response.messages] == [
        {"role": "system", "content": "Be short about Peru."},
        {"role": "user", "content": "The capital of Peru?"},
    ]


def test_outside_of_a_case_its_input_is_the_prompt(asking: Asking) -> None:
    assert asking()(CASE).text == "Peru?"


def test_prompt_and_system_of_the_call_come_first(
    running: SampleRun, asking: Asking
) -> None:
    response = asking()(CASE, prompt="{{ country }}!", system="Hi {{ country }}")

    assert response.text == "system: Hi Peru\n\nuser: Peru!"


def test_a_path_in_a_call_is_read_as_a_template(
    asking: Asking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ask.j2").write_text("Where is {{ country }}?")
    monkeypatch.chdir(tmp_path)

    assert asking()(CASE, prompt="ask.j2").text == "Where is Peru?"


def test_a_text_is_sent_as_it_is(running: SampleRun, asking: Asking) -> None:
    assert asking()("{{ country }}").text == "{{ country }}"


def test_a_system_of_the_call_stands_before_a_text_or_messages(asking: Asking) -> None:
    messages = [{"role": "user", "content": "a"}, Message(role="user", content="b")]

    assert asking()("a", system="{{ s }}").text == "system: {{ s }}\n\nuser: a"
    assert asking()(messages, system="s").text == "system: s\n\nuser: a\n\nuser: b"
    assert asking()(Prompt.of("a"), system="s").text == "system: s\n\nuser: a"


def test_messages_keep_their_further_keys(asking: Asking) -> None:
    calls = [{"id": "t1", "function": {"name": "f"}}]
    messages = [
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "content": "7", "tool_call_id": "t1"},
    ]

    sent = asking()(messages).messages

    assert [m.to_json() for m in sent] == [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "7", "tool_call_id": "t1"},
    ]


def test_a_row_without_input_can_be_answered_by_its_column(asking: Asking) -> None:
    backend = ColumnBackend(name="column:reply", column="reply")
    case = Case(id="a", fields={"reply": "Lima"})

    assert asking(backend)(case).text == "Lima"


def test_a_row_without_input_is_unscored_where_one_is_sent(asking: Asking) -> None:
    with pytest.raises(UnscoredError, match="case 'a' has no input to send") as caught:
        asking()(Case(id="a"))

    assert caught.value.cause == "data"


def test_code_that_gets_the_case_gets_the_one_that_runs(
    running: SampleRun, asking: Asking
) -> None:
    backend = CallableBackend(name="app", target=lambda case: case.id, passes="case")

    assert asking(backend)("a text").text == "peru"
    assert asking(backend)(Case(id="b", fields={"country": "x"})).text == "b"


def test_params_reach_the_model(asking: Asking) -> None:
    def app(prompt: str, **params: Any) -> str:
        return f"{prompt} {params}"

    backend = CallableBackend(name="app", target=app, params={"a": 1, "b": 1})

    assert asking(backend)("x", params={"b": 2}).text == "x {'a': 1, 'b': 2}"
    assert asking(backend).generate("x", b=3).text == "x {'a': 1, 'b': 3}"


def test_the_sample_is_that_of_the_running_one(
    running: SampleRun, asking: Asking
) -> None:
    generator = asking(fake(Line(reply=("zero", "one", "two", "three"))))

    assert generator("x").text == "two"
    assert generator("x", sample=0).text == "zero"


def test_outside_of_a_case_the_sample_is_the_first(asking: Asking) -> None:
    assert asking(fake(Line(reply=("zero", "one"))))("x").text == "zero"


async def not_awaited() -> str:
    return "x"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ask: ask(7), "a model is asked a case, a text or chat messages, not 7"),
        (lambda ask: ask([]), "a text or chat messages, not []"),
        (lambda ask: ask(b"hi"), "a text or chat messages, not b'hi'"),
        (lambda ask: ask(None), "a text or chat messages, not None"),
        (
            lambda ask: ask(Response(text="hi")),
            "a text or chat messages, not <Response 'hi'",
        ),
        (
            lambda ask: ask(not_awaited()),
            "what is asked is the coroutine 'not_awaited': await it",
        ),
        (
            lambda ask: ask(["hi"]),
            "a chat message has a role and a content, and 'hi' has not",
        ),
        (
            lambda ask: ask([{"role": "user"}]),
            "a chat message has a role and a content, and {'role': 'user'} has not",
        ),
        (
            lambda ask: ask("hi", prompt="{{ x }}"),
            "prompt= renders a case, and 'hi' is not one",
        ),
        (
            lambda ask: ask("hi", system=Path("system.md")),
            "system= beside a text or messages is a text, sent as it is, not "
            f"{Path('system.md')!r}; templates are rendered for cases",
        ),
        (
            lambda ask: ask([{"role": "system", "content": "a"}], system="b"),
            "the messages have a system message, and so has the call: 'b'",
        ),
        (
            lambda ask: ask("hi", params=["temperature"]),
            "params are a mapping, {'temperature': 0}, not ['temperature']",
        ),
        (
            lambda ask: ask("hi", params={1: 2}),
            "params are a mapping, {'temperature': 0}, not {1: 2}",
        ),
        (
            lambda ask: ask("hi", sample=-1),
            "sample is the index of a repeat, 0 or more, not -1",
        ),
        (
            lambda ask: ask("hi", sample="1"),
            "sample is the index of a repeat, 0 or more, not '1'",
        ),
        (
            lambda ask: ask("hi", sample=True),
            "sample is the index of a repeat, 0 or more, not True",
        ),
    ],
)
def test_what_can_not_be_asked_is_told(
    running: SampleRun, asking: Asking, call: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        call(asking())

    assert message in str(caught.value)
    assert running.calls == []


# --- loops ------------------------------------------------------------------------------


def test_a_reply_can_be_awaited_on_our_loop(loop: LoopThread, asking: Asking) -> None:
    assert loop.run(asking().acall("hi"), instead="").text == "hi"


def test_a_reply_can_be_awaited_in_another_loop(
    running: SampleRun, asking: Asking
) -> None:
    async def body() -> list[str]:
        replies = await asyncio.gather(asking().acall("a"), asking().acall("b"))
        return [reply.text for reply in replies]

    assert asyncio.run(body()) == ["a", "b"]
    assert sorted(call.prompt.text for call in running.calls) == ["a", "b"]


def test_a_blocking_call_works_inside_another_loop(asking: Asking) -> None:
    async def body() -> Response:
        return asking()("a")

    assert asyncio.run(body()).text == "a"


@pytest.mark.parametrize(
    ("role", "hint"),
    [
        ("generator", "await generator.acall(...)"),
        ("openai:gpt-4o", "await client.acall(...)"),
    ],
)
def test_a_blocking_call_on_our_loop_names_the_awaitable(
    loop: LoopThread, asking: Asking, role: str, hint: str
) -> None:
    async def body() -> Response:
        return asking(role=role)("a")

    with pytest.raises(BlockingCallError) as caught:
        loop.run(body(), instead="")

    assert str(caught.value).endswith(hint)


def test_code_under_test_on_our_loop_can_await_a_further_model(asking: Asking) -> None:
    inner = asking()

    async def app(prompt: str) -> str:
        return (await inner.acall(f"{prompt}?")).text

    assert asking(CallableBackend(name="app", target=app))("a").text == "a?"


def test_code_under_test_that_blocks_our_loop_is_told(asking: Asking) -> None:
    inner = asking()

    async def app(prompt: str) -> str:
        return inner(prompt).text

    with pytest.raises(UnscoredError, match="would block the event loop.*acall"):
        asking(CallableBackend(name="app", target=app))("a")


@pytest.mark.parametrize("method", ["judge", "compare"])
def test_a_blocking_judge_on_our_loop_names_the_awaitable(
    loop: LoopThread, asking: Asking, method: str
) -> None:
    judge = Judge(client=asking(role="judge"))

    async def body() -> object:
        if method == "judge":
            return judge("Lima", CASE)
        return judge.compare("Lima", CASE, against="Cusco")

    name = {"judge": "judge.acall", "compare": "judge.acompare"}[method]
    with pytest.raises(BlockingCallError, match=rf"await {name}\(...\), wh"):
        loop.run(body(), instead="")


# --- what is kept -----------------------------------------------------------------------


def test_a_call_is_kept_with_its_role_and_client(
    running: SampleRun, asking: Asking
) -> None:
    asking(role="further")("hi")

    (call,) = running.calls
    assert (call.role, call.client, call.error) == ("further", "echo", None)
    assert call.prompt.text == "hi"
    assert call.response is not None
    assert call.response.text == "hi"


def test_a_call_that_failed_is_kept_with_its_error(
    running: SampleRun, asking: Asking
) -> None:
    with pytest.raises(UnscoredError, match="^the server is down$"):
        asking(fake(Line(error="the server is down")))("hi")

    (call,) = running.calls
    assert (call.response, call.error, call.cause) == (
        None,
        "the server is down",
        "provider",
    )


CUT = Line(reply=("The capital of Peru is",), finish_reason="length")


def test_a_reply_that_was_cut_off_is_unscored_and_kept(
    running: SampleRun, asking: Asking
) -> None:
    with pytest.raises(UnscoredError) as caught:
        asking(fake(CUT))("hi")

    assert str(caught.value) == (
        "the reply of fake was cut off at its token limit (finish_reason length); it "
        "ends 'The capital of Peru is'; raise max_tokens in its params, or say "
        "on_length: score in its entry"
    )
    assert caught.value.cause == "cut"
    (call,) = running.calls
    assert call.response is not None
    assert call.cause == "cut"


def test_a_reply_cut_off_before_its_first_word_says_so(asking: Asking) -> None:
    with pytest.raises(UnscoredError, match="; nothing of it was text; raise"):
        asking(fake(Line(reply=("",), finish_reason="length")))("hi")


def test_the_end_of_a_cut_reply_is_inert_and_short(asking: Asking) -> None:
    text = "x" * 100_000 + "\x1b[31m\u202e\ud83d"

    with pytest.raises(UnscoredError) as caught:
        asking(fake(Line(reply=(text,), finish_reason="length")))("hi")

    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


@pytest.fixture
def clients(tmp_path: Path) -> Clients:
    row = '{"reply": "The capital of", "finish_reason": "length"}\n'
    (tmp_path / "cut.jsonl").write_text(row)
    return Clients(Config(), tmp_path, "auto")


@pytest.mark.parametrize("mode", ["auto", "live"])
def test_an_entry_can_have_its_cut_replies_scored(
    tmp_path: Path, asking: Asking, clients: Clients, mode: Any
) -> None:
    clients = Clients(Config(), clients.shelf.root, mode)
    entry = {"provider": "fake", "model": "cut.jsonl", "on_length": "score"}
    backend = clients.backend(entry)

    response = asking(backend)("hi")

    assert (response.text, response.finish_reason) == ("The capital of", "length")
    assert (backend.name, backend.sends_prompt) == ("fake:cut.jsonl", True)


def test_without_that_it_is_unscored(asking: Asking, clients: Clients) -> None:
    backend = clients.backend({"provider": "fake", "model": "cut.jsonl"})

    with pytest.raises(UnscoredError, match="was cut off"):
        asking(backend)("hi")


def test_a_cut_judge_is_undecided_whatever_its_entry_says(
    asking: Asking, clients: Clients
) -> None:
    entry = {"provider": "fake", "model": "cut.jsonl", "on_length": "score"}
    judge = Judge(client=asking(clients.backend(entry), role="judge"))

    verdict = judge("Lima", CASE)

    assert (verdict.verdict, verdict.cause) == (None, "cut")


def test_a_reply_that_may_be_cut_has_the_same_recording(
    loop: LoopThread, clients: Clients
) -> None:
    entry = {"provider": "fake", "model": "cut.jsonl"}
    plain = clients.backend(entry)
    wrapped = clients.backend({**entry, "on_length": "score"})
    asked = Request(prompt=Prompt.of("hi"))

    assert wrapped.identity(asked) == plain.identity(asked)
    loop.run(clients.close(), instead="")


# --- the judge --------------------------------------------------------------------------


@pytest.fixture
def judging(asking: Asking) -> Callable[..., Judge]:
    return lambda *lines: Judge(client=asking(fake(*lines), role="judge"))


RIGHT = Line(reply=("PASS: the right city",))


def test_a_judge_returns_a_verdict_that_knows_what_it_is_about(
    running: SampleRun, judging: Callable[..., Judge]
) -> None:
    verdict = judging(RIGHT)("Lima", CASE, rubric="It names the city.")

    (vote,) = verdict.votes
    assert (vote.said, vote.judge, vote.index) == ("PASS", "fake", 0)
    assert verdict.prompt is not None
    assert set(verdict.fingerprint) >= {"template", "rubric", "models", "reader"}
    bare = replace(verdict, votes=(), prompt=None, fingerprint={})
    assert bare == Verdict(
        verdict="PASS",
        reason="the right city",
        raw="PASS: the right city",
        response="Lima",
        rubric="It names the city.",
        model="fake",
    )
    assert [(call.role, call.client) for call in running.calls] == [("judge", "fake")]


def test_a_judge_is_asked_for_the_first_sample_only(
    running: SampleRun, judging: Callable[..., Judge]
) -> None:
    verdict = judging(Line(reply=("PASS: one", "FAIL: two", "FAIL: three")))("x", CASE)

    assert verdict.verdict == "PASS"


@pytest.mark.parametrize(
    ("value", "question"),
    [
        ("Peru?", "Peru?"),
        (7, "7"),
        ({"a": 1}, '{"a": 1}'),
        (
            [{"role": "user", "content": "Peru?"}, {"content": ["x"]}],
            'user: Peru?\n\nmessage: ["x"]',
        ),
        (["a", "b"], '["a", "b"]'),
        ([], "[]"),
    ],
)
def test_a_judge_reads_the_question_of_any_input(
    running: SampleRun, judging: Callable[..., Judge], value: Any, question: str
) -> None:
    judging(RIGHT)("x", Case(id="a", input=value))

    assert f">>>\n{question}\n<<<" in running.calls[0].prompt.text


def test_a_judge_is_not_sent_the_test_s_prompt_or_system(
    running: SampleRun, judging: Callable[..., Judge]
) -> None:
    judging(RIGHT)("x", CASE)

    assert [m.role for m in running.calls[0].prompt.messages] == ["user"]
    assert "Be short" not in running.calls[0].prompt.text


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        ("provider", "judge"),
        ("application", "judge"),
        ("suite", "judge"),
        ("recording", "recording"),
    ],
)
def test_what_fails_on_the_judge_s_side_is_the_judge_s(
    running: SampleRun, asking: Asking, cause: str, told: str
) -> None:
    def grade(prompt: str) -> str:
        raise UnscoredError("no answer", cause=cause)

    judge = Judge(client=asking(CallableBackend(name="g", target=grade), role="judge"))

    with pytest.raises(UnscoredError) as caught:
        judge("Lima", CASE)

    assert str(caught.value) == "the judge could not be asked: no answer"
    assert caught.value.cause == told
    assert running.calls[0].error == "no answer"


def test_two_replies_are_compared(
    running: SampleRun, judging: Callable[..., Judge]
) -> None:
    settled = judging(Line(reply=("Verdict: Tie",))).compare("a", CASE, against="b")

    assert [vote.said for vote in settled.orders] == ["Tie", "Tie"]
    assert len(settled.prompts) == 2
    bare = replace(settled, orders=(), prompts=(), fingerprint={})
    assert bare == Pairwise(
        score=0.5,
        consistent=True,
        outcome="tie",
        first="Tie",
        swapped="Tie",
        response="a",
        against="b",
    )
    assert len(running.calls) == 2


def test_verdicts_can_be_awaited(
    loop: LoopThread, judging: Callable[..., Judge]
) -> None:
    async def body(judge: Judge) -> tuple[Verdict, Pairwise]:
        return await judge.acall("a", CASE), await judge.acompare(
            "a", CASE, against="b"
        )

    for verdict, settled in (
        loop.run(body(judging(RIGHT)), instead=""),
        asyncio.run(body(judging(RIGHT))),
    ):
        assert verdict.verdict == "PASS"
        assert settled.outcome is None


def test_judge_and_generator_have_short_names_in_a_traceback(asking: Asking) -> None:
    generator = asking(role="app")

    assert (repr(generator), repr(Judge(client=generator))) == ("<app>", "<judge>")


def test_a_judge_stays_itself_and_a_client_becomes_one(asking: Asking) -> None:
    judge = Judge(client=asking(role="judge"))

    assert as_judge(judge) is judge
    assert as_judge(asking(role="app")).client.role == "judge"


def test_a_call_that_is_refused_leaves_no_coroutine_behind() -> None:
    def refuse(sample: object) -> Any:
        raise UnscoredError("the case is over", cause="interrupted")

    generator = Generator(role="generator", lookup=refuse, loop=LoopThread())

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UnscoredError, match="over"):
            generator("hi")
        gc.collect()

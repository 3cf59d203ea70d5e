"""Vectors of texts: packed, from scripts and code under test, and the façade."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval import ConfigError, Generator, UnscoredError
from pytest_llmeval.clients import Backend, Clients, Request
from pytest_llmeval.clients.callable import CallableBackend
from pytest_llmeval.clients.column import ColumnBackend
from pytest_llmeval.clients.fake import FakeBackend, load_script
from pytest_llmeval.config import Config
from pytest_llmeval.loop import BlockingCallError, LoopThread
from pytest_llmeval.recorder import CaseRun, SampleRun, begin, end
from pytest_llmeval.store.recordings import Entry
from pytest_llmeval.types import (
    Case,
    Prompt,
    Response,
    packed_vector,
    unpacked_vector,
)

if TYPE_CHECKING:
    from tests.conftest import Suite

# --- packed --------------------------------------------------------------------------


def test_a_vector_is_packed_as_openai_packs_it() -> None:
    assert packed_vector([1.0, -2.5]) == "AACAPwAAIMA="
    assert unpacked_vector("AACAPwAAIMA=") == [1.0, -2.5]


def test_packed_again_it_is_the_same() -> None:
    once = packed_vector([0.1, 1 / 3, 1e-30])

    assert packed_vector(unpacked_vector(once)) == once
    assert unpacked_vector(once) == pytest.approx([0.1, 1 / 3, 1e-30], rel=1e-7)


@pytest.mark.parametrize("wrong", [[], [math.nan], [math.inf], [1e99]])
def test_what_is_no_vector_is_not_packed(wrong: list[float]) -> None:
    with pytest.raises((ValueError, OverflowError)):
        packed_vector(wrong)


@pytest.mark.parametrize("wrong", ["AAA=", "AACAPw", "?"])
def test_what_is_no_packed_vector_is_told(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"packed vector|multiple of item size"):
        unpacked_vector(wrong)


# --- scripts and code under test -----------------------------------------------------


def script(tmp_path: Path, text: str) -> FakeBackend:
    path = tmp_path / "script.jsonl"
    path.write_text(text, encoding="utf-8")
    return FakeBackend(name="fake:script.jsonl", script=load_script(path))


def embedded(backend: Any, *texts: str) -> list[list[float]]:
    request = Request(prompt=Prompt(messages=()), texts=texts)
    response: Response = asyncio.run(backend.answer(request))
    return [unpacked_vector(vector) for vector in response.embeddings]


def test_a_script_gives_each_text_the_vector_of_its_row(tmp_path: Path) -> None:
    backend = script(
        tmp_path,
        """
        {"reply": "not this"}
        {"match": "cat", "embedding": [1, 0]}
        {"match": "down", "error": "down"}
        {"match": "o", "embedding": [0, 1]}
        """,
    )

    assert embedded(backend, "a dog", "a cat") == [[0, 1], [1, 0]]
    with pytest.raises(UnscoredError, match="down"):
        embedded(backend, "a cat", "down")
    with pytest.raises(UnscoredError, match="no row of fake:script.jsonl fits .* 'x'"):
        embedded(backend, "x")


@pytest.mark.parametrize("value", ['"x"', "[]", '[1, "x"]', "3", "[NaN]"])
def test_a_mistake_in_a_script_names_its_line(tmp_path: Path, value: str) -> None:
    message = "script.jsonl:1: embedding is a list of numbers, not "
    with pytest.raises(ConfigError, match=message):
        script(tmp_path, f'{{"embedding": {value}}}')


class Rows(list[Any]):
    """As an array of numpy's."""

    def tolist(self) -> list[Any]:
        return list(self)


class Model:
    def generate(self, prompt: Prompt) -> str:
        return "reply"

    async def embed(self, texts: list[str]) -> Any:
        await asyncio.sleep(0)
        return Rows([len(text), 1.0] for text in texts)


def test_an_object_s_method_gets_the_texts() -> None:
    assert embedded(CallableBackend(name="m", target=Model()), "a", "abc") == [
        [1, 1],
        [3, 1],
    ]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "app.embed returned None: "),
        ([[1.0]], "1 vectors of 2 texts"),
        ([[1.0], [1.0, 2.0]], "they are of lengths 1, 2"),
        ([[1.0], ["x"]], "vector 2 is .'x'."),
        ([[1.0], []], "vector 2 is .. .a vector is made of finite numbers"),
    ],
)
def test_what_are_no_vectors_is_the_application_s_mistake(
    value: Any, said: str
) -> None:
    class Wrong:
        def embed(self, texts: list[str]) -> Any:
            return value

    with pytest.raises(UnscoredError, match=said) as caught:
        embedded(CallableBackend(name="app", target=Wrong()), "a", "b")
    assert caught.value.cause == "application"


class Vectors:
    """Gives vectors, and nothing else."""

    def embed(self, texts: list[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]


def test_an_object_may_give_vectors_alone(tmp_path: Path) -> None:
    backend = Clients(Config(), tmp_path, "live").backend(Vectors(), name="v")

    assert embedded(backend, "a") == [[1]]
    with pytest.raises(UnscoredError, match="v gives no replies: it has no generate"):
        asyncio.run(backend.answer(Request(prompt=Prompt.of("hi"))))


# --- the façade ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


Asking = Callable[[Any], Generator]


@pytest.fixture
def asking(loop: LoopThread) -> Asking:
    def make(target: Any) -> Generator:
        backend: Backend = (
            target
            if isinstance(target, ColumnBackend)
            else CallableBackend(name="m", target=target)
        )
        return Generator(role="generator", lookup=lambda _: backend, loop=loop)

    return make


class Counting:
    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def embed(self, texts: list[str]) -> list[list[float]]:
        self.asked.append(texts)
        return [[float(text)] for text in texts]


def test_texts_go_out_in_batches_and_each_once(asking: Asking) -> None:
    model = Counting()
    texts = [str(n % 100) for n in range(150)]

    vectors = asking(model).embed(texts)

    assert vectors == [[float(text)] for text in texts]
    assert sorted(map(len, model.asked)) == [36, 64]


def test_no_text_needs_no_question(asking: Asking) -> None:
    model = Counting()

    assert asking(model).embed([]) == []
    assert model.asked == []


def test_it_is_awaited_too(asking: Asking) -> None:
    assert asyncio.run(asking(Model()).aembed(["ab"])) == [[2, 1]]


def test_on_the_loop_thread_the_awaitable_form_is_named(
    asking: Asking, loop: LoopThread
) -> None:
    async def blocks() -> None:
        asking(Model()).embed(["a"])

    with pytest.raises(BlockingCallError, match="await generator.aembed"):
        loop.run(blocks(), instead="")


@pytest.mark.parametrize("wrong", ["a text", None, 3, [3], ["a", None]])
def test_what_are_no_texts_is_refused(asking: Asking, wrong: Any) -> None:
    with pytest.raises(ConfigError, match=r"list of texts|text \d is"):
        asking(Model()).embed(wrong)


def test_an_empty_text_is_a_broken_row(asking: Asking) -> None:
    with pytest.raises(UnscoredError, match="an empty text: text 2 is empty") as caught:
        asking(Model()).embed(["a", ""])
    assert caught.value.cause == "data"


def test_a_model_that_can_not_is_unscored_and_not_asked(asking: Asking) -> None:
    for target in (ColumnBackend(name="m", column="reply"), str.upper):
        with pytest.raises(UnscoredError, match="m gives no vectors of texts; those"):
            asking(target).embed(["a"])


def test_the_record_has_the_texts_and_no_numbers(asking: Asking) -> None:
    sample = SampleRun(CaseRun(nodeid="t.py::t[a]", test="t.py::t", case=Case(id="a")))
    begin(sample)
    try:
        asking(Model()).embed(["a", "b"])
    finally:
        end()

    [call] = sample.calls
    data = call.to_json()
    assert [message["content"] for message in data["prompt"]] == ["a", "b"]
    assert data["response"]["embeddings"] == 2


# --- recordings ----------------------------------------------------------------------


def test_what_is_kept_is_short_and_comes_back() -> None:
    model = FakeBackend(name="fake:x", script=())
    request = Request(prompt=Prompt(messages=()), texts=("a", "b"))
    vectors = (packed_vector([0.1] * 1536), packed_vector([0.2] * 1536))
    response = Response(text="", embeddings=vectors)

    kept = Entry.of(model.identity(request), 0, response)

    assert kept.request["embeddings_of"] == ["a", "b"]
    again = Entry.from_json(kept.to_json()).replayed(Prompt.of("a"))
    assert list(again.embeddings) == list(vectors)
    assert len(vectors[0]) == 8192


def test_a_suite_replays_them(suite: Suite) -> None:
    suite.write(
        script_jsonl="""
{"match": "cat", "embedding": [0.1, 0.7]}
{"reply": "a cat"}
""",
        test_a="""
import pytest

@pytest.mark.llmeval(["cat?"], generator="fake:script.jsonl")
def test_a(case, generator):
    response = generator(case)
    one, other = generator.embed([response.text, "my cat"])
    assert one == other
    assert one == pytest.approx([0.1, 0.7])
""",
    )

    reports = [
        suite.report(f"--llmeval-mode={mode}")[1] for mode in ("record", "replay")
    ]

    for report in reports:
        assert report["totals"]["passed"] == 1
        # The reply is what a reader wants to see, not the last call.
        assert report["cases"][0]["samples"][0]["response"] == "a cat"
    calls = reports[1]["cases"][0]["samples"][0]["calls"]
    assert [call["response"]["origin"] for call in calls] == ["recording"] * 2


def test_a_vector_that_is_kept_is_not_asked_for_again(suite: Suite) -> None:
    suite.write(
        script_jsonl='{"embedding": [0.1, 0.7]}',
        test_a="""
import pytest

MODEL = {"provider": "fake", "model": "script.jsonl", "cache": True}

@pytest.mark.llmeval(["cat?"], generator=MODEL)
def test_a(case, generator):
    assert generator.embed([case.input]) == [pytest.approx([0.1, 0.7])]
""",
    )

    origins = []
    for _ in range(2):
        _, report = suite.report()
        [call] = report["cases"][0]["samples"][0]["calls"]
        origins.append(call["response"]["origin"])

    assert origins == ["live", "cache"]

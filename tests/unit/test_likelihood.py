"""How likely a given text is: the value, scripts, code under test, the façade."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval import ConfigError, Generator, Likelihood, UnscoredError
from pytest_llmeval.clients import (
    Backend,
    Clients,
    CutAccepted,
    GivenText,
    Request,
    is_able,
)
from pytest_llmeval.clients.callable import CallableBackend
from pytest_llmeval.clients.column import ColumnBackend
from pytest_llmeval.clients.fake import FakeBackend, load_script
from pytest_llmeval.config import Config
from pytest_llmeval.loop import BlockingCallError, LoopThread
from pytest_llmeval.recorder import CaseRun, SampleRun, begin, end
from pytest_llmeval.store.recordings import Entry
from pytest_llmeval.types import Case, Mode, Prompt, Response

if TYPE_CHECKING:
    from tests.conftest import Suite

# --- the value -----------------------------------------------------------------------


def test_it_is_the_sum_over_its_tokens() -> None:
    found = Likelihood.of([-0.1] * 10, is_greedy=True)

    assert found.logprob == -1.0  # summed without rounding on the way
    assert (found.token_count, found.token_logprobs) == (10, (-0.1,) * 10)


def test_it_unpacks_as_sum_and_greediness() -> None:
    total, is_greedy = Likelihood(logprob=-2.5, is_greedy=False)

    assert (total, is_greedy) == (-2.5, False)
    assert float(Likelihood(logprob=-2.5)) == -2.5


def test_it_survives_json() -> None:
    whole = Likelihood.of([-1.5, -0.0], is_greedy=True, unscored_prefix="Th")

    assert Likelihood.from_json(whole.to_json()) == whole
    assert Likelihood(logprob=-1).to_json() == {"logprob": -1}


@pytest.mark.parametrize("value", [math.nan, -math.inf, math.inf, 0.1, "x", None, True])
def test_what_is_no_log_probability_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="number|log-probability"):
        Likelihood(logprob=value)
    with pytest.raises(ValueError, match="number|log-probability"):
        Likelihood.of([-1.0, value])


def test_rounding_may_carry_a_certainty_over_zero() -> None:
    assert Likelihood.of([1e-6]).logprob == 1e-6


# --- scripts -------------------------------------------------------------------------


def script(tmp_path: Path, text: str) -> FakeBackend:
    path = tmp_path / "script.jsonl"
    path.write_text(text, encoding="utf-8")
    return FakeBackend(name="fake:script.jsonl", script=load_script(path))


def given(backend: Any, text: str, context: str | None = None) -> Likelihood:
    request = Request(
        prompt=Prompt(messages=()), given=GivenText(text=text, context=context)
    )
    response: Response = asyncio.run(backend.answer(request))
    assert response.likelihood is not None
    return response.likelihood


def test_a_script_is_able_by_context_and_text(tmp_path: Path) -> None:
    backend = script(
        tmp_path,
        """
        {"reply": "never asked"}
        {"match": "Peru", "text": "Lima", "logprobs": [-0.25, -0.5], "greedy": true}
        {"match": "Peru", "logprobs": -9}
        """,
    )

    assert given(backend, " Lima", "Capital of Peru:") == Likelihood.of(
        [-0.25, -0.5], is_greedy=True
    )
    assert tuple(given(backend, " Cusco", "Capital of Peru:")) == (-9, False)
    assert float(given(backend, "Peru is a country.")) == -9
    with pytest.raises(
        UnscoredError, match="no row of fake:script.jsonl fits the prompt .Capi"
    ):
        given(backend, " Oslo", "Capital of Norway:")


def test_an_error_row_fails_this_too_and_a_reply_row_is_for_replies(
    tmp_path: Path,
) -> None:
    backend = script(
        tmp_path,
        '{"match": "x", "error": "down"}\n{"logprobs": -1}\n{"reply": "r"}',
    )

    with pytest.raises(UnscoredError, match="down"):
        given(backend, "x")
    reply = asyncio.run(backend.answer(Request(prompt=Prompt.of("hi"))))
    assert (reply.text, reply.likelihood) == ("r", None)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"logprobs": 0.5}', "a list of them, one a token: 0.5 is no log-probability"),
        ('{"logprobs": [-1, "x"]}', "'x' is not a number"),
        ('{"logprobs": []}', "one a token: .. is not a number"),
        ('{"logprobs": NaN}', "not finite"),
        (
            '{"logprobs": -1, "reply": "x"}',
            "a row has one of reply, logprobs, embedding, error, ",
        ),
        ('{"logprobs": -1, "greedy": "yes"}', "greedy is true or false, not 'yes'"),
        ('{"logprobs": -1, "text": 3}', "text is a text, not 3"),
        ('{"reply": "x", "text": "y"}', "text is of logprobs, and the row has none"),
    ],
)
def test_a_mistake_in_a_script_names_its_line(
    tmp_path: Path, row: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=f"script.jsonl:1: .*{message}"):
        script(tmp_path, row)


# --- code under test -----------------------------------------------------------------


class Model:
    """A user's client that gives likelihoods, half of it async."""

    def generate(self, prompt: Prompt) -> str:
        return "reply"

    def loglikelihood(self, context: str, continuation: str) -> tuple[float, bool]:
        return -float(len(context)), continuation == " Lima"

    async def loglikelihood_rolling(self, text: str) -> float:
        await asyncio.sleep(0)
        return -float(len(text))


def test_an_object_s_methods_are_asked_plain_or_async() -> None:
    backend = CallableBackend(name="app:model", target=Model())

    assert tuple(given(backend, " Lima", "abc")) == (-3, True)
    assert given(backend, "abcd") == Likelihood(logprob=-4)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((-1.0, "yes"), "neither true nor false"),
        (math.nan, "app:model.loglikelihood returned nan: nan is no log-prob"),
        ([-1, -2, -3], "is not a number; it returns the sum"),
        (None, "returned None: None is not a number"),
    ],
)
def test_what_is_no_likelihood_is_the_application_s_mistake(
    value: Any, message: str
) -> None:
    class Wrong:
        def loglikelihood(self, context: str, continuation: str) -> Any:
            return value

    with pytest.raises(UnscoredError, match=message) as caught:
        given(CallableBackend(name="app:model", target=Wrong()), "a", "b")
    assert caught.value.cause == "application"


def test_a_number_of_a_library_is_one() -> None:
    class Scalar:
        def item(self) -> float:
            return -1.5

    class Wrapped:
        def loglikelihood(self, context: str, continuation: str) -> Any:
            return Scalar(), True

    backend = CallableBackend(name="m", target=Wrapped())

    assert given(backend, "a", "b") == Likelihood(logprob=-1.5, is_greedy=True)


def test_code_without_the_method_says_who_has_one() -> None:
    backend = CallableBackend(name="app:answer", target=str.upper)

    with pytest.raises(UnscoredError, match="it has no loglikelihood.; .*local:") as e:
        given(backend, "a", "b")
    assert e.value.cause == "provider"


def test_code_that_raises_is_the_application_s_error() -> None:
    class Raising:
        def loglikelihood(self, context: str, continuation: str) -> float:
            raise LookupError(continuation)

    with pytest.raises(UnscoredError, match="raised LookupError: a") as caught:
        given(CallableBackend(name="m", target=Raising()), "a", "b")
    assert caught.value.cause == "application"


# --- the façade ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


@pytest.fixture
def running() -> Iterator[SampleRun]:
    sample = SampleRun(CaseRun(nodeid="t.py::t[a]", test="t.py::t", case=Case(id="a")))
    begin(sample)
    yield sample
    end()


Asking = Callable[[Backend], Generator]


@pytest.fixture
def asking(loop: LoopThread) -> Asking:
    def make(backend: Backend) -> Generator:
        return Generator(role="generator", lookup=lambda _: backend, loop=loop)

    return make


def test_it_is_asked_blocking_and_awaited(asking: Asking) -> None:
    generator = asking(CallableBackend(name="m", target=Model()))

    async def both() -> list[Likelihood]:
        return [
            await generator.aloglikelihood("abc", " Lima"),
            await generator.aloglikelihood_rolling("abcd"),
        ]

    blocking = [
        generator.loglikelihood("abc", " Lima"),
        generator.loglikelihood_rolling("abcd"),
    ]
    assert blocking == asyncio.run(both())
    assert list(map(float, blocking)) == [-3, -4]


def test_the_question_stands_in_the_record(asking: Asking, running: SampleRun) -> None:
    asking(CallableBackend(name="m", target=Model())).loglikelihood("abc", " Lima")

    [call] = running.calls
    data = call.to_json()
    assert data["prompt"] == [
        {"role": "user", "content": "abc"},
        {"role": "assistant", "content": " Lima"},
    ]
    assert data["response"]["likelihood"] == {"logprob": -3.0, "is_greedy": True}
    assert (data["response"]["text"], data["error"]) == ("", None)


def test_a_model_that_can_not_is_unscored_and_not_asked(asking: Asking) -> None:
    column = ColumnBackend(name="column:reply", column="reply")

    with pytest.raises(UnscoredError, match="column:reply gives no log-prob") as caught:
        asking(CutAccepted(inner=column)).loglikelihood("a", "b")

    assert caught.value.cause == "provider"
    for who in ("openai:", "local:", "python:", "fake:"):
        assert who in caught.value.reason


def test_whoever_wraps_one_that_can_can() -> None:
    model = CallableBackend(name="m", target=Model())

    assert is_able(CutAccepted(inner=CutAccepted(inner=model)), "likelihood")
    assert not is_able(
        CutAccepted(inner=ColumnBackend(name="c", column="c")), "likelihood"
    )


@pytest.mark.parametrize("wrong", [None, 3, Prompt.of("a")])
def test_what_is_no_text_is_refused(asking: Asking, wrong: Any) -> None:
    generator = asking(CallableBackend(name="m", target=Model()))

    for texts in (("a", wrong), (wrong, "a")):
        with pytest.raises(ConfigError, match="a text is asked about, and "):
            generator.loglikelihood(*texts)
    with pytest.raises(ConfigError, match="a text is asked about, and text"):
        generator.loglikelihood_rolling(wrong)


def test_an_empty_text_is_a_broken_row(asking: Asking) -> None:
    generator = asking(CallableBackend(name="m", target=Model()))

    for ask in (
        generator.loglikelihood_rolling,
        lambda t: generator.loglikelihood(t, t),
    ):
        with pytest.raises(UnscoredError, match="of an empty text") as caught:
            ask("")
        assert caught.value.cause == "data"


def test_on_the_loop_thread_the_awaitable_form_is_named(
    asking: Asking, loop: LoopThread
) -> None:
    generator = asking(CallableBackend(name="m", target=Model()))

    async def blocks() -> None:
        generator.loglikelihood_rolling("a")

    with pytest.raises(BlockingCallError, match="await generator.aloglikelihood_roll"):
        loop.run(blocks(), instead="")


# --- recordings ----------------------------------------------------------------------


def test_what_is_kept_says_what_was_asked_and_comes_back() -> None:
    model = FakeBackend(name="fake:x", script=())
    found = Likelihood.of([-1.25, -0.5], is_greedy=False)

    def entry(text: str, context: str | None) -> Entry:
        request = Request(
            prompt=Prompt(messages=()), given=GivenText(text=text, context=context)
        )
        return Entry.of(model.identity(request), 0, Response(text="", likelihood=found))

    kept = entry("b", "a")
    assert kept.request == {
        "provider": "fake",
        "model": "fake:x",
        "likelihood_of": {"context": "a", "text": "b"},
    }
    again = Entry.from_json(kept.to_json()).replayed(Prompt.of("a"))
    assert (again.likelihood, again.origin) == (found, "recording")
    others = [entry("b", None), entry("b", ""), entry("ab", ""), kept]
    assert len({one.key for one in others}) == 4


def test_code_under_test_is_replayed(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = """
class Model:
    def generate(self, prompt):
        return "x"
    def loglikelihood(self, context, continuation):
        return -float(len(context)), True
model = Model()
"""
    suite.write(
        app=app,
        test_a="""
import pytest

@pytest.mark.llmeval(["abc"], generator="python:app:model")
def test_a(case, generator, llmeval):
    total, is_greedy = generator.loglikelihood(case.input, " d")
    llmeval.score("sum", total)
    assert (total, is_greedy) == (-3, True)
""",
    )
    modes: tuple[Mode, ...] = ("record", "replay")

    reports = []
    for mode in modes:
        _, report = suite.report(f"--llmeval-mode={mode}")
        suite.write(app=app.replace("return -", "return 1 / 0 -"))
        reports.append(report["cases"][0]["samples"][0])

    assert [sample["origin"] for sample in reports] == ["live", "recording"]
    for sample in reports:
        assert sample["response"] is None  # there was no reply to show
        assert sample["calls"][0]["response"]["likelihood"]["logprob"] == -3


def test_a_clients_backend_takes_it_in_every_mode(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"logprobs": [-1, -2]}', encoding="utf-8")

    for mode in ("auto", "live"):
        backend = Clients(Config(), tmp_path, mode).backend("fake:s.jsonl")
        assert is_able(backend, "likelihood")
        assert float(given(backend, "x")) == -3


def test_several_are_asked_at_once_and_the_first_failure_is_told(
    asking: Asking, running: SampleRun
) -> None:
    class Picky:
        def generate(self, prompt: Prompt) -> str:
            return ""

        def loglikelihood(self, context: str, continuation: str) -> float:
            if continuation == "b":
                raise ValueError("no b")
            return -float(len(continuation))

    generator = asking(CallableBackend(name="m", target=Picky()))

    assert [
        found.logprob for found in generator.loglikelihoods([("", "a"), ("", "aa")])
    ] == [-1, -2]
    with pytest.raises(UnscoredError, match="no b"):
        generator.loglikelihoods([("", "b"), ("", "ccc")])
    assert len(running.calls) == 4

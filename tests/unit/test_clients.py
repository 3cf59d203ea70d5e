"""Backends without a wire: columns, scripts, code under test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.clients import Clients, Request
from pytest_llmeval.clients.callable import CallableBackend, import_target
from pytest_llmeval.clients.column import ColumnBackend
from pytest_llmeval.clients.fake import FakeBackend, load_script
from pytest_llmeval.config import load_config
from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.types import Case, Prompt, Response, WrittenFloat

CASE = Case(id="a", input="hi", fields={"reply": "yes", "n": WrittenFloat("1.50")})


def ask(backend: Any, text: str = "hi", case: Case | None = CASE, **rest: Any) -> Any:
    request = Request(prompt=Prompt.of(text), case=case, **rest)
    return asyncio.run(backend.answer(request))


# --- column --------------------------------------------------------------------------


def column(name: str) -> ColumnBackend:
    return ColumnBackend(name=f"column:{name}", column=name)


def test_a_column_is_the_reply() -> None:
    response = ask(column("reply"))

    assert (response.text, response.origin, response.provider) == (
        "yes",
        "column",
        "column",
    )
    assert not response.is_from_model


def test_a_number_in_a_column_is_the_text_it_was_written_as() -> None:
    assert ask(column("n")).text == "1.50"


def test_a_column_the_row_lacks_is_a_broken_row() -> None:
    with pytest.raises(UnscoredError, match="no column 'repl'.*mean 'reply'") as caught:
        ask(column("repl"))

    assert caught.value.cause == "data"


def test_an_empty_cell_is_no_reply_and_an_empty_text_is_one() -> None:
    empty = Case(id="a", fields={"cell": None, "text": ""})

    with pytest.raises(UnscoredError, match="case 'a' has no reply: its 'cell' is emp"):
        ask(column("cell"), case=empty)
    assert ask(column("text"), case=empty).text == ""


def test_a_column_needs_a_case() -> None:
    with pytest.raises(UnscoredError, match=r"call generator\(case\)"):
        ask(column("reply"), case=None)


# --- fake ----------------------------------------------------------------------------


def script(tmp_path: Path, text: str) -> FakeBackend:
    path = tmp_path / "script.jsonl"
    path.write_text(text, encoding="utf-8")
    return FakeBackend(name="fake:script.jsonl", script=load_script(path))


def test_the_first_row_that_fits_answers(tmp_path: Path) -> None:
    backend = script(
        tmp_path,
        '{"match": "Peru", "reply": "Lima"}\n\n{"reply": "no idea"}\n',
    )

    assert ask(backend, "capital of Peru?").text == "Lima"
    assert ask(backend, "capital of Oz?").text == "no idea"


def test_a_list_of_replies_is_one_a_sample(tmp_path: Path) -> None:
    backend = script(tmp_path, '{"reply": ["a", "b"]}')

    assert [ask(backend, sample=n).text for n in range(3)] == ["a", "b", "b"]


def test_replies_by_chance_are_as_frequent_as_their_weights(tmp_path: Path) -> None:
    backend = script(tmp_path, '{"reply": {"Lima": 3, "Cusco": 1}}')

    said = [ask(backend, f"{n}", sample=n % 5).text for n in range(2_000)]

    # Four standard errors of 2,000 draws around three of four.
    assert said.count("Lima") == pytest.approx(1_500, abs=4 * 19.4)
    assert {*said} == {"Lima", "Cusco"}


def test_a_reply_by_chance_depends_on_prompt_sample_and_seed_alone(
    tmp_path: Path,
) -> None:
    def said(seed: int, prompt: str, sample: int = 0) -> str:
        row = f'{{"reply": {{"a": 1, "b": 1}}, "seed": {seed}}}'
        text: str = ask(script(tmp_path, row), prompt, sample=sample).text
        return text

    first = [said(1, str(n)) for n in range(20)]

    assert [said(1, str(n)) for n in reversed(range(20))] == first[::-1]
    assert [said(2, str(n)) for n in range(20)] != first
    assert [said(1, str(n), sample=1) for n in range(20)] != first


def test_an_error_row_fails_the_call(tmp_path: Path) -> None:
    with pytest.raises(UnscoredError, match="down") as caught:
        ask(script(tmp_path, '{"error": "down", "delay": 0.001}'))

    assert caught.value.cause == "provider"


def test_a_prompt_no_row_fits_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnscoredError, match="no row of fake:script.jsonl fits the pro"):
        ask(script(tmp_path, '{"match": "x", "reply": "y"}'))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "script.jsonl:1: not JSON"),
        ("[]", "script.jsonl:1: a row is an object with match, reply"),
        ('{"replay": "x"}', "unknown key 'replay' .did you mean 'reply'"),
        ('{"match": "x"}', "a row has one of reply, logprobs, emb"),
        ('{"reply": "x", "error": "y"}', "a row has one of reply, logprobs, emb"),
        ('{"reply": 3}', "reply is a text, a list of texts, or an object .* not 3"),
        ('{"reply": []}', "reply is a text, a list of texts, or an object of texts"),
        ('{"reply": {}}', "how often each is said, above 0, not {}"),
        ('{"reply": {"a": 0}}', "how often each is said, above 0"),
        ('{"reply": {"a": true}}', "how often each is said, above 0"),
        ('{"reply": {"a": NaN}}', "how often each is said, above 0"),
        ('{"reply": {"a": 1}, "seed": "x"}', "seed is a whole number, not 'x'"),
        (
            '{"reply": "a", "seed": 1}',
            "seed is of a reply by chance, and the row has n",
        ),
        ('{"error": 3}', "error is a text, not 3"),
        ('{"match": 3, "reply": "x"}', "match is a text, not 3"),
        ('{"reply": "x", "delay": -1}', "delay is a number of seconds, 0 or more"),
    ],
)
def test_a_mistake_in_a_script_names_its_line(
    tmp_path: Path, row: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        script(tmp_path, row)


def test_a_missing_script_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone.jsonl': No such file"):
        load_script(tmp_path / "gone.jsonl")


# --- callable ------------------------------------------------------------------------


def code(target: Any, **options: Any) -> CallableBackend:
    return CallableBackend(name="app:answer", target=target, **options)


async def answer_later(prompt: str) -> str:
    await asyncio.sleep(0)
    return prompt.upper()


class Model:
    def answer(self, prompt: str) -> str:
        return prompt.upper()

    def __call__(self, prompt: str) -> str:
        return prompt.upper()


class ClientModel:
    async def generate(self, prompt: Prompt, **params: Any) -> str:
        return f"{prompt.text.upper()}{params or ''}"


@pytest.mark.parametrize(
    "target",
    [str.upper, answer_later, Model().answer, Model(), ClientModel()],
    ids=["function", "async", "method", "object", "client"],
)
def test_code_answers_the_prompt(target: Any) -> None:
    response = ask(code(target))

    assert (response.text, response.provider) == ("HI", "python")
    assert response.latency_seconds is not None


def test_code_can_get_the_case() -> None:
    assert ask(code(lambda case: case.id, passes="case")).text == "a"


def test_code_that_gets_the_case_needs_one() -> None:
    with pytest.raises(UnscoredError, match="app:answer gets the case"):
        ask(code(str, passes="case"), case=None)


def test_parameters_reach_a_client() -> None:
    backend = code(ClientModel(), params={"a": 1})

    assert ask(backend, params={"b": 2}).text == "HI{'a': 1, 'b': 2}"


@pytest.mark.parametrize(
    ("returned", "text", "cost"),
    [
        (("yes", 0.25), "yes", 0.25),
        (("yes", None), "yes", None),
        (Response(text="yes", cost=0.5), "yes", 0.5),
        ({"answer": {"text": "yes"}}, "yes", None),
        (({"answer": {"text": "yes"}}, 0.25), "yes", 0.25),
    ],
)
def test_what_code_may_return(returned: Any, text: str, cost: float | None) -> None:
    response = ask(code(lambda prompt: returned, reply="answer.text"))

    assert (response.text, response.cost) == (text, cost)


def test_a_path_may_go_through_a_list() -> None:
    backend = code(lambda prompt: {"a": [{"b": "yes"}]}, reply="a.0.b")

    assert ask(backend).text == "yes"


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "returned None, and a reply is a text"),
        (7, "returned 7, and a reply is"),
        (("yes", -1), "returned the cost -1, not US dollars"),
        (("yes", "free"), "returned the cost 'free'"),
        ({"x": 1}, "without 'answer.text'; in it are the keys x"),
    ],
)
def test_what_code_may_not_return(returned: Any, message: str) -> None:
    with pytest.raises(UnscoredError, match=message) as caught:
        ask(code(lambda prompt: returned, reply="answer.text"))

    assert caught.value.cause == "application"


def test_a_mapping_without_a_path_says_what_to_write() -> None:
    with pytest.raises(UnscoredError, match="say in its entry where the text is"):
        ask(code(lambda prompt: {"x": "y"}))


def stop(prompt: str) -> str:
    raise StopIteration


def fail(prompt: str) -> str:
    raise ValueError("bad prompt")


def leave(prompt: str) -> str:
    raise SystemExit(3)


async def fail_later(prompt: str) -> str:
    raise ValueError("bad prompt")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (fail, "app:answer raised ValueError: bad prompt"),
        (fail_later, "app:answer raised ValueError: bad prompt"),
        (leave, "app:answer raised SystemExit: 3"),
        (stop, "app:answer raised RuntimeError: StopIteration left the function"),
    ],
)
def test_code_that_raises_is_unscored_with_its_exception(
    target: Callable[[str], str], message: str
) -> None:
    with pytest.raises(UnscoredError, match=message) as caught:
        ask(code(target))

    assert caught.value.cause == "application"
    assert caught.value.__cause__ is not None


def test_plain_code_does_not_hold_up_the_loop() -> None:
    both = threading.Barrier(2, timeout=5)

    def wait(prompt: str) -> str:
        both.wait()
        return prompt

    async def two() -> list[Response]:
        request = Request(prompt=Prompt.of("hi"))
        backend = code(wait)
        both_asked = (backend.answer(request), backend.answer(request))
        return list(await asyncio.gather(*both_asked))

    assert [response.text for response in asyncio.run(two())] == ["hi", "hi"]


# --- import --------------------------------------------------------------------------


@pytest.fixture
def module(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    name = f"app_{request.node.name.partition('[')[0]}"
    text = "class Bot:\n    def answer(self, p): return p\nbot = Bot()\nlimit = 3\n"
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    return name


def test_a_target_is_imported_from_the_root(module: str, tmp_path: Path) -> None:
    assert import_target(f"{module}:bot.answer", root=tmp_path)("x") == "x"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("{}", "is not of the form python:package.module:name"),
        ("{}.bot", r"package.module:name .did you mean 'python:\w+:bot'"),
        ("no_such_module_x:f", "importing 'no_such_module_x' raised"),
        ("{}:bott", "has no 'bott' .did you mean 'bot'"),
        ("{}:limit", "is 3, neither callable nor a Client"),
    ],
)
def test_a_target_that_can_not_be_used_is_told(
    module: str, tmp_path: Path, target: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        import_target(target.format(module), root=tmp_path)


# --- the table -----------------------------------------------------------------------


def clients(root: Path) -> Clients:
    return Clients(load_config(None), root)


def test_a_spec_is_built_once(tmp_path: Path) -> None:
    table = clients(tmp_path)

    assert table.backend("column:reply") is table.backend("column:reply")


def test_a_callable_is_a_model(tmp_path: Path) -> None:
    assert clients(tmp_path).backend(answer_later).name == "answer_later"


@pytest.mark.parametrize("spec", [7, None, ["column:a"]])
def test_what_is_no_model_is_refused(tmp_path: Path, spec: Any) -> None:
    with pytest.raises(ConfigError, match="is not a model: give a spec"):
        clients(tmp_path).backend(spec)

"""A user's suite, as a type checker sees it: read by mypy, never run.

`make types` checks it with the rest. An ignore that is needed no more is an error, so
each one below says that a mistake of a user's is found.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, assert_type

import pytest

import pytest_llmeval
from pytest_llmeval import (
    Case,
    Client,
    ConfigError,
    DatasetError,
    EvalAssertionError,
    EvaluationWarning,
    Generator,
    Judge,
    Likelihood,
    LLMEvalError,
    Message,
    MissingExtraError,
    Pairwise,
    Prompt,
    Recorder,
    Response,
    Score,
    TemplateError,
    UnscoredError,
    UserError,
    Verdict,
    Vote,
    assert_case,
    assert_choice,
    assert_contains,
    assert_exact,
    assert_f1,
    assert_json,
    assert_judge,
    assert_metric,
    assert_number,
    assert_pairwise,
    assert_regex,
    assert_tool_calls,
    load_cases,
    write_cases,
)
from pytest_llmeval.judging import compare, evaluate, read_verdict, settle
from pytest_llmeval.metrics import exact, f1, metric, pooled, score
from pytest_llmeval.stats import (
    mcnemar_exact,
    pass_at_k,
    pass_hat_k,
    wilson_interval,
)

# --- fixtures ---------------------------------------------------------------------------


@pytest.mark.llmeval("data/capitals.jsonl", prompt="prompts/qa.j2")
def test_capitals(case: Case, generator: Generator, judge: Judge) -> None:
    response = generator(case)
    assert_type(response, Response)
    assert_f1(response, case, threshold=0.6)
    assert_judge(response, case, judge, rubric="Names the right city and nothing else.")
    assert_pairwise(response, case, judge, against=case["old_reply"], expect="win")
    scale = {"Good": 1, "Fair": 0.5, "Bad": 0}
    assert_judge(response, case, judge, score_map=scale, threshold=0.5, name="tone")
    assert_judge(response, case, judge, votes=3, language="de", name="voted")


def test_what_is_said_of_given_texts(generator: Generator) -> None:
    found = generator.loglikelihood("The capital of Peru is", " Lima")
    assert_type(found, Likelihood)
    assert_type(found.logprob, float)
    assert_type(found.is_greedy, bool | None)
    assert_type(generator.loglikelihood_rolling("Lima."), Likelihood)
    assert_type(generator.embed(["Lima", "Cusco"]), list[list[float]])


def test_ways_to_ask(generator: Generator) -> None:
    assert_type(generator("Capital of Peru?", system="Be short."), Response)
    assert_type(generator([{"role": "user", "content": "Peru?"}]), Response)
    assert_type(generator([Message(role="user", content="Peru?")]), Response)
    assert_type(generator(Prompt.of("Peru?"), params={"temperature": 0}), Response)
    assert_type(generator.generate("Peru?", temperature=0), Response)


async def test_awaited(case: Case, generator: Generator, judge: Judge) -> None:
    response = await generator.acall(case, prompt=Path("qa.j2"), sample=1)
    assert_type(response, Response)
    verdict = await judge.acall(response, case, rubric="It is short.")
    assert_type(verdict, Verdict)
    settled = await judge.acompare(response, case, against="Lima", consistency=False)
    assert_type(settled, Pairwise)
    assert_judge(response, case, verdict)
    assert_pairwise(response, case, settled, against="Lima")


@pytest.fixture
def shout(llm_client: Callable[..., Generator]) -> Generator:
    return llm_client(str.upper, name="shout")


def test_recorder(llmeval: Recorder, shout: Generator) -> None:
    llmeval.score("latency", 0.25)
    llmeval.attach("reply", shout("x").text)
    with llmeval.all_checks():
        assert_exact("a", "a")


# --- values -----------------------------------------------------------------------------


def a_response(response: Response) -> None:
    assert_type(response.text, str)
    assert_type(str(response), str)
    assert_type(response.cost, float | None)
    assert_type(response.latency_seconds, float | None)
    assert_type(response.origin, Literal["live", "cache", "recording", "column"])
    assert_type(response.extract(r"\d+"), Response)
    if response.usage is not None:
        assert_type(response.usage.total, int | None)
    for call in response.tool_calls:
        assert_type(call["name"], Any)


def a_case(case: Case) -> None:
    assert_type(case.id, str)
    assert_type(case["column"], Any)
    assert_type(case.tags, tuple[str, ...])
    if case.source is not None:
        assert_type(case.source.line, int)


def a_verdict(judge: Judge, case: Case) -> None:
    verdict = judge("Lima", case, template="{{ response }}", inputs={"tone": "warm"})
    assert_type(verdict, Verdict)
    assert_type(verdict.verdict, Literal["PASS", "FAIL"] | None)
    assert_type(verdict.reason, str)
    assert_type(verdict.votes, tuple[Vote, ...])
    assert_type(verdict.fingerprint, Mapping[str, str])
    assert_type(evaluate("grader", ["Lima"], votes=3), list[Verdict])
    assert_type(compare(str.upper, ["Lima"], ["Cusco"]), list[Pairwise])
    settled = judge.compare("Lima", case, against="Cusco", score_map={"A": 0, "B": 1})
    assert_type(settled, Pairwise)
    assert_type(settled.score, float | None)
    assert_type(settled.outcome, Literal["win", "tie", "loss"] | None)


def helpers(response: Response, case: Case) -> None:
    assert_type(assert_exact(response, case, preset="squad_v1"), Score)
    assert_type(assert_contains("a", ["a", "b"], mode="any", negate=True), Score)
    assert_type(assert_regex("a", "a|b", name="letters"), Score)
    assert_type(assert_number("1", 1, tolerance=0.5), Score)
    assert_type(assert_metric(response, case, "f1", threshold=1, preset="raw"), Score)


def structures(response: Response, case: Case) -> None:
    assert_type(assert_json(response, schema={"type": "object"}, fenced=True), Score)
    assert_type(assert_json(response, equals=case, subset={"a": 1}), Score)
    assert_type(assert_tool_calls(response, ["search"], mode="superset"), Score)
    assert_type(assert_tool_calls([{"name": "search"}], case), Score)


def kinds(case: Case, generator: Generator) -> None:
    assert_type(assert_case(case, generator), Score)
    assert_type(assert_case(case, "B", kind="choice", label_base=1), Score)
    assert_type(assert_case(case, generator, kind="text", threshold=None), Score)
    assert_type(pooled([f1("a", "b")]), float | None)


def scores(response: Response, case: Case) -> None:
    assert_type(f1(response, case), Score)
    assert_type(score("exact", "a", "a", preset="raw"), Score)
    assert_type(f1(response, case) >= 0.6, bool)
    assert f1(response, case) >= 0.6
    assert exact("a", "a")
    assert_type(float(f1("a", "b")), float)
    assert_type(f1("a", "b").value, float | None)


@metric("politeness", higher_is_better=True)
def politeness(text: str, expected: Any) -> float:
    return float("please" in text)


def without_pytest() -> None:
    cases = load_cases("data/capitals.jsonl", columns={"input": "question"})
    assert_type(cases, list[Case])
    write_cases(cases, Path("out.csv"))
    assert_type(read_verdict("PASS: right"), Verdict)
    assert_type(settle("Response A", "Response B"), Pairwise)
    try:
        assert_exact("a", "b")
    except EvalAssertionError as exc:
        assert_type(exc, EvalAssertionError)
    except UnscoredError as exc:
        assert_type(exc.cause, str)


def errors(exc: LLMEvalError) -> None:
    if isinstance(exc, ConfigError | DatasetError | TemplateError | MissingExtraError):
        assert_type(str(exc), str)
        known: UserError = exc
        raise known
    warnings.simplefilter("error", EvaluationWarning)


def numbers() -> None:
    assert_type(wilson_interval(3, 3), tuple[float, float])
    assert_type(mcnemar_exact(6, 0), float)
    assert_type(pass_at_k(5, 4, 2), float)
    assert_type(pass_hat_k(5, 4, 2), float)
    assert_type(assert_choice("B", "B", choices=["Lima", "Cusco"]), Score)


# --- a client of one's own --------------------------------------------------------------


class Plain:
    def generate(self, prompt: Prompt, **params: Any) -> str:
        return prompt.text


class Awaited:
    async def generate(self, prompt: Prompt, **params: Any) -> tuple[str, float]:
        return prompt.text, 0.001


class NoClient:
    def answer(self, prompt: Prompt) -> str:
        return prompt.text


plain: Client = Plain()
awaited: Client = Awaited()
no_client: Client = NoClient()  # type: ignore[assignment]


# --- mistakes that a type checker finds -------------------------------------------------


def mistakes(response: Response, case: Case, judge: Judge) -> None:
    assert_f1(response, case)  # type: ignore[call-arg]
    assert_f1(response, case, threshold="0.6")  # type: ignore[arg-type]
    assert_exact(response, case, presett="raw")  # type: ignore[call-arg]
    assert_contains(response, case, mode="some")  # type: ignore[arg-type]
    assert_judge(response, "Lima", judge)  # type: ignore[arg-type]
    assert_judge(response, case, judge, expect="pass")  # type: ignore[arg-type]
    assert_pairwise(response, case, judge)  # type: ignore[call-arg]
    judge(response, case, rubrik="It is short.")  # type: ignore[call-arg]
    case.id = "another"  # type: ignore[misc]
    response.txt  # type: ignore[attr-defined]  # noqa: B018
    pytest_llmeval.assert_f2  # type: ignore[attr-defined]  # noqa: B018

"""assert_judge and assert_pairwise: asking, taking what was asked before, refusing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pytest_llmeval import (
    Case,
    ConfigError,
    EvalAssertionError,
    Pairwise,
    Response,
    TemplateError,
    UnscoredError,
    Verdict,
    assert_judge,
    assert_pairwise,
)
from pytest_llmeval.clients.fake import FakeBackend, Line
from pytest_llmeval.evaluate import Generator, Judge
from pytest_llmeval.loop import LoopThread
from pytest_llmeval.recorder import CaseRun, SampleRun, begin, end
from pytest_llmeval.types import Source

CASE = Case(id="peru", input="Capital of Peru?", expected="Lima")
BARE = Case(id="bare", input="Capital of Peru?")
PASS, FAIL = Verdict(verdict="PASS", reason="right"), Verdict(verdict="FAIL")
WIN = Pairwise(
    score=1.0, consistent=True, outcome="win", first="Response B", swapped="Response A"
)
LOSS = Pairwise(score=0.0, consistent=True, outcome="loss")
TIE = Pairwise(score=0.5, consistent=True, outcome="tie")
TORN = Pairwise(
    score=None,
    consistent=False,
    outcome=None,
    cause="inconsistent",
    reason="the judge contradicted itself",
)


@pytest.fixture(scope="module")
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


@pytest.fixture
def running() -> Iterator[SampleRun]:
    case = Case(id="peru", source=Source(file="a.jsonl", line=3))
    sample = SampleRun(CaseRun(nodeid="t.py::t[peru]", test="t.py::t", case=case))
    begin(sample)
    yield sample
    end()


Saying = Callable[..., Judge]


@pytest.fixture
def saying(loop: LoopThread) -> Saying:
    """Makes a judge that gives scripted replies."""

    def make(*lines: Line | str) -> Judge:
        script = tuple(
            Line(reply=(line,)) if isinstance(line, str) else line for line in lines
        )
        backend = FakeBackend(name="grader", script=script)
        return Judge(
            client=Generator(role="judge", lookup=lambda _: backend, loop=loop)
        )

    return make


# --- a verdict --------------------------------------------------------------------------


def test_the_judge_is_asked_about_reply_and_case(
    running: SampleRun, saying: Saying
) -> None:
    case = Case(id="a", input="Peru?", expected=["Lima", "Ciudad"], context="An atlas.")

    score = assert_judge("It is Lima.", case, saying("PASS: right"), rubric="Names it.")

    assert (score.value, score.reason) == (1, "the judge said PASS")
    prompt = running.calls[0].prompt.text
    for text in ("It is Lima.", "Peru?", "Lima\nCiudad", "An atlas.", "Names it."):
        assert text in prompt
    assert (running.calls[0].role, running.calls[0].client) == ("judge", "grader")
    assert running.checks[0].response == "It is Lima."


def test_a_verdict_of_fail_fails(saying: Saying) -> None:
    with pytest.raises(
        EvalAssertionError, match="judge failed: the judge said FAIL: the"
    ):
        assert_judge("Cusco", CASE, saying("FAIL: the wrong city"))


def test_fail_can_be_what_is_expected(saying: Saying) -> None:
    assert (
        assert_judge("Cusco", CASE, saying("FAIL: the wrong city"), expect="FAIL").value
        == 1
    )
    with pytest.raises(
        EvalAssertionError, match="the judge said PASS, not FAIL: right"
    ):
        assert_judge("Cusco", CASE, saying("PASS: right"), expect="FAIL")


def test_a_long_reason_is_cut_between_words_in_the_first_line() -> None:
    verdict = Verdict(verdict="FAIL", reason="one two three " * 20)

    with pytest.raises(EvalAssertionError) as caught:
        assert_judge("x", CASE, verdict)

    first = str(caught.value).split("\n")[0]
    assert first.endswith("three one two three one two three one two…")


@pytest.mark.parametrize(
    ("case", "rubric", "criterion"),
    [
        (CASE, None, "it answers the question and agrees with the reference"),
        (BARE, None, "it answers the question correctly"),
        (BARE, "It is short.", "It is short."),
    ],
)
def test_without_a_rubric_the_reference_or_the_question_decides(
    running: SampleRun, saying: Saying, case: Case, rubric: str | None, criterion: str
) -> None:
    assert_judge("Lima", case, saying("PASS: right"), rubric=rubric)

    assert criterion in running.calls[0].prompt.text


def test_a_template_of_one_s_own_takes_inputs(
    running: SampleRun, saying: Saying
) -> None:
    assert_judge(
        "Lima",
        CASE,
        saying("PASS: right"),
        template="PASS or FAIL? {{ tone }}: {{ response }}",
        inputs={"tone": "warm"},
    )

    assert running.calls[0].prompt.text.startswith("PASS or FAIL? ")
    assert "warm" in running.calls[0].prompt.text


def test_a_client_can_judge_under_the_role_of_a_judge(
    running: SampleRun, saying: Saying
) -> None:
    client = saying("PASS: right").client
    further = Generator(role="generator", lookup=client.lookup, loop=client.loop)

    assert_judge("Lima", CASE, further)

    assert [call.role for call in running.calls] == ["judge"]


# --- no verdict -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "cause", "text"),
    [
        (
            Line(error="the server is down"),
            "judge",
            "judge unscored: the judge could not be asked: the server is down",
        ),
        (
            Line(reply=("PASS or FAIL?",)),
            "judge",
            "judge unscored: the judge's reply says neither PASS nor FAIL in the "
            "place of a verdict: 'PASS or FAIL?'",
        ),
        (
            Line(reply=("",)),
            "judge",
            "judge unscored: the judge's reply is empty (asked twice)",
        ),
        (
            Line(reply=("PASS: it is",), finish_reason="length"),
            "cut",
            "judge unscored: the judge's reply was cut off at its token limit "
            "(finish_reason length): raise max_tokens in its params; it ends 'PASS: it is'",
        ),
    ],
    ids=["down", "undecided", "empty", "cut"],
)
def test_without_a_verdict_the_case_is_unscored(
    running: SampleRun, saying: Saying, line: Line, cause: str, text: str
) -> None:
    with pytest.raises(UnscoredError) as caught:
        assert_judge("Lima", CASE, saying(line))

    assert str(caught.value) == text
    assert caught.value.cause == cause
    assert [(c.metric, c.passed, c.cause) for c in running.checks] == [
        ("judge", None, cause)
    ]


def test_a_client_that_judges_and_is_cut_off_is_a_cut_judge(saying: Saying) -> None:
    client = saying(Line(reply=("PASS",), finish_reason="length")).client
    further = Generator(role="grader", lookup=client.lookup, loop=client.loop)

    with pytest.raises(UnscoredError, match="the judge's reply was cut off") as caught:
        assert_judge("Lima", CASE, further)

    assert caught.value.cause == "cut"


def test_a_judge_that_is_down_ends_no_block_of_all_checks(
    running: SampleRun, saying: Saying
) -> None:
    def body() -> None:
        with running.all_checks():
            assert_judge("Lima", CASE, saying(Line(error="down")))
            assert_judge("Lima", CASE, FAIL, name="second")

    with pytest.raises(EvalAssertionError, match="1 failed, 1 unscored"):
        body()


def test_the_user_s_own_exception_stays_behind_the_error(loop: LoopThread) -> None:
    from pytest_llmeval.clients.callable import CallableBackend

    def grade(prompt: str) -> str:
        raise KeyError("no such rubric")

    backend = CallableBackend(name="app:grade", target=grade)
    judge = Judge(client=Generator(role="judge", lookup=lambda _: backend, loop=loop))

    with pytest.raises(UnscoredError, match="app:grade raised KeyError") as caught:
        assert_judge("Lima", CASE, judge)

    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("check", ["judge", "pairwise", "against"])
def test_an_empty_reply_of_a_model_is_not_shown_to_a_judge(
    running: SampleRun, saying: Saying, check: str
) -> None:
    empty = Response(text="", provider="openai", model="m", finish_reason="stop")

    checks: dict[str, Callable[[], object]] = {
        "judge": lambda: assert_judge(empty, CASE, saying("PASS: right")),
        "pairwise": lambda: assert_pairwise(empty, CASE, saying("Tie"), against="x"),
        "against": lambda: assert_pairwise("x", CASE, saying("Tie"), against=empty),
    }

    with pytest.raises(UnscoredError, match="m replied with an empty text") as caught:
        checks[check]()

    assert caught.value.cause == "empty"
    assert running.calls == []
    assert [c.passed for c in running.checks] == [None]


def test_an_empty_reply_is_judged_where_nothing_is_expected(saying: Saying) -> None:
    empty = Response(text="", provider="openai", model="m", finish_reason="stop")
    case = Case(id="a", input="Say nothing.", expected="")

    assert assert_judge(empty, case, saying("PASS: it says nothing")).value == 1


@pytest.mark.parametrize("name", ["response", "against"])
def test_none_is_no_reply(saying: Saying, name: str) -> None:
    given = {"response": "Lima", "against": "Lima", name: None}

    with pytest.raises(UnscoredError) as caught:
        assert_pairwise(
            given["response"], CASE, saying("Tie"), against=given["against"]
        )

    assert str(caught.value) == (
        f"pairwise unscored: there is no reply to judge: {name} is None"
    )


# --- arguments --------------------------------------------------------------------------


async def not_awaited() -> str:
    return "Lima"


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (
            lambda judge: assert_judge("a", CASE, judge, expect="pass"),  # type: ignore[arg-type]
            "expect of assert_judge knows no 'pass'; there are: PASS, FAIL",
        ),
        (
            lambda judge: assert_judge("a", CASE, judge, expect=None),  # type: ignore[arg-type]
            "expect of assert_judge knows no None; there are: PASS, FAIL",
        ),
        (
            lambda judge: assert_judge("a", CASE, judge, rubric=""),
            "a rubric says what a passing reply does, and '' doesn't",
        ),
        (
            lambda judge: assert_judge("a", CASE, judge, rubric=["x"]),  # type: ignore[arg-type]
            "a rubric says what a passing reply does, and ['x'] doesn't",
        ),
        (
            lambda judge: assert_judge("a", CASE, judge, inputs="x"),  # type: ignore[arg-type]
            "inputs are a mapping of a template's variables, not 'x'",
        ),
        (
            lambda judge: assert_judge("a", "Lima", judge),  # type: ignore[arg-type]
            "a judge is given a reply and its case (which has the question), and 'Lima' "
            "is no case",
        ),
        (
            lambda judge: assert_judge(CASE, "a", judge),  # type: ignore[arg-type]
            "and 'a' is no case",
        ),
        (
            lambda judge: assert_judge(not_awaited(), CASE, judge),
            "response is the coroutine 'not_awaited': await it",
        ),
        (
            lambda judge: assert_judge("a", CASE, not_awaited()),
            "judge is the coroutine 'not_awaited': await it",
        ),
        (
            lambda judge: assert_judge("a", CASE, "grader"),
            "'grader' can't judge: give the judge fixture, a client made by",
        ),
        (
            lambda judge: assert_judge("a", CASE, WIN),
            "assert_judge takes a Verdict; a Pairwise is assert_pairwise's",
        ),
        (
            lambda judge: assert_pairwise("a", CASE, PASS, against="b"),
            "assert_pairwise takes a Pairwise; a Verdict is assert_judge's",
        ),
        (
            lambda judge: assert_pairwise("a", CASE, judge, against=not_awaited()),
            "against is the coroutine 'not_awaited': await it",
        ),
        (
            lambda judge: assert_pairwise("a", CASE, judge, against=["b"]),
            "against is ['b'] (a list), and a reply is a Response or a text",
        ),
        (
            lambda judge: assert_pairwise("a", CASE, judge, against="b", expect="won"),
            "expect of assert_pairwise knows no 'won' (did you mean 'win'?); there are: "
            "win, tie, loss, inconsistent",
        ),
        (
            lambda judge: assert_pairwise("a", CASE, judge, against="b", expect=()),
            "expect of assert_pairwise is one of win, tie, loss, inconsistent, not ()",
        ),
        (
            lambda judge: assert_pairwise(
                "a", CASE, judge, against="b", score_map={"A": 0, "B": 0}
            ),
            "a score map tells at least two values apart",
        ),
    ],
)
def test_a_wrong_argument_is_told_before_anything_is_asked(
    running: SampleRun, saying: Saying, check: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        check(saying("PASS: fine"))

    assert message in str(caught.value)
    assert running.calls == []
    assert running.checks == []


@pytest.mark.parametrize("template", ["{{ respnse }}", "{% if %}", lambda case: "x"])
def test_a_template_that_can_not_be_used_is_told(saying: Saying, template: Any) -> None:
    with pytest.raises(TemplateError):
        assert_judge("a", CASE, saying("PASS: fine"), template=template)


def test_an_option_there_is_not_is_refused(saying: Saying) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'rubrik'"):
        saying("PASS: x")("a", CASE, rubrik="x")  # type: ignore[call-arg]


# --- a verdict given --------------------------------------------------------------------


def test_a_verdict_takes_the_place_of_the_judge(running: SampleRun) -> None:
    score = assert_judge("Lima", CASE, PASS, rubric="Names it.")

    assert score.value == 1
    assert score.details["rubric"] == "Names it."
    assert running.checks[0].response == "Lima"


def test_a_verdict_that_was_awaited_is_taken_with_its_rubric(
    loop: LoopThread, saying: Saying
) -> None:
    judge = saying("PASS: fine")
    verdict = loop.run(judge.acall("Lima", CASE, rubric="Names it."), instead="")

    assert assert_judge("Lima", CASE, verdict, rubric="Names it.").value == 1
    assert assert_judge("Lima", CASE, verdict).details["rubric"] == "Names it."


def test_an_undecided_verdict_is_unscored() -> None:
    with pytest.raises(
        UnscoredError, match="judge unscored: the judge gave no"
    ) as caught:
        assert_judge("Lima", CASE, Verdict(verdict=None))

    assert caught.value.cause == "judge"


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (
            lambda: assert_judge("Lima", CASE, Verdict(verdict="PASS", response="Oz")),
            "the Verdict was given for the reply 'Oz', and the check's is 'Lima'",
        ),
        (
            lambda: assert_judge(
                "a", CASE, Verdict(verdict="PASS", rubric="short"), rubric="long"
            ),
            "the Verdict was given for the rubric 'short', and the check's is 'long'",
        ),
        (
            lambda: assert_judge("a", CASE, PASS, template="{{ response }}"),
            "template= says how a judge is asked, and a Verdict was given, which has "
            "its answer: give template= where it was asked",
        ),
        (
            lambda: assert_pairwise(
                "a",
                CASE,
                Pairwise(score=1.0, consistent=True, outcome="win", against="c"),
                against="b",
            ),
            "the Pairwise was given for the other reply 'c', and the check's is 'b'",
        ),
        (
            lambda: assert_pairwise(
                "a",
                CASE,
                Pairwise(score=1.0, consistent=True, outcome="win", response="c"),
                against="b",
            ),
            "the Pairwise was given for the reply 'c', and the check's is 'a'",
        ),
        (
            lambda: assert_pairwise("a", CASE, WIN, against="b", score_map={"A": 1}),
            "score_map= says how a judge is asked, and a Pairwise was given",
        ),
    ],
)
def test_what_was_said_about_something_else_is_refused(
    check: Callable[[], object], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        check()

    assert message in str(caught.value)


# --- two replies ------------------------------------------------------------------------


def test_both_orders_are_asked_and_settled(running: SampleRun, saying: Saying) -> None:
    judge = saying(
        Line(
            match="Lima\n<<<end of response B", reply=("Better.\nVerdict: Response B",)
        ),
        Line(reply=("Better.\nVerdict: Response A",)),
    )

    with pytest.raises(EvalAssertionError):
        assert_pairwise("Lima", CASE, saying("Verdict: Tie"), against="x", expect="win")
    score = assert_pairwise("Lima", CASE, judge, against="Cusco", name="order")

    assert score.value == 1
    assert score.reason == "the judge found it better than the other"
    assert len(running.calls) == 4


@pytest.mark.parametrize(
    ("settled", "expect", "value"),
    [
        (WIN, ("win", "tie"), 1),
        (TIE, ["win", "tie"], 1),
        (LOSS, {"loss"}, 1),
        (LOSS, "loss", 1),
        (TORN, "inconsistent", 1),
        (TORN, ("win", "inconsistent"), 1),
        (LOSS, ("win", "tie"), 0),
        (TIE, "win", 0),
        (WIN, "inconsistent", 0),
        (TORN, ("win", "tie", "loss"), None),
    ],
)
def test_the_outcomes_that_pass_can_be_named(
    settled: Pairwise, expect: Any, value: int | None
) -> None:
    outcome: float | None
    try:
        outcome = assert_pairwise("a", CASE, settled, against="b", expect=expect).value
    except EvalAssertionError:
        outcome = 0
    except UnscoredError:
        outcome = None

    assert outcome == value


def test_a_contradiction_is_unscored_with_its_cause() -> None:
    with pytest.raises(UnscoredError, match="the judge contradicted itself") as caught:
        assert_pairwise("a", CASE, TORN, against="b")

    assert caught.value.cause == "inconsistent"


def test_a_pair_that_settled_nothing_is_unscored() -> None:
    nothing = Pairwise(score=None, consistent=None, outcome=None)

    with pytest.raises(UnscoredError, match="the judge settled nothing") as caught:
        assert_pairwise("a", CASE, nothing, against="b")

    assert caught.value.cause == "judge"


def test_one_order_alone_is_asked_where_it_is_wished(
    running: SampleRun, saying: Saying
) -> None:
    score = assert_pairwise(
        "a", CASE, saying("Verdict: Response B"), against="b", consistency=False
    )

    assert score.reason == (
        "the judge found it better than the other (asked in one order only)"
    )
    assert len(running.calls) == 1

"""The assertion helpers over metrics: what they return, raise, record and refuse."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from pytest_llmeval import (
    Case,
    ConfigError,
    EvalAssertionError,
    Message,
    Pairwise,
    Response,
    Score,
    UnscoredError,
    UserError,
    Verdict,
    assert_contains,
    assert_exact,
    assert_f1,
    assert_judge,
    assert_metric,
    assert_number,
    assert_pairwise,
    assert_regex,
)
from pytest_llmeval.metrics import metric
from pytest_llmeval.recorder import CaseRun, SampleRun, begin, end

CASE = Case(id="peru", input="Capital of Peru?", expected="Lima")

Check = Callable[..., Score]

#: Each helper with an expected value that the reply "Lima 1" meets and "Quito 2" doesn't.
HELPERS: list[tuple[Check, Any]] = [
    (assert_exact, "Lima 1"),
    (lambda r, e, **k: assert_f1(r, e, threshold=0.9, **k), "Lima 1"),
    (assert_contains, "Lima"),
    (assert_regex, "^Lima"),
    (assert_number, 1),
    (lambda r, e, **k: assert_metric(r, e, "exact", threshold=1, **k), "Lima 1"),
]
NAMES = ["exact", "f1", "contains", "regex", "number", "metric"]
EACH = pytest.mark.parametrize(("check", "expected"), HELPERS, ids=NAMES)


@pytest.fixture
def running() -> Iterator[SampleRun]:
    sample = SampleRun(CaseRun(nodeid="t.py::t[peru]", test="t.py::t", case=CASE))
    begin(sample)
    yield sample
    end()


@pytest.fixture(scope="module", autouse=True)
def own_metrics() -> None:
    @metric("text_edits", high=100, higher_is_better=False)
    def text_edits(text: str, expected: str) -> int:
        return abs(len(text) - len(expected))

    @metric("text_signed", low=-1)
    def text_signed(text: str, expected: str, *, scale: float = 1) -> float:
        return scale * (1 if text == expected else -1)

    @metric("text_words", high=float("inf"))
    def text_words(text: str, expected: str) -> int:
        return len(text.split())


# --- what comes out ---------------------------------------------------------------------


@EACH
def test_a_check_that_holds_returns_its_score(check: Check, expected: Any) -> None:
    score = check("Lima 1", expected)

    assert score.value == 1


@EACH
def test_a_check_that_does_not_hold_raises(check: Check, expected: Any) -> None:
    with pytest.raises(EvalAssertionError, match=r"\n  reply     Quito 2"):
        check("Quito 2", expected)


@EACH
def test_a_response_counts_by_its_text(check: Check, expected: Any) -> None:
    assert check(Response(text="Lima 1", provider="openai"), expected).value == 1


@EACH
def test_a_case_stands_for_what_it_expects(check: Check, expected: Any) -> None:
    assert check("Lima 1", Case(id="a", expected=expected)).value == 1


@EACH
def test_the_check_is_kept_with_the_running_case(
    running: SampleRun, check: Check, expected: Any
) -> None:
    check("Lima 1", expected, name="mine")
    with pytest.raises(EvalAssertionError):
        check("Quito 2", expected, name="yours")

    assert [(c.name, c.passed) for c in running.checks] == [
        ("mine", True),
        ("yours", False),
    ]
    assert running.checks[1].response == "Quito 2"


def test_a_check_is_called_like_its_metric(running: SampleRun) -> None:
    assert_exact("Lima", CASE)

    assert [(c.metric, c.name) for c in running.checks] == [("exact", "exact")]


def test_a_second_check_of_a_metric_needs_a_name(running: SampleRun) -> None:
    assert_exact("Lima", CASE)

    with pytest.raises(UserError, match="has a check named 'exact' already"):
        assert_exact("Lima", CASE)


@pytest.mark.parametrize("name", ["", " ", 7, ["a"]])
def test_a_name_is_a_text(name: Any) -> None:
    with pytest.raises(
        ConfigError, match="name is what reports call the check, a text"
    ):
        assert_exact("Lima", CASE, name=name)


def test_outside_of_a_case_a_name_may_come_twice() -> None:
    assert_exact("Lima", CASE)
    assert_exact("Lima", CASE)


def test_in_a_block_of_all_checks_nothing_stops_before_its_end(
    running: SampleRun,
) -> None:
    def body() -> None:
        with running.all_checks():
            assert_exact("Quito", CASE)
            assert_f1("", Case(id="b"), threshold=0.5)

    with pytest.raises(EvalAssertionError, match="2 checks did not hold") as caught:
        body()

    assert "(1 failed, 1 unscored)" in str(caught.value)


# --- what can't be scored ---------------------------------------------------------------


@EACH
def test_a_row_that_expects_nothing_is_unscored(
    running: SampleRun, check: Check, expected: Any
) -> None:
    row = Case(id="a", fields={"question": "x"})

    with pytest.raises(UnscoredError) as caught:
        check("Lima", row)

    assert "unscored: case 'a' has no expected value" in str(caught.value)
    assert caught.value.cause == "data"
    assert [c.passed for c in running.checks] == [None]


@EACH
def test_none_as_expected_says_what_to_give(check: Check, expected: Any) -> None:
    with pytest.raises(UnscoredError, match="expected is None: give a text") as caught:
        check("Lima", None)

    assert caught.value.cause == "data"


@EACH
def test_no_reply_is_unscored(check: Check, expected: Any) -> None:
    with pytest.raises(UnscoredError, match="there is no reply to score") as caught:
        check(None, expected)

    assert caught.value.cause == "application"


@EACH
def test_an_empty_reply_of_a_model_is_unscored(check: Check, expected: Any) -> None:
    empty = Response(text=" ", provider="openai", model="m", finish_reason="stop")

    with pytest.raises(UnscoredError, match="replied with white space only") as caught:
        check(empty, expected)

    assert caught.value.cause == "empty"


# --- what is no reply -------------------------------------------------------------------


async def a_coroutine() -> str:
    return "Lima 1"


async def an_async_generator() -> AsyncIterator[str]:
    yield "Lima 1"


def a_generator() -> Iterator[str]:
    yield "Lima 1"


class Completion:
    def __repr__(self) -> str:
        return f"Completion({'x' * 200})"


def a_future() -> Any:
    loop = asyncio.new_event_loop()
    try:
        return loop.create_future()
    finally:
        loop.close()


NO_REPLIES: list[tuple[Callable[[], Any], str]] = [
    (a_coroutine, "response is the coroutine 'a_coroutine': await it"),
    (a_future, "response is a Future to be awaited: await it"),
    (an_async_generator, "the generator 'an_async_generator': join what it yields"),
    (a_generator, "the generator 'a_generator': join what it yields to a text"),
    (
        lambda: CASE,
        "response is the case 'peru': the reply comes first, the case second",
    ),
    (lambda: Verdict(verdict="PASS"), "is a Verdict: give the reply it is about"),
    (
        lambda: Pairwise(score=None, consistent=None, outcome=None),
        "is a Pairwise: give the reply it is about",
    ),
    (lambda: Score(metric="f1", value=1.0), "is a Score: give the reply it is about"),
    (lambda: a_generator, "which is to be called: give what it returns"),
    (lambda: {"text": "Lima 1"}, "{'text': 'Lima 1'} (a dict), and a reply is a Resp"),
    (lambda: ["Lima 1"], "['Lima 1'] (a list), and a reply is a Response or a text"),
    (lambda: b"Lima 1", "b'Lima 1' (a bytes), and a reply is a Response or a text"),
    (lambda: Message(role="user", content="Lima 1"), "(a Message), and a reply is"),
    (Completion, "xxx... (a Completion), and a reply is a Response or a text"),
]


@pytest.mark.parametrize("check", [check for check, _ in HELPERS], ids=NAMES)
@pytest.mark.parametrize(
    ("make", "message"), NO_REPLIES, ids=[message[:30] for _, message in NO_REPLIES]
)
def test_what_is_no_reply_is_refused(
    running: SampleRun, check: Check, make: Callable[[], Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        check(make(), "Lima 1")

    assert message in str(caught.value)
    assert len(str(caught.value)) < 250
    assert running.checks == []


@pytest.mark.filterwarnings("error")
def test_a_coroutine_that_is_refused_is_closed() -> None:
    with pytest.raises(ConfigError):
        assert_exact(a_coroutine(), CASE)

    gc.collect()


def test_an_expected_value_that_was_not_awaited_is_refused() -> None:
    with pytest.raises(ConfigError, match="expected is the coroutine 'a_coroutine'"):
        assert_exact("Lima 1", a_coroutine())


@pytest.mark.parametrize("number", [1, 1.0, Decimal(1), True])
def test_a_number_is_a_reply(number: Any) -> None:
    assert assert_contains(number, str(number).lower()).value == 1


# --- options ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (
            lambda row: assert_exact("a", row, preset="squad"),
            "exact has no preset 'squad' (did you mean 'squad_v2'?); there are: default",
        ),
        (
            lambda row: assert_f1("a", row, preset="hotpot", threshold=0.5),
            "f1 has no preset 'hotpot' (did you mean 'hotpotqa'?); there are: default",
        ),
        (
            lambda row: assert_contains("a", row, mode="al"),  # type: ignore[arg-type]
            "contains has no mode 'al' (did you mean 'all'?); there are: all, any",
        ),
        (
            lambda row: assert_number("1", row, tolerance=-1),
            "tolerance is a number of 0 or more, not -1",
        ),
        (
            lambda row: assert_metric("a", row, "f1", threshold=0.5, presett="raw"),
            "f1 has no option 'presett' (did you mean 'preset'?); it has: preset",
        ),
        (
            lambda row: assert_metric("a", row, "exct", threshold=0.5),
            "there is no metric 'exct' (did you mean 'exact'?); there are: ",
        ),
    ],
)
@pytest.mark.parametrize("row", [CASE, Case(id="broken")], ids=["row", "broken row"])
def test_a_typo_is_told_at_once(
    check: Callable[[Case], object], message: str, row: Case
) -> None:
    with pytest.raises(ConfigError) as caught:
        check(row)

    assert message in str(caught.value)


def test_a_pattern_of_the_test_that_is_none_is_told() -> None:
    with pytest.raises(ConfigError, match=r"'\(' is not a regular expression at char"):
        assert_regex("a", "(")


def test_options_reach_the_metric() -> None:
    assert_contains("Lima", "lima")
    assert_metric("a", "a", "text_signed", threshold=0.5, scale=0.5)

    with pytest.raises(EvalAssertionError):
        assert_contains("Lima", "lima", ignore_case=False)
    with pytest.raises(EvalAssertionError):
        assert_contains("Lima", "Lima", negate=True)
    with pytest.raises(EvalAssertionError):
        assert_regex("Lima", "Lima", negate=True)
    with pytest.raises(EvalAssertionError):
        assert_number("1", "1.5", tolerance=0.4)


# --- thresholds -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric_name", "threshold", "message"),
    [
        (
            "f1",
            60,
            "threshold=60 is not on the scale of f1, 0 to 1 (60 % is 0.6)",
        ),
        ("f1", 100, "threshold=100 is not on the scale of f1, 0 to 1 (100 % is 1)"),
        ("f1", 101, "threshold=101 is not on the scale of f1, 0 to 1"),
        ("f1", -0.1, "threshold=-0.1 is not on the scale of f1, 0 to 1"),
        ("f1", float("nan"), "threshold=nan is not on the scale of f1, 0 to 1"),
        ("f1", "0.6", "threshold is a number on the scale of f1, 0 to 1, not '0.6'"),
        ("f1", True, "threshold is a number on the scale of f1, 0 to 1, not True"),
        ("f1", None, "threshold is a number on the scale of f1, 0 to 1, not None"),
        ("exact", 2, "threshold=2 is not on the scale of exact, 0 to 1 (2 % is 0.02)"),
        (
            "text_signed",
            -2,
            "threshold=-2 is not on the scale of text_signed, -1 to 1",
        ),
        (
            "text_edits",
            101,
            "threshold=101 is not on the scale of text_edits, 0 to 100",
        ),
        (
            "text_words",
            float("inf"),
            "threshold=inf is not on the scale of text_words, 0 to inf",
        ),
    ],
)
@pytest.mark.parametrize("row", [CASE, Case(id="broken")], ids=["row", "broken row"])
def test_a_threshold_on_another_scale_is_told(
    metric_name: str, threshold: Any, message: str, row: Case
) -> None:
    with pytest.raises(ConfigError) as caught:
        assert_metric("a", row, metric_name, threshold=threshold)

    assert str(caught.value) == message


def test_the_threshold_of_f1_is_checked_too() -> None:
    with pytest.raises(ConfigError, match="threshold=60 is not on the scale of f1"):
        assert_f1("a", CASE, threshold=60)


@pytest.mark.parametrize("threshold", [0, 0.5, 1, 1.0, Fraction(1, 2)])
def test_the_ends_of_the_scale_belong_to_it(threshold: Any) -> None:
    assert assert_f1("Lima", CASE, threshold=threshold).value == 1


def test_a_value_at_the_bar_holds_in_spite_of_float_noise() -> None:
    assert assert_f1("x y z", "x y w", threshold=2 / 3 + 1e-12).value == pytest.approx(
        2 / 3
    )


def test_where_lower_is_better_a_threshold_is_a_greatest_value(
    running: SampleRun,
) -> None:
    assert_metric("Limas", CASE, "text_edits", threshold=1)
    with pytest.raises(EvalAssertionError, match="text_edits .* = 2.00, above the bar"):
        assert_metric("Limass", CASE, "text_edits", threshold=1, name="again")

    assert [c.operator for c in running.checks] == ["<=", "<="]
    assert not running.checks[0].higher_is_better


def test_a_scale_without_end_takes_any_number() -> None:
    assert assert_metric("a b c", "x", "text_words", threshold=3).value == 3


# --- where it is shown ------------------------------------------------------------------


@pytest.mark.parametrize(
    "check",
    [
        lambda: assert_exact("Quito", CASE),
        lambda: assert_exact("Lima", Case(id="b")),
        lambda: assert_exact(a_coroutine(), CASE),
        lambda: assert_exact("Lima", a_coroutine()),
        lambda: assert_exact("Lima", CASE, preset="none"),
        lambda: assert_exact("Lima", CASE, name=""),
        lambda: assert_f1("Lima", CASE, threshold=60),
        lambda: assert_metric("Lima", CASE, "f3", threshold=0.5),
        lambda: assert_judge("Lima", CASE, "grader"),
        lambda: assert_judge("Lima", CASE, Verdict(verdict="FAIL")),
        lambda: assert_judge("Lima", CASE, Verdict(verdict=None)),
        lambda: assert_judge("Lima", CASE, Verdict(verdict="PASS", response="x")),
        lambda: assert_judge(None, CASE, Verdict(verdict="PASS")),
        lambda: assert_pairwise("Lima", CASE, "grader", against="x", expect="won"),
    ],
)
def test_the_last_line_shown_is_the_test_s_own(check: Callable[[], object]) -> None:
    with pytest.raises((EvalAssertionError, UserError, UnscoredError)) as caught:
        check()

    _, _, *ours = caught.traceback
    assert ours
    shown = [
        entry for entry in ours if not entry.frame.f_locals.get("__tracebackhide__")
    ]
    assert shown == []

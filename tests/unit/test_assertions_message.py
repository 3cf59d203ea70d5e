"""The text of a failure, whole, as it is read on a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from textwrap import dedent
from typing import Any

import pytest

from pytest_llmeval import (
    Case,
    EvalAssertionError,
    Pairwise,
    Prompt,
    Response,
    UnscoredError,
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
from pytest_llmeval.assertions.message import (
    explain_check,
    headline,
    unscored_text,
    where_lines,
)
from pytest_llmeval.diffs import columns
from pytest_llmeval.metrics import metric
from pytest_llmeval.recorder import CaseRun, SampleRun, begin, current_sample, end
from pytest_llmeval.types import Call, Check, Score, Source

CASE = Case(
    id="peru",
    input="What is the capital of Peru?",
    expected="The capital of Peru is Lima",
    source=Source(file="data/capitals.jsonl", line=3),
)
LOSS = Pairwise(
    score=0.0,
    consistent=True,
    outcome="loss",
    first="Response A",
    swapped="Response B",
    first_reason="it names Lima",
    swapped_reason="B names the capital of today",
)
TORN = Pairwise(
    score=None,
    consistent=False,
    outcome=None,
    first="Response A",
    swapped="Response A",
    first_reason="it names Lima",
    cause="inconsistent",
    reason="the judge contradicted itself",
)
#: What pytest puts before each line of an exception raised in a test's body.
BEFORE = len("E       ")


@pytest.fixture
def running() -> Iterator[SampleRun]:
    run = CaseRun(
        nodeid="test_a.py::test_a[peru]",
        test="test_a.py::test_a",
        case=CASE,
        rerun="pytest 'test_a.py::test_a[peru]'",
    )
    sample = SampleRun(run)
    begin(sample)
    yield sample
    end()


def reply(text: str, prompt: str = "Question: the capital of Peru?") -> Response:
    """Return a reply of the model under test, as if it had been asked for here."""
    response = Response(text=text, provider="openai", model="m")
    sample = current_sample()
    if sample is not None:
        call = Call(
            role="generator",
            client="app",
            prompt=Prompt.of(prompt),
            response=response,
        )
        sample.add_call(call)
    return response


def text_of(check: Callable[[], object]) -> str:
    with pytest.raises((EvalAssertionError, UnscoredError)) as caught:
        check()
    return str(caught.value)


def golden(text: str) -> str:
    return dedent(text).strip("\n")


# --- one whole text a check -------------------------------------------------------------

GOLDEN: list[tuple[str, Callable[[], object], str]] = [
    (
        "exact",
        lambda: assert_exact(reply("The capital is Cusco."), CASE),
        """
        exact failed: the reply is not 'The capital of Peru is Lima'
          expected  The capital of Peru is Lima
          reply     The capital is Cusco.
          diff      capital [-of peru-] is [-lima-] {+cusco+}
          removed   letter case; articles: the; punctuation: .
        """,
    ),
    (
        "f1",
        lambda: assert_f1(reply("The capital is Cusco."), CASE, threshold=0.75),
        """
        f1 = 0.50, below the bar of 0.75
          expected  The capital of Peru is Lima
          reply     The capital is Cusco.
          diff      capital [-of peru-] is [-lima-] {+cusco+}
          removed   letter case; articles: the; punctuation: .
          missing   of peru lima
          extra     cusco
          precision 0.67, recall 0.40
        """,
    ),
    (
        "contains",
        lambda: assert_contains(reply("Cusco, no doubt."), ["Lima", "Peru"]),
        """
        contains failed: the reply does not contain 'Lima', 'Peru'
          missing   Lima
          missing   Peru
          reply     Cusco, no doubt.
        """,
    ),
    (
        "regex",
        lambda: assert_regex(reply("Cusco, no doubt."), r"\\bLima\\b"),
        """
        regex failed: no part of the reply matches /\\\\bLima\\\\b/
          pattern   \\\\bLima\\\\b
          reply     Cusco, no doubt.
        """,
    ),
    (
        "number",
        lambda: assert_number(reply("It has 10 districts, or 41."), 43),
        """
        number failed: the reply says 41, not 43
          expected  43
          read      41 (the last number)
          reply     It has 10 districts, or 41.
        """,
    ),
]
JUDGED: list[tuple[str, Callable[[], object], str]] = [
    (
        "judge",
        lambda: assert_judge(
            reply("The capital is Cusco."),
            CASE,
            Verdict(verdict="FAIL", reason="Cusco was the capital of the Incas."),
            rubric="Names the right city.",
        ),
        """
        judge failed: the judge said FAIL: Cusco was the capital of the Incas.
        {prompt}
          reply     The capital is Cusco.
          judge     Cusco was the capital of the Incas.
          rubric    Names the right city.
          expected  The capital of Peru is Lima
        """,
    ),
    (
        "pairwise",
        lambda: assert_pairwise(
            reply("The capital is Cusco."), CASE, LOSS, against="Lima", name="vs old"
        ),
        """
        pairwise (vs old) failed: the judge found it worse than the other
        {prompt}
          reply     The capital is Cusco.
          against   Lima
          first     Response A (the reply is B): it names Lima
          swapped   Response B (the reply is A): B names the capital of today
        """,
    ),
]
PROMPT = "  prompt    Question: the capital of Peru?"
WHERE = """
  row       data/capitals.jsonl:3
  rerun     pytest 'test_a.py::test_a[peru]'"""


@pytest.mark.parametrize(
    ("check", "text"), [p[1:] for p in GOLDEN], ids=[p[0] for p in GOLDEN]
)
def test_a_failure_says_what_by_how_much_why_and_where(
    running: SampleRun, check: Callable[[], object], text: str
) -> None:
    assert text_of(check) == f"{golden(text)}\n{PROMPT}{WHERE}"


@pytest.mark.parametrize(
    ("check", "text"), [p[1:] for p in JUDGED], ids=[p[0] for p in JUDGED]
)
def test_what_a_judge_said_follows_what_it_was_shown(
    running: SampleRun, check: Callable[[], object], text: str
) -> None:
    assert text_of(check) == golden(text).replace("{prompt}", PROMPT) + WHERE


@pytest.mark.parametrize(
    ("check", "text"), [p[1:] for p in GOLDEN], ids=[p[0] for p in GOLDEN]
)
def test_outside_of_a_case_the_text_has_neither_prompt_nor_row(
    check: Callable[[], object], text: str
) -> None:
    assert text_of(check) == golden(text)


@pytest.mark.parametrize(
    ("check", "text"), [p[1:] for p in JUDGED], ids=[p[0] for p in JUDGED]
)
def test_outside_of_a_case_a_judge_s_text_has_neither_too(
    check: Callable[[], object], text: str
) -> None:
    assert text_of(check) == golden(text).replace("{prompt}\n", "")


def test_an_unscored_check_says_why_in_a_line(running: SampleRun) -> None:
    text = text_of(lambda: assert_pairwise("Cusco", CASE, TORN, against="Lima"))

    assert text == "pairwise unscored: the judge contradicted itself"


def test_what_the_judge_said_in_both_orders_explains_an_unscored_pair(
    running: SampleRun,
) -> None:
    text_of(lambda: assert_pairwise("Cusco", CASE, TORN, against="Lima"))

    assert explain_check(running.checks[0]) == [
        "reply     Cusco",
        "against   Lima",
        "first     Response A (the reply is B): it names Lima",
        "swapped   Response A (the reply is A)",
    ]


def test_an_order_that_was_not_asked_is_not_shown() -> None:
    once = Pairwise(score=0.0, consistent=None, outcome="loss", first="Response A")

    text = text_of(lambda: assert_pairwise("Cusco", CASE, once, against="Lima"))

    assert "worse than the other (asked in one order only)" in text
    assert "swapped" not in text


def test_an_order_without_a_label_says_why() -> None:
    deaf = Pairwise(
        score=None,
        consistent=None,
        outcome=None,
        first="Tie",
        swapped_reason="the reply names none of 'A', 'B' plainly: 'Hm.'",
        cause="judge",
        reason="no label",
    )
    score = Score(
        metric="pairwise",
        value=None,
        details={
            "first": (deaf.first, deaf.first_reason),
            "swapped": (deaf.swapped, deaf.swapped_reason),
        },
    )

    assert explain_check(score.check("==", 1)) == [
        "first     Tie (the reply is B)",
        "swapped   no label (the reply is A): the reply names none of 'A', 'B'",
        "          plainly: 'Hm.'",
    ]


def test_a_judge_that_could_not_be_asked_is_explained_by_nothing() -> None:
    score = Score(metric="judge", value=None, reason="down", cause="judge")

    assert explain_check(score.check("==", 1)) == []


def test_an_empty_reply_is_shown_as_one() -> None:
    text = text_of(lambda: assert_judge("", CASE, Verdict(verdict="FAIL")))

    assert "  reply     (an empty text)\n  judge     (no reason)" in text


# --- the first line ---------------------------------------------------------------------


def check_of(value: float | None, operator: str, bar: float, **more: Any) -> Check:
    return Score(metric="f1", value=value, **more).check(operator, bar)


@pytest.mark.parametrize(
    ("value", "operator", "bar", "line"),
    [
        (0.5, ">=", 0.6, "f1 = 0.50, below the bar of 0.6"),
        (0.5, "<=", 0.25, "f1 = 0.50, above the bar of 0.25"),
        (0.5, ">", 0.5, "f1 = 0.50, and should be > 0.5"),
        (0.5, "==", 1, "f1 = 0.50, and should be == 1"),
        (0.5, "!=", 0.5, "f1 = 0.50, and should be != 0.5"),
        (0.5999, ">=", 0.6, "f1 = 0.5999, below the bar of 0.6"),
        (0.6666, ">=", 2 / 3, "f1 = 0.6666, below the bar of 0.666667"),
        (0.6001, "<=", 0.6, "f1 = 0.6001, above the bar of 0.6"),
        (0.59999999, ">=", 0.6, "f1 = 0.599999990, below the bar of 0.6"),
        (1 / 3, "!=", 1 / 3, "f1 = 0.3333333333333333, and should be != 0.333333"),
        (12345.0, ">=", 20000, "f1 = 12345.00, below the bar of 20000"),
        (None, ">=", 0.6, "f1 = unscored, below the bar of 0.6"),
    ],
)
def test_the_first_line_never_rounds_a_value_over_its_bar(
    value: float | None, operator: str, bar: float, line: str
) -> None:
    assert headline(check_of(value, operator, bar)) == line


@pytest.mark.parametrize(
    ("operator", "bar", "reason", "line"),
    [
        ("==", 1, "it is rude", "f1 failed: it is rude"),
        (">=", 1, "it is rude", "f1 failed: it is rude"),
        ("==", 1, "", "f1 failed"),
        (">=", 1, "", "f1 = 0.00, below the bar of 1"),
    ],
)
def test_a_pass_or_fail_metric_says_its_reason(
    operator: str, bar: float, reason: str, line: str
) -> None:
    check = check_of(0.0, operator, bar, binary=True, reason=reason)

    assert headline(check) == line


def test_the_name_of_a_check_stands_behind_its_metric() -> None:
    check = Score(metric="f1", value=0.0).check(">=", 0.6, name="tone")

    assert headline(check) == "f1 (tone) = 0.00, below the bar of 0.6"


def test_a_check_without_its_score_is_explained_by_nothing() -> None:
    check = check_of(0.5, ">=", 0.6)

    assert explain_check(Check.from_json(check.to_json())) == []


def test_a_lower_value_that_is_better_is_above_its_bar() -> None:
    @metric("message_edits", high=100, higher_is_better=False)
    def message_edits(text: str, expected: str) -> tuple[float, str]:
        return abs(len(text) - len(expected)), "lengths differ"

    text = text_of(lambda: assert_metric("abc", "a", "message_edits", threshold=1))

    assert text == golden(
        """
        message_edits = 2.00, above the bar of 1
          reason    lengths differ
          expected  a
          reply     abc
        """
    )


# --- the prompt -------------------------------------------------------------------------


def test_the_prompt_shown_is_the_one_that_was_answered_by_this_reply(
    running: SampleRun,
) -> None:
    first = reply("Cusco", prompt="the first question")
    reply("Quito", prompt="the second question")

    text = text_of(lambda: assert_exact(first, CASE))

    assert "prompt    the first question" in text


def test_of_a_part_of_a_reply_the_last_prompt_is_shown(running: SampleRun) -> None:
    answer = reply("The answer: Cusco", prompt="the question")

    text = text_of(lambda: assert_exact(answer.extract("Cusco"), CASE))

    assert "prompt    the question" in text


def test_of_a_long_prompt_the_end_is_shown(running: SampleRun) -> None:
    shots = "".join(f"Question {n}\nAnswer {n}\n" for n in range(1, 50))
    answer = reply("Cusco", prompt=f"{shots}The capital of Peru?\n")

    text = text_of(lambda: assert_exact(answer, CASE))

    shown = [line[len("  prompt    ") :] for line in text.splitlines()]
    start = shown.index("[… 1006 characters before this …]")
    assert shown[start + 1 : start + 7] == [
        "Answer 47",
        "Question 48",
        "Answer 48",
        "Question 49",
        "Answer 49",
        "The capital of Peru?",
    ]


@pytest.mark.parametrize(
    ("role", "origin"), [("judge", "live"), ("generator", "column")]
)
def test_neither_a_judge_s_prompt_nor_that_of_a_column_is_shown(
    running: SampleRun, role: str, origin: Any
) -> None:
    response = Response(text="Cusco", provider="x", origin=origin)
    call = Call(role=role, client="c", prompt=Prompt.of("hidden"), response=response)
    running.add_call(call)

    assert "prompt" not in text_of(lambda: assert_exact(response, CASE))


def test_the_prompt_of_a_further_client_is_shown(running: SampleRun) -> None:
    response = Response(text="Cusco", provider="x")
    call = Call(role="app", client="c", prompt=Prompt.of("shown"), response=response)
    running.add_call(call)

    assert "prompt    shown" in text_of(lambda: assert_exact(response, CASE))


def test_a_rerun_command_is_never_cut() -> None:
    command = f"pytest 'test_a.py::test_a[{'x' * 300}]'"
    run = CaseRun(nodeid="n", test="t", case=Case(id="a"), rerun=command)

    assert where_lines(run) == [f"rerun     {command}"]


# --- hostile texts ----------------------------------------------------------------------

HOSTILE = [
    "\x1b[2J\x1b[31mred\x1b[0m \x07 \x9b31m",
    "\u202egnirts\u202c \u2066x\u2069 \u200b\u200f",
    "half \ud83d of \udc80 a character",
    "line\r\nends\rof\x0ball\x85kinds\u2028here\u2029\n\n\n",
    "x" * 100_000,
    "word " * 20_000,
    "line\n" * 20_000,
    "e" + "\u0301" * 100_000,
    "漢字" * 50_000,
    "\x1b" * 100_000,
]
ATTACKED: dict[str, Callable[[str], object]] = {
    "exact": lambda text: assert_exact(reply(text, text), f"{text} no", name=text),
    "f1": lambda text: assert_f1(reply(text, text), f"a {text} b c", threshold=1),
    "contains": lambda text: assert_contains(reply(text, text), f"{text} no"),
    "negated": lambda text: assert_contains(
        reply(f"a {text} b", text), "b", negate=True
    ),
    "regex": lambda text: assert_regex(reply(text, text), r"\Aq(?#" + "z" * 999 + ")"),
    "number": lambda text: assert_number(reply(f"{text} 7", text), "8"),
    "judge": lambda text: assert_judge(
        reply(f"a{text}", text),
        Case(id=text, input=text, expected=text),
        Verdict(verdict="FAIL", reason=text, rubric=text),
    ),
    "judge unscored": lambda text: assert_judge(
        reply(f"a{text}", text), CASE, Verdict(verdict=None, reason=text)
    ),
    "pairwise": lambda text: assert_pairwise(
        reply(f"a{text}", text),
        CASE,
        Pairwise(
            score=0.0,
            consistent=True,
            outcome="loss",
            first=text,
            swapped=text,
            first_reason=f"b{text}",
            swapped_reason=f"b{text}",
        ),
        against=f"a{text}",
    ),
    "pairwise unscored": lambda text: assert_pairwise(
        reply(f"a{text}", text),
        CASE,
        Pairwise(score=None, consistent=None, outcome=None, reason=text),
        against=f"a{text}",
    ),
}


@pytest.mark.parametrize("check", ATTACKED.values(), ids=ATTACKED)
@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_leaves_its_line_or_fills_the_screen(
    running: SampleRun, check: Callable[[str], object], hostile: str
) -> None:
    first, *rest = text_of(lambda: check(hostile)).split("\n")

    assert all(line.isprintable() for line in (first, *rest))
    assert len("\n".join(rest).encode()) < 10_000
    assert len(rest) <= 45
    is_unscored = " unscored: " in first
    # The first line may take three lines of a terminal, a long reason more.
    assert columns(first) <= (2400 if is_unscored else 300)
    if not is_unscored:
        assert max(map(columns, rest)) + BEFORE <= 80


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_a_reason_of_a_user_s_metric_is_inert_and_bounded(hostile: str) -> None:
    failed = Score(metric="mine", value=0.0, binary=True, reason=hostile)
    unscored = Score(metric="mine", value=None, reason=hostile)

    assert headline(failed.check("==", 1)).isprintable()
    assert columns(headline(failed.check("==", 1))) < 200
    text = unscored_text(unscored.check("==", 1))
    assert text.replace("\n", "").isprintable()
    assert len(text) < 10_000


def test_the_reason_of_an_unscored_check_keeps_its_lines() -> None:
    score = Score(metric="f1", value=None, reason="it differs in\n  a\n  b")

    assert unscored_text(score.check(">=", 1)) == "f1 unscored: it differs in\n  a\n  b"

"""Kinds: what a row must hold, what is asked, how it is scored, by one line."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_llmeval import assert_case
from pytest_llmeval.errors import (
    ConfigError,
    EvalAssertionError,
    MissingExtraError,
    UnscoredError,
)
from pytest_llmeval.kinds import (
    KINDS,
    KindUse,
    check_rows,
    kind_named,
    kind_use,
    row_problem,
)
from pytest_llmeval.metrics import read_choices
from pytest_llmeval.prompts import Template, render
from pytest_llmeval.types import Case, Response, Source

DATAFLOW = {
    "key1_text_score": "text",
    "key2_qa": "qa",
    "key2_q_ma": "qa_multi",
    "key3_q_choices_a": "choice",
    "key3_q_choices_as": "choice_multi",
    "key3_q_a_rejected": "preference",
}
ROWS: dict[str, dict[str, Any]] = {
    "text": {"input": "Once upon a time."},
    "qa": {"input": "Capital of Peru?", "expected": "Lima"},
    "qa_multi": {"input": "Capital of Peru?", "expected": ["Lima", "City of Kings"]},
    "choice": {"input": "Capital of Peru?", "choices": ("Cusco", "Lima"), "label": 1},
    "choice_multi": {"input": "Prime?", "choices": ("2", "3", "4"), "labels": (0, 1)},
    "preference": {"input": "Why?", "better": "Because.", "rejected": "No."},
}


def case_of(kind: str, **changes: Any) -> Case:
    values = {**ROWS[kind], **changes}
    source = Source(file="d.jsonl", line=7)
    return Case(id="a", source=source, fields={"q": 1}, **values)


def prompt_of(kind: str, **changes: Any) -> str:
    prompt = KINDS[kind].prompt
    assert prompt is not None
    return render(Template.of(prompt), case_of(kind, **changes)).text


class Model:
    """Holds short texts to be likely; answers always the same."""

    def __init__(self, reply: str = "") -> None:
        self.reply = reply
        self.asked: list[str] = []

    def __call__(self, case: Case) -> str:
        self.asked.append(case.id)
        return self.reply

    def loglikelihood(self, context: str, continuation: str) -> float:
        self.asked.append(f"{context}|{continuation}")
        return -float(len(continuation))

    def loglikelihood_rolling(self, text: str) -> float:
        return -float(len(text))


@pytest.mark.parametrize(("alias", "name"), DATAFLOW.items())
def test_a_kind_has_dataflows_name_too(alias: str, name: str) -> None:
    assert kind_named(alias) is kind_named(name) is KINDS[name]


def test_an_unknown_kind_names_those_there_are() -> None:
    with pytest.raises(ConfigError) as caught:
        kind_use("choise")

    assert str(caught.value) == (
        "there is no kind 'choise' (did you mean 'choice'?); there are: text, qa, "
        "qa_multi, choice, choice_multi, preference"
    )


@pytest.mark.parametrize(
    ("kind", "reply", "metric"),
    [
        ("text", "", "perplexity"),
        ("qa", "lima.", "exact"),
        ("qa_multi", "The City of Kings", "exact"),
        ("choice", "The answer is (B).", "choice"),
        ("choice_multi", '{"choices": ["A", "B"]}', "choice"),
    ],
)
def test_each_kind_has_its_metric(kind: str, reply: str, metric: str) -> None:
    assert assert_case(case_of(kind), Model(reply), kind=kind).metric == metric


@pytest.mark.parametrize(
    ("kind", "reply"),
    [
        ("qa", "It is not Lima, it is Cusco"),
        ("qa_multi", "Cusco"),
        ("choice", "A"),
        ("choice_multi", "A"),
        ("preference", ""),
    ],
)
def test_each_kind_fails_what_is_wrong(kind: str, reply: str) -> None:
    with pytest.raises(EvalAssertionError):
        assert_case(case_of(kind), Model(reply), kind=kind)


@pytest.mark.parametrize("kind", ["text", "preference"])
def test_a_likelihood_needs_no_reply(kind: str) -> None:
    model = Model()
    assert_case(
        case_of(kind, **({"better": "N"} if kind != "text" else {})), model, kind=kind
    )

    assert "a" not in model.asked


def test_a_reply_is_asked_for_when_forced() -> None:
    model = Model("x")
    assert_case(case_of("preference", better="N"), model, kind="preference", force=True)

    assert model.asked[0] == "a"
    with pytest.raises(ConfigError, match="'text' has no question"):
        assert_case(case_of("text"), model, kind="text", force=True)


def test_a_choice_may_be_read_or_be_the_likeliest() -> None:
    model = Model("no idea")

    score = assert_case(case_of("choice"), model, kind="choice", metric="choice_loglik")

    assert score == 1
    assert model.asked == [
        f"Question: Capital of Peru?\nAnswer:| {name}" for name in ("Cusco", "Lima")
    ]


def test_a_value_without_a_bar_is_kept_and_holds() -> None:
    assert float(assert_case(case_of("text"), Model(), kind="text")) > 1
    with pytest.raises(EvalAssertionError, match="perplexity = .* above the bar of 2"):
        assert_case(case_of("text"), Model(), kind="text", threshold=2)
    with pytest.raises(UnscoredError, match="not finite"):
        assert_case(case_of("text"), float("nan"), kind="text")


def test_what_the_marker_says_may_be_changed_in_the_call() -> None:
    use = kind_use({"name": "choice", "label_base": 1})

    assert assert_case(case_of("choice", label=2), "B", kind=use) == 1
    assert assert_case(case_of("choice", label=1), "B", kind=use, label_base=0) == 1
    assert kind_use(use) is use


def test_a_reply_that_was_had_is_scored() -> None:
    assert (
        assert_case(case_of("qa"), Response(text="Lima", provider="openai"), kind="qa")
        == 1
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no kind is said: give it in the marker"),
        ({"kind": {"metric": "f1"}}, "kind is a name, or a mapping with name"),
        ({"kind": 3}, "kind is a name, or a mapping with name"),
        ({"kind": "qa", "metric": "exakt"}, "there is no metric 'exakt'"),
        ({"kind": "qa", "metric": "f1"}, "f1 is graded from 0 to 1: say which value"),
        ({"kind": "qa", "threshold": 60}, "threshold=60 is not on the scale of exact"),
        ({"kind": "qa", "label_base": 1}, "exact has no option 'label_base'"),
        ({"kind": "preference"}, "prefers asks the model how likely texts are"),
    ],
)  # fmt: skip
def test_a_mistake_is_told(arguments: dict[str, Any], message: str) -> None:
    kind = arguments.get("kind")
    row = case_of(kind if isinstance(kind, str) else "qa")

    with pytest.raises(ConfigError, match=re.escape(message)):
        assert_case(row, "Lima", **arguments)


def test_the_case_comes_first() -> None:
    with pytest.raises(ConfigError, match="takes the case first, and got 'Lima'"):
        assert_case("Lima", case_of("qa"), kind="qa")  # type: ignore[arg-type]


def test_a_missing_extra_is_told_when_the_kind_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sacrebleu", None)

    with pytest.raises(MissingExtraError) as caught:
        kind_use({"name": "qa", "metric": "bleu", "threshold": 0.5})

    assert str(caught.value) == (
        "bleu needs the extra 'overlap' (no module 'sacrebleu'): "
        "pip install 'pytest-llm-regression[overlap]'"
    )


@pytest.mark.parametrize(
    ("kind", "changes", "problem"),
    [
        ("text", {"input": " "}, "its input is ' '"),
        ("text", {"input": ["a"]}, "its input is ['a']"),
        ("qa", {"input": None}, "it has no input"),
        ("qa", {"expected": None}, "it has no expected value"),
        ("qa_multi", {"expected": "a;b"}, "its expected value is 'a;b', not a list"),
        ("qa_multi", {"expected": []}, "its list of expected values is empty"),
        ("choice", {"choices": None}, "it has no choices"),
        ("choice", {"choices": ()}, "it has no choices"),
        ("choice", {"label": None}, "it has no label"),
        (
            "choice",
            {"labels": (1,)},
            "it has labels, which make the kind 'choice_multi'",
        ),
        ("choice_multi", {"labels": None}, "it has no labels"),
        ("preference", {"better": ""}, "it has no better text"),
        ("preference", {"rejected": None}, "it has no rejected text"),
    ],
)
def test_a_row_that_is_none_of_the_kind_is_unscored(
    kind: str, changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(UnscoredError) as caught:
        assert_case(case_of(kind, **changes), Model("x"), kind=kind)

    assert caught.value.cause == "data"
    assert f"case 'a' (d.jsonl:7) is of the kind {kind!r}" in caught.value.reason
    assert f"and {problem}" in caught.value.reason
    assert caught.value.reason.endswith("columns: q")


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_row_has_no_problem(kind: str) -> None:
    assert row_problem(KINDS[kind], case_of(kind)) is None


def test_a_dataset_none_of_whose_rows_fits_is_refused() -> None:
    rows = [case_of("qa", expected=None), case_of("qa")]
    check_rows(kind_use("qa"), rows)  # one broken row is that row's

    with pytest.raises(ConfigError, match="no row fits: case 'a' .*has no expected"):
        check_rows(kind_use("qa"), rows[:1])


def choice_rows(*labels: Any) -> list[Case]:
    return [
        Case(id=f"r{n}", input="?", choices=("w", "x", "y", "z"), label=label)
        for n, label in enumerate(labels)
    ]


@pytest.mark.parametrize(
    ("labels", "base"),
    [
        ((0, 1, 2, 3), 0),
        ((1, 2, 3, 4), 1),
        (("1", "4"), 1),
        ((0.0, float("nan"), 3.0), 0),
        (("A", "d", "x"), 0),
        ((9, -1, "zz", 3), 0),
    ],
)
def test_labels_that_count_one_way_are_read(labels: tuple[Any, ...], base: int) -> None:
    check_rows(kind_use({"name": "choice", "label_base": base}), choice_rows(*labels))


@pytest.mark.parametrize(
    ("labels", "base", "message"),
    [
        (
            (1, 2, 4),
            0,
            "case 'r2' has the label 4 with 4 choices, which counts them from 1, not "
            "from 0: all rows would be off by one; say kind={'name': 'choice', "
            "'label_base': 1}",
        ),
        (
            (1, 0),
            1,
            "case 'r1' has the label 0 with 4 choices, which counts them from 0",
        ),
        ((0, "4"), 0, "and case 'r0' counts from 0: a data set counts one way"),
        ((0,), 2, "label_base is 0 or 1, the number of the first choice, not 2"),
    ],
)
def test_labels_that_would_be_off_by_one_are_refused(
    labels: tuple[Any, ...], base: int, message: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        check_rows(
            kind_use({"name": "choice", "label_base": base}), choice_rows(*labels)
        )


def test_several_labels_are_counted_one_way_too() -> None:
    row = case_of("choice_multi", labels=(1, 3))

    with pytest.raises(ConfigError, match=r"has the label \[1, 3\] with 3 choices"):
        check_rows(kind_use("choice_multi"), [row])


def test_choices_that_are_numbers_have_no_positions() -> None:
    row = Case(id="a", input="?", choices=("3", "4"), label="4")

    check_rows(kind_use("choice"), [row])


def test_prompts_ask_for_what_is_read() -> None:
    assert (
        prompt_of("qa")
        == prompt_of("qa_multi")
        == (
            "Question:\nCapital of Peru?\n\nReply with the answer alone, in as few words as "
            "it takes.\nAnswer:"
        )
    )
    assert prompt_of("preference") == "Question:\nWhy?\n\nAnswer:"
    assert prompt_of("choice", context="It is by the sea.") == (
        "Context:\nIt is by the sea.\n\nQuestion:\nCapital of Peru?\n\nChoices:\n"
        "A. Cusco\nB. Lima\n\nReply with the letter of the right choice and nothing "
        "else.\nAnswer:"
    )
    assert prompt_of("choice_multi", context=["One.", "Two."]).startswith(
        "Context:\nOne.\nTwo.\n\nQuestion:\nPrime?\n\nChoices:\nA. 2\nB. 3\nC. 4\n\n"
    )


def test_data_is_never_a_template() -> None:
    assert "{{ case }}" in prompt_of("qa", input="What is {{ case }}?")


def test_what_the_prompt_asks_for_is_read() -> None:
    reading = read_choices('{"choices": ["A", "C"]}', ["x", "y", "z"], multiple=True)

    assert reading.labels == ("A", "C")


def test_only_choices_have_a_label_base() -> None:
    uses: list[KindUse] = [kind_use(name) for name in KINDS]

    assert [use.label_base for use in uses] == [None, None, None, 0, 0, None]

"""What all metrics share: names, texts, users' own metrics, explanations."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from pytest_llmeval import metrics
from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.metrics import _custom, contains, exact, f1, number, regex
from pytest_llmeval.types import Case, Response, Score, Source

SILENT = Response(text=" ", provider="openai", model="m-1", finish_reason="stop")


@pytest.fixture(autouse=True)
def none_but_the_tests_own() -> Iterator[None]:
    yield
    _custom.REGISTERED.clear()


def test_a_metric_is_found_by_its_name() -> None:
    assert metrics.score("f1", "a b", "b c", preset="squad_v1") == 0.5 * 4 / 3


def test_a_metric_tells_what_it_is() -> None:
    declaration = metrics.get_metric("exact").declaration

    assert (declaration.name, declaration.binary, declaration.version) == (
        "exact",
        True,
        1,
    )


@pytest.mark.parametrize("name", metrics.metric_names())
def test_every_name_leads_to_a_function_of_that_name(name: str) -> None:
    assert getattr(metrics, name) is metrics.get_metric(name).function
    assert metrics.get_metric(name).name == name


def test_an_unknown_metric_names_those_there_are() -> None:
    with pytest.raises(ConfigError) as caught:
        metrics.score("exakt", "a", "b")

    assert str(caught.value) == (
        f"there is no metric 'exakt' (did you mean 'exact'?); there are: "
        f"{', '.join(metrics.metric_names())}. Your own is registered by "
        f"@metric('exakt')"
    )
    assert "exact, " in str(caught.value)


def test_an_unknown_option_names_those_there_are() -> None:
    with pytest.raises(ConfigError) as caught:
        metrics.score("number", "1", "1", tolerence=1)

    assert str(caught.value) == (
        "number has no option 'tolerence' (did you mean 'tolerance'?); it has: tolerance"
    )


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'bleu_'"):
        _ = metrics.bleu_  # type: ignore[attr-defined]


def test_a_metrics_module_is_imported_when_it_is_asked_for() -> None:
    code = (
        "import sys, pytest_llmeval.metrics as m; "
        "print([n for n in sys.modules if n.startswith('pytest_llmeval.metrics._f1')]); "
        "m.f1; print('pytest_llmeval.metrics._f1' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.split("\n")[:2] == ["[]", "True"]


@pytest.mark.parametrize("metric", [exact, f1, contains, regex, number])
def test_an_empty_reply_of_a_model_is_unscored(metric: Any) -> None:
    score = metric(SILENT, "5")

    assert (score.value, score.cause) == (None, "empty")
    assert score.reason == "m-1 replied with white space only (finish_reason stop)"


@pytest.mark.parametrize("metric", [exact, f1, contains, regex, number])
@pytest.mark.parametrize("provider", ["python", "column", ""])
def test_an_empty_reply_of_code_is_a_reply(metric: Any, provider: str) -> None:
    assert metric(Response(text="", provider=provider), "5") == 0


def test_an_empty_reply_is_right_where_nothing_is_expected() -> None:
    assert exact(SILENT, ["x", ""])


@pytest.mark.parametrize("metric", [exact, f1, contains, regex, number])
def test_no_reply_at_all_is_unscored(metric: Any) -> None:
    score = metric(None, "5")

    assert (score.value, score.cause) == (None, "application")
    assert score.reason == "there is no reply to score: the metric was given None"


@pytest.mark.parametrize("metric", [exact, f1, contains, regex, number])
def test_a_row_that_expects_nothing_is_broken(metric: Any) -> None:
    case = Case(
        id="peru", fields={"q": 1, "a": 2}, source=Source(file="d.jsonl", line=3)
    )

    score = metric("Lima", case)

    assert (score.value, score.cause) == (None, "data")
    assert score.reason == (
        "case 'peru' (d.jsonl:3) has no expected value; its columns: q, a. Name the "
        'right one by columns={"expected": "..."}'
    )


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        (None, "expected is None: give a text, a list of acceptable ones, or a case"),
        ([], "expected is an empty list: no answer is acceptable"),
        (["a", None], "expected is or holds null: nothing to compare with"),
        (float("nan"), "expected is or holds NaN, a table's empty cell"),
        (
            Case(id="x", expected=[]),
            "expected of case 'x' is an empty list: no answer is acceptable",
        ),
    ],
)
def test_nothing_to_compare_with_is_unscored(expected: Any, reason: str) -> None:
    score = f1("Lima", expected)

    assert (score.value, score.cause) == (None, "data")
    assert score.reason.startswith(reason)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (5, 5),
        (True, "true"),
        ({"a": 1}, {"a": 1}),
        ("b", {"b", "a"}),
        ("b", ("a", "b")),
    ],
)
def test_any_value_has_a_text(reply: Any, expected: Any) -> None:
    assert exact(reply, expected, preset="raw")


def test_an_unscored_score_can_not_be_compared() -> None:
    with pytest.raises(UnscoredError, match="expected is None"):
        _ = f1("a", None) >= 0.5


def test_a_users_metric_is_found_by_its_name() -> None:
    @metrics.metric("shouting", binary=True)
    def shouting(text: str, expected: Any) -> bool:
        return text.isupper()

    assert metrics.score("shouting", "HELLO", "x") == 1
    assert not shouting("hello", "x")
    assert "shouting" in metrics.metric_names()


def test_a_users_metric_gets_the_value_of_the_row_and_its_options() -> None:
    @metrics.metric("length", low=0, high=99, higher_is_better=False)
    def length(text: str, expected: Any, *, extra: int = 0) -> tuple[int, str]:
        return len(text) - len(expected) + extra, "counted"

    score = metrics.score("length", "abcd", Case(id="a", expected=["x", "y"]), extra=5)

    assert (score.value, score.reason) == (7, "counted")
    assert not score.higher_is_better
    assert score.details["response"] == "abcd"


def test_a_users_metric_may_do_without_an_expected_value() -> None:
    @metrics.metric("words", high=1e9, needs_expected=False)
    def words(text: str, expected: Any) -> int:
        return len(text.split())

    assert words("a b") == 2
    assert words("a b", Case(id="x")) == 2


@pytest.mark.parametrize(
    ("result", "value"),
    [(0.5, 0.5), (True, 1), (Decimal("0.25"), 0.25), ((0, "why"), 0)],
)
def test_what_a_users_metric_returns_becomes_a_score(result: Any, value: float) -> None:
    @metrics.metric("mine")
    def mine(text: str, expected: Any) -> Any:
        return result

    assert mine("a", "b").value == value


def test_a_score_of_a_users_metric_stays() -> None:
    score = Score(metric="other", value=0.3)

    @metrics.metric("mine")
    def mine(text: str, expected: Any) -> Score:
        return score

    assert mine("a", "b") is score


@pytest.mark.parametrize(
    ("result", "cause", "reason"),
    [
        (None, "data", "metric 'mine' returned no value"),
        ((None, "no words"), "data", "no words"),
        (
            7,
            "suite",
            "metric 'mine' returned 7.0, outside its range 0 to 1; declare another by "
            "@metric('mine', low=..., high=...)",
        ),
        (float("nan"), "suite", "metric 'mine' returned nan, outside its range"),
        (
            "0.5",
            "suite",
            "metric 'mine' returned '0.5'; a metric returns a number, true or false, "
            "(number, reason), None or a Score",
        ),
    ],
)
def test_what_is_no_value_is_unscored(result: Any, cause: str, reason: str) -> None:
    @metrics.metric("mine")
    def mine(text: str, expected: Any) -> Any:
        return result

    score = mine("a", "b")

    assert (score.value, score.cause) == (None, cause)
    assert score.reason.startswith(reason)


def test_a_pass_or_fail_metric_knows_nothing_between() -> None:
    @metrics.metric("mine", binary=True)
    def mine(text: str, expected: Any) -> float:
        return 0.5

    assert mine("a", "b").reason == "metric 'mine' is pass or fail, and returned 0.5"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("two words", {}, "'two words' can't be the name of a metric: use letters"),
        ("f1", {}, "'f1' is a built-in metric: give yours another name"),
        ("mine", {"low": 1}, "metric 'mine': low .1. is not below high .1.0."),
    ],
)
def test_a_metric_that_can_not_be_is_refused(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        metrics.metric(name, **options)


def test_two_metrics_of_one_name_are_refused() -> None:
    @metrics.metric("mine")
    def first(text: str, expected: Any) -> float:
        return 1

    def second(text: str, expected: Any) -> float:
        return 1

    with pytest.raises(
        ConfigError, match=r"two metrics are called 'mine': .*first and"
    ):
        metrics.metric("mine")(second)


def test_a_module_imported_twice_registers_its_metric_anew() -> None:
    def mine(text: str, expected: Any) -> float:
        return 1

    metrics.metric("mine")(mine)
    metrics.metric("mine")(mine)

    assert metrics.score("mine", "a", "b") == 1


def test_an_unscored_score_is_explained_by_its_reason() -> None:
    lines = metrics.explain(f1("Lima", []))

    assert lines == [
        "reason    expected is an empty list: no answer is acceptable",
        "reply     Lima",
    ]


def test_a_users_metric_is_explained_by_its_texts() -> None:
    @metrics.metric("mine")
    def mine(text: str, expected: Any) -> tuple[float, str]:
        return 0, "not polite"

    assert metrics.explain(mine("Go!\x07", "Please go.")) == [
        "reason    not polite",
        "expected  Please go.",
        r"reply     Go!\x07",
    ]


def test_an_empty_reply_is_shown_as_one() -> None:
    lines = metrics.explain(exact("", "Lima"))

    assert lines[1] == "reply     (an empty text: '')"


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("json", {"schema": {"type": "objct"}}, "no valid JSON Schema: $.type"),
        ("json", {"schema": [1]}, "schema is a JSON Schema as a mapping, not [1]"),
        ("f1", {"preset": "squad_v9"}, "f1 has no preset 'squad_v9'"),
        ("exact", {"preset": ["casefld"]}, "no step of normalisation 'casefld'"),
        ("levenshtein", {"preset": "x"}, "levenshtein has no preset 'x'"),
        ("contains", {"mode": "some"}, "contains has no mode 'some'"),
        ("number", {"tolerance": -1}, "tolerance is a number of 0 or more, not -1"),
        ("math", {"seconds": 0}, "seconds"),
        ("choice", {"measure": "x"}, "choice has no measure 'x'"),
        ("choice", {"label_base": 7}, "label_base is 0 or 1"),
        ("choice", {"reply_base": 7}, "reply_base is 0 or 1"),
        ("tool_calls", {"mode": "x"}, "tool_calls has no mode 'x'"),
        ("rouge1", {"field": "x"}, "rouge1 has no field 'x'"),
        ("bleu", {"tokenize": "x"}, "bleu has no tokenizer 'x'"),
        ("similarity", {"embedder": 1}, "embedder is an object with embed(texts)"),
    ],
)
def test_a_value_no_reply_could_be_scored_with_is_told_before_there_is_one(
    name: str, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        metrics.check_ready(name, options)

    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("json", {"schema": {"type": "object"}, "fenced": True}),
        ("f1", {"preset": "drop"}),
        ("exact", {"preset": ["casefold", "stem"]}),
        ("contains", {"mode": "any", "negate": True}),
        ("regex", {"negate": True}),
        ("choice", {"measure": "jaccard", "label_base": 1, "reply_base": 0}),
        ("supporting_facts", {}),
        ("tool_calls", {"mode": "subset"}),
        ("chrf", {"word_order": 2}),
        ("exact_match", {"ignore_case": True}),
        ("perplexity", {"unit": "word"}),
    ],
)
def test_values_that_may_do_are_let_through(name: str, options: dict[str, Any]) -> None:
    assert metrics.check_ready(name, options).name == name


def test_options_of_a_users_own_metric_are_his_to_look_at() -> None:
    @metrics.metric("picky")
    def picky(text: str, expected: Any, *, level: int = 0) -> float:
        raise AssertionError("there is no reply yet")

    assert metrics.check_ready("picky", {"level": 9}).name == "picky"

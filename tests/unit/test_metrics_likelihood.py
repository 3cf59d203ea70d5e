"""Perplexity, choices and preferences by likelihood, from answers that are checked."""

from __future__ import annotations

import json
import re
from math import exp, inf
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval import assert_metric, metrics, stats
from pytest_llmeval.errors import ConfigError, EvalAssertionError, UnscoredError
from pytest_llmeval.metrics import (
    bits_per_byte,
    choice_loglik,
    explain,
    perplexity,
    pooled,
    prefers,
)
from pytest_llmeval.metrics._perplexity import byte_count, word_count
from pytest_llmeval.types import Case, Likelihood, Source

DATA = Path(__file__).parents[1] / "data"


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


PERPLEXITIES = [
    v for v in read("perplexity_vectors.jsonl") if v["metric"] != "perplexity"
]
FORMS = {
    "word_perplexity": "exp_rate",
    "byte_perplexity": "exp_rate",
    "bits_per_byte": "bits",
}


class Model:
    """Holds each text to be as likely as a table says, after whatever context."""

    def __init__(self, **logprobs: float) -> None:
        self.logprobs = logprobs
        self.asked: list[tuple[str, str]] = []

    def loglikelihood(self, context: str, continuation: str) -> tuple[float, bool]:
        self.asked.append((context, continuation))
        return self.logprobs[continuation.strip()], False

    def loglikelihood_rolling(self, text: str) -> float:
        return self.logprobs[text]


@pytest.mark.parametrize("vector", PERPLEXITIES, ids=lambda v: str(v["id"]))
def test_sums_over_texts_have_lm_evals_values(vector: dict[str, Any]) -> None:
    options = vector["options"]
    units = "word_counts" if vector["metric"].startswith("word") else "byte_counts"
    counts = list(zip(options["loglikelihoods"], options[units], strict=True))

    found = stats.pooled(FORMS[vector["metric"]], counts)

    if "OverflowError" in vector.get("raises", ""):
        assert found == inf
    elif "ZeroDivisionError" in vector.get("raises", ""):
        assert found is None
    else:
        assert found == pytest.approx(vector["value"], rel=1e-12)


@pytest.mark.parametrize("vector", PERPLEXITIES, ids=lambda v: str(v["id"]))
def test_words_and_bytes_are_counted_as_lm_eval_does(vector: dict[str, Any]) -> None:
    texts = vector["references"]

    assert list(map(word_count, texts)) == vector["options"]["word_counts"]
    assert list(map(byte_count, texts)) == vector["options"]["byte_counts"]


@pytest.mark.parametrize(("unit", "units"), [("word", 4), ("byte", 19), ("token", 5)])
def test_perplexity_is_of_a_unit(unit: Any, units: int) -> None:
    found = Likelihood.of([-2.0] * 5)

    score = perplexity(found, "The quick brown fox", unit=unit)

    assert float(score) == pytest.approx(exp(10 / units), rel=1e-12)
    assert not score.higher_is_better


def test_the_pooled_perplexity_is_of_all_texts_together() -> None:
    scores = [perplexity(-10.5, "The quick brown fox"), perplexity(-3.25, "jumps over")]

    assert pooled(scores) == pytest.approx(9.891409633455755, rel=1e-12)


def test_bits_are_of_a_byte() -> None:
    assert float(bits_per_byte(-8 * 0.6931471805599453, "abcd")) == pytest.approx(2)


def test_what_has_no_value_does_not_count_as_text() -> None:
    found = Likelihood.of([-3.0], unscored_prefix="Hello")

    assert float(perplexity(found, "Hello you", unit="byte")) == pytest.approx(
        exp(3 / 4)
    )


@pytest.mark.parametrize(
    ("model", "text", "options", "reason", "cause"),
    [
        (-1.0, "", {}, "an empty text has no perplexity", "data"),
        (-1.0, None, {}, "perplexity is that of a text, and the text is None", "data"),
        (float("nan"), "a", {}, "nan is no log-probability: it is not finite", "provider"),
        (-inf, "a", {}, "-inf is no log-probability: it is not finite", "provider"),
        (0.5, "a", {}, "0.5 is no log-probability: those are 0 or less", "provider"),
        (-1.0, "a", {"unit": "token"}, "the model does not say how many", "provider"),
        (-800.0, "one", {}, "log-probability -800 is too low", "provider"),
        (
            Likelihood(logprob=0, token_count=0, unscored_prefix="a"),
            "a",
            {},
            "the model said nothing about the text 'a'",
            "data",
        ),
        (None, "a", {}, "there is no model to ask", "suite"),
    ],
)  # fmt: skip
def test_a_text_without_a_perplexity_is_unscored(
    model: Any, text: Any, options: dict[str, Any], reason: str, cause: str
) -> None:
    score = perplexity(model, text, **options)

    assert score.value is None
    assert reason in score.reason
    assert score.cause == cause


def test_a_row_that_is_no_text_is_named() -> None:
    case = Case(id="a", input=["x"], source=Source(file="d.jsonl", line=3))

    assert "input of case 'a' (d.jsonl:3) is ['x']" in perplexity(-1.0, case).reason


CASE = Case(
    id="uk",
    input="Capital of the UK?",
    context="Europe.",
    choices=("Paris", "London", "Rome"),
    label="B",
)


def test_the_likeliest_choice_is_picked() -> None:
    model = Model(Paris=-3, London=-1, Rome=-2)

    assert choice_loglik(model, CASE)
    assert model.asked == [
        ("Europe.\n\nQuestion: Capital of the UK?\nAnswer:", f" {choice}")
        for choice in ("Paris", "London", "Rome")
    ]


def test_a_context_that_ends_in_white_space_needs_no_other() -> None:
    model = Model(Paris=-3, London=-1, Rome=-2)

    assert choice_loglik(model, CASE, context="UK:\n")
    assert model.asked[0] == ("UK:\n", "Paris")


@pytest.mark.parametrize(
    ("by", "picks"),
    [
        ("sum", "yes"),
        ("byte", "no, never"),
        ("character", "no, never"),
        ("token", "no, never"),
        ("mutual_information", "perhaps"),
    ],
)
def test_lengths_and_what_is_likely_anyway_are_taken_off(by: Any, picks: str) -> None:
    choices = ("yes", "no, never", "perhaps")
    found = [
        Likelihood.of(values) for values in ([-2.0], [-1.0, -1.0, -1.0], [-4.0, -4.0])
    ]
    alone = [Likelihood.of(values) for values in ([-2.0], [-3.0], [-20.0])]
    given = [*found, *alone] if by == "mutual_information" else found

    assert choice_loglik(given, picks, choices=choices, by=by, context="Is it?")


def test_mutual_information_asks_without_the_context_too() -> None:
    model = Model(Paris=-3, London=-1, Rome=-2)
    choice_loglik(model, CASE, by="mutual_information")

    assert [context for context, _ in model.asked[3:]] == ["", "", ""]


LL_CHOICES = {
    "plain": (1, ""),
    "nan": (None, "nan is no log-probability"),
    "minus inf": (None, "no log-probability"),
    "0.0 for empty continuation": (2, ""),
    "long list": (None, "4 log-probabilities were given for 3 texts"),
    "strings": (None, "'-5' is not a number"),
    "empty": (None, "0 log-probabilities were given for"),
}


@pytest.mark.parametrize(
    "vector", read("ll_choice_vectors.jsonl"), ids=lambda v: str(v["name"])
)
def test_answers_are_checked_before_one_of_them_wins(vector: dict[str, Any]) -> None:
    picked, reason = LL_CHOICES[vector["name"]]
    values = [float("nan") if v == "nan" else v for v in vector["loglikelihoods"]]
    choices = ["Paris", "London", "Rome"][: vector.get("n_choices") or 3]

    score = choice_loglik(values, picked or 0, choices=choices)

    assert (score.value is None) is (picked is None)
    assert reason in score.reason
    assert score.value is None or score.value == 1


@pytest.mark.parametrize(
    ("values", "value", "reason"),
    [
        ([-1, -1, -2], 0, "A and B are equally likely"),
        ([-2, -1, -1], 0, "B and C are equally likely"),
        ([-1, -2, -3], 0, "A is more likely than B"),
    ],
)
def test_undecided_and_wrong_choices_are_not_right(
    values: list[float], value: int, reason: str
) -> None:
    score = choice_loglik(values, CASE)

    assert (score.value, score.reason) == (value, reason)


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (Case(id="a", input="?", choices=("x", " "), label=0), "has an empty choice"),
        (Case(id="a", input="?", choices=("x", "y"), label=2), "out of range"),
        (Case(id="a", input="?", choices=("x",), labels=(0,)), "several labels"),
        (Case(id="a", input=[], choices=("x",), label=0), "has no question as text"),
    ],
)
def test_a_row_that_is_no_single_choice_is_unscored(case: Case, reason: str) -> None:
    score = choice_loglik(Model(x=-1, y=-2), case)

    assert score.value is None
    assert reason in score.reason
    assert score.cause == "data"


PAIR = Case(id="p", input="Why?", better="Because.", rejected="No.")


@pytest.mark.parametrize(
    ("values", "value"),
    [((-1, -2), 1), ((-2, -1), 0), ((-1, -1), 0.5), ((-1, -1 - 1e-12), 0.5)],
)
def test_a_tie_is_a_tie(values: tuple[float, float], value: float) -> None:
    assert float(prefers(list(values), PAIR)) == value


def test_two_texts_are_compared_without_a_case() -> None:
    assert prefers(Model(a=-1, bb=-3), "a", rejected="bb", context="?") == 1
    assert prefers(Model(a=-1, bb=-1.5), "a", rejected="bb", by="byte") == 0


@pytest.mark.parametrize("name", ["better", "rejected"])
def test_a_pair_with_one_text_is_unscored(name: str) -> None:
    texts: dict[str, Any] = {"better": "a", "rejected": "b", name: " "}

    score = prefers(Model(a=-1, b=-2), Case(id="p", input="?", **texts))

    assert (score.value, score.cause) == (None, "data")
    assert score.reason == f"case 'p' has no {name} text"


@pytest.mark.parametrize(
    ("name", "expected", "message"),
    [
        ("perplexity", "a", "likelihood metrics take the model in place of a reply"),
        ("prefers", PAIR, "got a str, which has no loglikelihood"),
        ("choice_loglik", CASE, "got a str, which has no loglikelihood"),
    ],
)
def test_a_reply_is_no_model(name: str, expected: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        metrics.score(name, "London", expected)


def test_prefers_needs_another_text() -> None:
    with pytest.raises(ConfigError, match="give a case, or rejected="):
        prefers([-1, -2], "a")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("perplexity", {"unit": "char"}),
        ("prefers", {"by": "x"}),
        ("choice_loglik", {"by": 1}),
    ],
)
def test_an_unknown_way_is_refused(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="there are: "):
        metrics.score(name, [-1.0], CASE, **options)


def test_a_model_that_refuses_leaves_the_case_unscored() -> None:
    class Chat:
        def loglikelihood_rolling(self, text: str) -> Likelihood:
            raise UnscoredError("chat:m gives no log-probabilities", cause="provider")

    score = perplexity(Chat(), "a")

    assert (score.value, score.reason) == (None, "chat:m gives no log-probabilities")


def test_an_async_answer_is_refused() -> None:
    class Async:
        async def loglikelihood_rolling(self, text: str) -> float:
            return -1.0

    with pytest.raises(ConfigError, match="async model"):
        perplexity(Async(), "a")


def test_a_model_with_a_batch_call_is_asked_once() -> None:
    class Batch:
        calls = 0

        def loglikelihoods(self, pairs: list[tuple[str, str]]) -> list[float]:
            self.calls += 1
            return [-float(index + 1) for index in range(len(pairs))]

    model = Batch()

    assert choice_loglik(model, 0, choices=["a", "b"]) == 1
    assert model.calls == 1


def test_explanations_rank_the_texts() -> None:
    assert explain(choice_loglik([-1, -2.5, -3], CASE)) == [
        "logprob      -1.000  A  Paris",
        "             -2.500  B  London",
        "             -3.000  C  Rome",
    ]
    assert explain(prefers([-4, -2, -1, -1], PAIR, by="mutual_information")) == [
        "by mutual information",
        "             -1.000  rejected  No.",
        "             -3.000  better  Because.",
        "reason    the rejected text is more likely",
    ]
    assert explain(prefers([-2, -2], PAIR))[-1] == (
        "reason    both texts are equally likely"
    )


def test_a_perplexity_says_what_it_is_made_of() -> None:
    assert explain(perplexity(-8.0, "The quick brown fox")) == [
        "text      The quick brown fox",
        "logprob   -8.00 over 4 words",
    ]


def test_assert_metric_takes_the_model() -> None:
    score = assert_metric(
        Model(Paris=-3, London=-1, Rome=-2), CASE, "choice_loglik", threshold=1
    )

    assert score == 1
    with pytest.raises(EvalAssertionError) as caught:
        assert_metric(-40.0, "The quick brown fox", "perplexity", threshold=20)
    assert (
        str(caught.value).splitlines()[0]
        == "perplexity = 22026.47, above the bar of 20"
    )

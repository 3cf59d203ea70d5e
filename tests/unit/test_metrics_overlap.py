"""BLEU, chrF, TER and ROUGE: the libraries' values, from 0 to 1, and over a corpus."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval import assert_metric, metrics
from pytest_llmeval.errors import ConfigError, EvalAssertionError, MissingExtraError
from pytest_llmeval.metrics import bleu, chrf, explain, pooled, rouge1, rouge2, rougeL
from pytest_llmeval.metrics import ter as edit_rate

DATA = Path(__file__).parents[1] / "data" / "overlap_vectors.jsonl"
VECTORS = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
SACREBLEU = [v for v in VECTORS if v["library"] in {"sacrebleu", "lm_eval"}]
ROUGE = [v for v in VECTORS if v["metric"].startswith("rouge")]
SENTENCES = [v for v in SACREBLEU if v["options"].get("level") == "sentence"]
EVALUATE = [v for v in VECTORS if v["library"] == "evaluate" and v["metric"] == "bleu"]
CORPORA = [v for v in SACREBLEU if v["options"]["level"] != "sentence"]


def identify(vector: dict[str, Any]) -> str:
    return f"{vector['id']}-{vector['metric']}"


@pytest.mark.parametrize("vector", SENTENCES, ids=identify)
def test_sentences_have_sacrebleus_values(vector: dict[str, Any]) -> None:
    score = metrics.score(vector["metric"], vector["prediction"], vector["references"])

    expected = vector["value"] / 100
    if vector["metric"] != "ter":
        expected = min(1, expected)
    assert float(score) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("vector", CORPORA, ids=identify)
def test_corpora_have_sacrebleus_values(vector: dict[str, Any]) -> None:
    name, options = vector["metric"], {}
    if name == "chrf++":
        name, options = "chrf", {"word_order": 2}
    texts, references = vector["prediction"], vector["references"]
    if isinstance(texts, str):
        texts, references = [texts], [references]

    scores = [
        metrics.score(name, text, expected, **options)
        for text, expected in zip(texts, references, strict=True)
    ]

    assert pooled(scores) == pytest.approx(vector["value"] / 100, abs=1e-12)


@pytest.mark.parametrize("vector", ROUGE, ids=identify)
def test_rouge_has_rouge_scores_values(vector: dict[str, Any]) -> None:
    options = {"use_stemmer": vector["options"]["use_stemmer"]}
    if vector["options"]["field"] in {"precision", "recall"}:
        options["field"] = vector["options"]["field"]

    score = metrics.score(
        vector["metric"], vector["prediction"], vector["references"], **options
    )

    assert float(score) == pytest.approx(vector["value"], abs=1e-12)


@pytest.mark.parametrize("vector", EVALUATE, ids=identify)
def test_evaluates_bleu_is_a_smoothing(vector: dict[str, Any]) -> None:
    smooth = "add_one" if vector["options"]["smooth"] else "none"
    score = bleu(vector["prediction"], vector["references"], smooth=smooth)

    assert float(score) == pytest.approx(vector["value"], abs=1e-12)


def test_the_vectors_are_all_used() -> None:
    # evaluate's rouge is rouge_score's, and in that list.
    used = len(SENTENCES) + len(CORPORA) + len(ROUGE) + len(EVALUATE)

    assert used == len(VECTORS)


OLAPH = [
    json.loads(line)
    for line in (DATA.parent / "olaph_vectors.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("vector", OLAPH, ids=lambda v: str(v["id"]))
def test_olaphs_numbers_are_these_metrics(vector: dict[str, Any]) -> None:
    for name, value in vector["value"].items():
        if value == "NaN":  # of texts that OLAPH leaves out, or evaluate can't divide
            continue
        options = {"smooth": "none"} if name == "bleu" else {}
        score = metrics.score(
            name, vector["prediction"], vector["references"], **options
        )
        assert float(score) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("text", ["Paris", "It is Paris", "a b c d e f g"])
def test_a_perfect_answer_has_one_whatever_its_length(text: str) -> None:
    assert float(bleu(text, text)) == 1
    assert float(chrf(text, text)) == 1
    assert float(rouge1(text, text)) == 1
    assert float(edit_rate(text, text)) == 0


def test_the_corpus_value_of_short_answers_has_no_effective_order() -> None:
    assert pooled([bleu("It is Paris", "It is Paris")]) == 0


@given(
    st.lists(
        st.tuples(st.text("ab c.", max_size=30), st.text("ab c.", max_size=30)),
        min_size=1,
        max_size=4,
    )
)
def test_the_pooled_value_is_sacrebleus_corpus_value(
    pairs: list[tuple[str, str]],
) -> None:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    texts, references = [list(column) for column in zip(*pairs, strict=True)]
    for metric, official in ((bleu, BLEU()), (chrf, CHRF()), (edit_rate, TER())):
        scores = [metric(text, reference) for text, reference in pairs]
        expected = official.corpus_score(texts, [references]).score / 100

        assert pooled(scores) == pytest.approx(expected, abs=1e-9)


@given(st.text(max_size=20), st.text(max_size=20))
def test_values_are_within_their_range(text: str, reference: str) -> None:
    for name in ("bleu", "chrf", "rouge1", "rouge2", "rougeL"):
        assert 0 <= float(metrics.score(name, text, reference)) <= 1
    assert float(edit_rate(text, reference)) >= 0


def test_several_references_count_together() -> None:
    references = ["A cat is on the mat", "The cat sits on a mat"]

    assert float(bleu("The cat sits on the mat", references)) > max(
        float(bleu("The cat sits on the mat", one)) for one in references
    )


@pytest.mark.parametrize(
    ("options", "value"),
    [({}, 0), ({"tokenize": "zh"}, 0.5), ({"tokenize": "char"}, 0.5)],
)
def test_chinese_has_words_by_a_tokenizer(
    options: dict[str, Any], value: float
) -> None:
    score = bleu("患者应该多喝水。", "患者应该每天多喝水。", **options)

    assert (float(score) >= value) is True
    assert (float(score) == 0) is not bool(options)


def test_rouge_reads_every_script_when_asked() -> None:
    text, reference = "東京は日本の首都です。", "日本の首都は東京です。"

    assert float(rouge1(text, reference)) == 0
    assert "tokenize='unicode'" in "\n".join(explain(rouge1(text, reference)))
    assert float(rouge1(text, reference, tokenize="unicode")) == 1
    assert 0 < float(rougeL(text, reference, tokenize="unicode")) < 1


def test_too_many_words_cost_more_than_one_edit_rate() -> None:
    score = edit_rate("a b c d e f", "x")

    assert float(score) == 6
    assert not score.higher_is_better
    assert assert_metric("a b", "a b c", "ter", threshold=0.4) <= 0.34


def test_an_edit_rate_over_the_bar_fails() -> None:
    with pytest.raises(EvalAssertionError) as caught:
        assert_metric("a b", "c d", "ter", threshold=0.5)

    assert str(caught.value).splitlines() == [
        "ter = 1.00, above the bar of 0.5",
        "  expected  c d",
        "  reply     a b",
        "  diff      [-c d-] {+a b+}",
        "  edits     2",
    ]


def test_a_short_reply_is_told_its_penalty() -> None:
    lines = explain(bleu("the cat sat", "the cat sat on the mat"))

    assert lines == [
        "expected  the cat sat on the mat",
        "reply     the cat sat",
        "diff      the cat sat [-on the mat-]",
        "short     brevity penalty 0.37",
    ]


def test_of_many_references_three_are_shown() -> None:
    lines = explain(rouge2("a b", ["c d", "e f", "g h", "i j"]))

    assert lines == [
        "expected  c d",
        "expected  e f",
        "expected  g h",
        "          and 1 more",
        "reply     a b",
        "precision 0.00, recall 0.00",
    ]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("bleu", {"tokenize": "ja-mecab"}, "bleu has no tokenizer 'ja-mecab'"),
        ("bleu", {"smooth": "floor"}, "bleu has no smoothing 'floor'"),
        ("chrf", {"char_order": 0}, "chrf's char_order is a whole number from 1 up"),
        ("chrf", {"word_order": -1}, "chrf's word_order is a whole number from 0 up"),
        ("chrf", {"beta": 1.5}, "chrf's beta is a whole number from 1 up, not 1.5"),
        ("rouge1", {"field": "f1"}, "rouge1 has no field 'f1'"),
        ("rougeL", {"tokenize": "13a"}, "rougeL has no tokenizer '13a'"),
    ],
)
def test_a_wrong_option_is_refused(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        metrics.score(name, "a", "b", **options)

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("bleu", "sacrebleu"),
        ("chrf", "sacrebleu"),
        ("ter", "sacrebleu"),
        ("rouge1", "rouge_score"),
        ("rougeL", "rouge_score"),
    ],
)
def test_without_its_extra_a_metric_has_one_line(
    monkeypatch: pytest.MonkeyPatch, name: str, module: str
) -> None:
    for loaded in [m for m in sys.modules if m.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(MissingExtraError) as caught:
        metrics.score(name, "a", "b")

    assert str(caught.value) == (
        f"{name} needs the extra 'overlap' (no module {module!r}): "
        f"pip install 'pytest-llm-regression[overlap]'"
    )


def test_scores_of_different_kinds_do_not_add_up() -> None:
    with pytest.raises(ConfigError, match="different metrics or options"):
        pooled([bleu("a", "a"), chrf("a", "a")])
    with pytest.raises(ConfigError, match="different metrics or options"):
        pooled([chrf("a", "a"), chrf("a", "a", char_order=2)])
    with pytest.raises(ConfigError, match="rouge1 has no value over all cases but"):
        pooled([rouge1("a", "a")])


def test_nothing_has_no_pooled_value() -> None:
    assert pooled([]) is None
    assert pooled([bleu("a", None)]) is None  # an unscored one


@pytest.mark.parametrize(("name", "words"), [("ter", 600), ("rougeL", 4000)])
def test_texts_that_would_take_minutes_are_unscored(name: str, words: int) -> None:
    score = metrics.score(name, "a " * words, "b " * words)

    assert (score.value, score.cause) == (None, "data")
    assert f"a reply of {words:,} words and a reference of {words:,}" in score.reason

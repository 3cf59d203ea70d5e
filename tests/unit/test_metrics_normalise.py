"""Named steps of normalisation, alone and in rows, and the quick paths beside them."""

from __future__ import annotations

import sys
from string import punctuation

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval import metrics
from pytest_llmeval.errors import ConfigError, MissingExtraError
from pytest_llmeval.metrics import exact, f1
from pytest_llmeval.metrics._normalise import PRESETS, normaliser
from pytest_llmeval.metrics._official import official_words
from pytest_llmeval.metrics._readings import _read, is_same_answer
from pytest_llmeval.metrics._token_f1 import _default_words

ODD = f"aAnNtThHeE12 {punctuation}\t\n\x01\x1c\x85\xa0é\u0301ßİ’–東½²_"


@pytest.mark.parametrize(
    ("step", "text", "after"),
    [
        ("unicode", "Ｐａｒｉｓ’s ﬁve – ½", "Paris's five - 1/2"),
        ("invisible", "a\u200bb\x00", "ab"),
        ("casefold", "STRAßE", "strasse"),
        ("lower", "STRAßE", "straße"),
        ("accents", "Zürich, naïve", "Zurich, naive"),
        ("numbers", "1,000.50", "1000.5"),
        ("digits", "room 101", "room "),
        ("quotes", "rock'n'roll", "rocknroll"),
        ("articles", "the cat", "  cat"),
        ("punctuation", "C++ (1.5)!", "C++  1.5  "),
        ("ascii_punctuation", "C++ (1.5)!", "C 15"),
        ("ascii_articles", "an a-b", "   -b"),
        ("words", " 東京 x ", "東 京 x"),
        ("whitespace", " 東京  x ", "東京 x"),
        ("stem", "running dogs", "run dog"),
        ("stem:german", "häuser", "haus"),
    ],
)
def test_a_step_does_what_its_name_says(step: str, text: str, after: str) -> None:
    assert normaliser([step])(text) == after


def test_steps_run_in_the_order_given() -> None:
    assert exact("The Dogs!", "dog", preset=["squad_v1", "stem"]) == 1
    assert exact("The Dogs!", "dog", preset=["squad_v1"]) == 0
    assert f1("two Dogs", "a dog", preset=["squad_v1", "stem"]).value == pytest.approx(
        2 / 3
    )


def test_a_step_that_would_leave_nothing_is_skipped() -> None:
    assert exact("The", "An", preset=["squad_v1", "stem"]) == 0
    assert exact("", "", preset=["lower"]) == 1


@pytest.mark.parametrize(
    ("preset", "message"),
    [
        (
            ["lowr"],
            "no step of normalisation 'lowr' [(]did you mean 'lower'[?][)]; there",
        ),
        ([], "preset is a name or a list of steps, not []"),
        ([3], "no step of normalisation 3"),
        (["stem:klingon"], "there is no stemmer for 'klingon'; there are: .*english"),
    ],
)
def test_a_step_there_is_not_is_refused(preset: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace("[]", r"\[\]")):
        exact("a", "a", preset=preset)


def test_a_missing_stemmer_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)

    with pytest.raises(MissingExtraError) as caught:
        exact("a", "a", preset=["stem"])

    assert str(caught.value) == (
        "the step 'stem' needs the extra 'stemming' (no module 'snowballstemmer'): "
        "pip install 'pytest-llm-regression[stemming]'"
    )


def test_the_explanation_says_what_the_steps_removed() -> None:
    lines = metrics.explain(f1("The Dogs!", "a cat", preset=["squad_v1", "stem"]))

    assert lines[2:] == [
        "removed   letter case; punctuation: !; articles: the; endings",
        "missing   cat",
        "extra     dog",
        "precision 0.00, recall 0.00",
    ]


@settings(max_examples=300)
@given(st.text(ODD, max_size=30))
def test_the_quick_path_has_the_words_of_the_official_steps(text: str) -> None:
    assert official_words(text) == PRESETS["squad_v1"](text).split()


@settings(max_examples=300)
@given(st.text("aAnNtThHeE \n", max_size=20))
def test_the_quick_path_has_the_words_of_the_default(text: str) -> None:
    assert _default_words(text) == PRESETS["default"](text).split()


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            [
                "The",
                "a-ha",
                "O'Neil",
                "J.",
                "R.",
                "R.",
                "an",
                "Xbox",
                "x",
                "box",
                "(A)",
                "Jay-Z",
            ]
        )
    ),
    st.lists(
        st.sampled_from(
            ["the", "aha", "ONeil", "JR", "R.", "an", "xbox", "A", "Jay", "Z", "jayz"]
        )
    ),
)
def test_plain_texts_that_read_alike_are_found(
    left: list[str], right: list[str]
) -> None:
    texts = " ".join(left), " ".join(right)
    preset = PRESETS["default"]
    is_same = bool(left and right) and _read(texts[0], preset) == _read(
        texts[1], preset
    )

    assert is_same_answer(*texts) >= is_same

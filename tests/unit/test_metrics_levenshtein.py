"""Edit distance: right for all texts, quick for long ones."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval import metrics
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics import levenshtein
from pytest_llmeval.metrics._edit_distance import edit_distance


def plainly(left: str, right: str) -> int:
    """Return the distance by the table of Wagner and Fischer."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        above, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (a != b))
    return row[-1]


@settings(max_examples=200)
@given(st.text("abé漢😀", max_size=20), st.text("abé漢😀", max_size=20))
def test_the_distance_is_that_of_the_table(left: str, right: str) -> None:
    assert edit_distance(left, right) == plainly(left, right)


def test_many_different_characters_are_told_apart() -> None:
    left = "".join(map(chr, range(300, 900)))

    assert edit_distance(left, left[::-1]) == plainly(left, left[::-1])


@pytest.mark.parametrize(
    ("reply", "expected", "value"),
    [
        ("kitten", "sitting", 1 - 3 / 7),
        ("", "", 1),
        ("abc", "", 0),
        ("Paris", "paris", 0.8),
        ("abc", ["xyz", "abd"], 1 - 1 / 3),
    ],
)
def test_the_value_is_what_is_equal_of_the_longer_text(
    reply: str, expected: str, value: float
) -> None:
    assert levenshtein(reply, expected).value == pytest.approx(value)


def test_texts_can_be_normalised_before() -> None:
    assert levenshtein("Paris!", "paris", preset="default") == 1
    assert levenshtein("Paris!", "paris", preset=["casefold"]).value == 1 - 1 / 6


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(ConfigError, match="levenshtein has no preset 'drop'"):
        levenshtein("a", "b", preset="drop")


def test_texts_too_long_to_compare_are_unscored() -> None:
    score = levenshtein("a" * 100_000, "b" * 100_000)
    assert (score.value, score.cause) == (None, "suite")
    assert score.reason == (
        "the edit distance of texts of 100000 and 100000 characters would take too "
        "long: f1 compares texts of this length"
    )


@pytest.mark.parametrize("size", [1, 1000])
def test_a_long_reply_takes_little_time(size: int) -> None:
    start = process_time()
    levenshtein("xyé" * 333_333, "y" * size)

    assert process_time() - start < 2


def test_the_explanation_shows_how_many_characters_differ() -> None:
    assert metrics.explain(levenshtein("kitten", "sitting")) == [
        "expected  sitting",
        "reply     kitten",
        "distance  3 of 7 characters",
    ]

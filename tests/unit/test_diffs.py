"""Lines of differences: what they say, that they are short, inert and cheap."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.diffs import (
    WIDTH,
    columns,
    cut,
    json_diff,
    list_diff,
    printable,
    within,
    word_diff,
    wrap,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines", "two\nlines"),
        ("two\r\nlines", "two\nlines"),
        ("a\rb\tc", r"a\rb\tc"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x9b0m", r"\x9b0m"),
        ("\u202eabc\u2066", r"\u202eabc\u2066"),
        ("a\u200bb", r"a\u200bb"),
        ("10\u00a0km", r"10\xa0km"),
        ("\ud83d", r"\ud83d"),
        ("a\u2028b\x85", r"a\u2028b\x85"),
        ("東京 é 👍", "東京 é 👍"),
    ],
)
def test_what_is_not_visible_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_printable_text_is_visible_and_fits_any_file(text: str) -> None:
    shown = printable(text)

    assert all(line.isprintable() for line in shown.split("\n"))
    shown.encode()


@given(st.text(max_size=300), st.integers(min_value=1, max_value=120))
def test_cut_text_is_never_wider_than_asked(text: str, width: int) -> None:
    shown = cut(text, width)

    # A mark takes no column, but is only shown with what it stands on.
    assert columns(shown) <= width or len(shown) <= width


def test_short_text_is_not_cut() -> None:
    assert cut("short", 60) == "short"


def test_a_cut_says_how_much_is_gone() -> None:
    shown = cut("a" * 500 + "b" * 500, 60)

    assert shown.startswith("aaa")
    assert shown.endswith("bbb")
    gone = 1000 - shown.split(" […")[0].count("a") - shown.split("…] ")[1].count("b")
    assert f"[… {gone} characters cut …]" in shown


def test_a_tiny_width_cuts_the_end() -> None:
    assert cut("abcdefghij" * 9, 8) == "abcdefg…"


def test_wide_characters_count_two_columns() -> None:
    assert columns("東京 a") == 6


def test_lines_break_at_spaces() -> None:
    assert list(wrap("aaa bbb ccc", 7)) == ["aaa bbb", "ccc"]


def test_the_last_line_says_how_many_more_there_are() -> None:
    assert list(within("abcde", 3)) == ["a", "b", "… 3 more lines"]


def test_words_that_differ_are_marked() -> None:
    lines = list(word_diff("the capital is Lima", "the capital is Cusco now"))

    assert lines == ["the capital is [-Lima-] {+Cusco now+}"]


def test_equal_texts_have_no_marks() -> None:
    assert list(word_diff("a b", "a  b")) == ["a b"]


def test_many_equal_words_are_counted() -> None:
    same = " ".join(f"w{i}" for i in range(40))

    lines = list(word_diff(f"{same} Lima", f"{same} Cusco"))

    assert lines == ["[… 34 equal words …] w34 w35 w36 w37 w38 w39 [-Lima-] {+Cusco+}"]


def test_many_different_words_are_counted() -> None:
    text = " ".join(word_diff("Lima", " ".join(f"w{i}" for i in range(100))))

    assert "[-Lima-] {+w0 w1" in text
    assert "[… 76 words …]" in text


def test_words_beyond_the_limit_are_counted_not_compared() -> None:
    left = " ".join(f"a{i}" for i in range(1000))
    right = " ".join(f"b{i}" for i in range(900))

    text = " ".join(word_diff(left, right))

    assert "[… not compared: 700 expected words, 600 others …]" in text


def test_a_word_diff_keeps_its_budget() -> None:
    left = " ".join(f"w{i}" for i in range(200))
    right = " ".join(f"w{i}" if i % 9 else "X" for i in range(200))

    lines = list(word_diff(left, right, budget=4))

    assert len(lines) == 4
    assert lines[-1].endswith("more lines")


def test_a_word_diff_is_inert() -> None:
    assert list(word_diff("a", "\x1b[2J")) == [r"[-a-] {+\x1b[2J+}"]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("word " * 20_000, "word " * 15_000 + "x " * 5000),
        ("a b " * 25_000, "b a " * 25_000),
        (" ".join(map(str, range(17_000))), " ".join(map(str, range(17_000, 0, -1)))),
        ("x" * 100_000, "y" * 100_000),
    ],
)
def test_two_replies_of_100_kilobytes_are_cheap(left: str, right: str) -> None:
    start = process_time()
    list(word_diff(left, right))

    assert process_time() - start < 0.2


@pytest.mark.parametrize(
    ("expected", "actual", "lines"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": True}, {"a": 1}, ["$.a: expected true, got 1"]),
        ({"a": None}, {"a": False}, ["$.a: expected null, got false"]),
        (
            {"items": [0, 0, {"price": 10}]},
            {"items": [0, 0, {"price": "10"}]},
            ['$.items[2].price: expected 10, got "10" (text)'],
        ),
        ({"a": 1}, {}, ["$.a: missing, expected 1"]),
        ({}, {"a b": [1]}, ['$["a b"]: not expected, got [1]']),
        ([1, 2, 3], [1, 5], ["$: expected 3 items, got 2", "$[1]: expected 2, got 5"]),
        ([1], {"a": 1}, ['$: expected [1], got {"a": 1}']),
        ("é", "e", ['$: expected "é", got "e"']),
    ],
)
def test_json_values_differ_path_by_path(
    expected: Any, actual: Any, lines: list[str]
) -> None:
    assert list(json_diff(expected, actual)) == lines


def test_json_lines_are_inert_and_short() -> None:
    (line,) = json_diff(
        {"\x1b" * 50: {"k" * 90: "a"}}, {"\x1b" * 50: {"k" * 90: "\x07" * 99}}
    )

    assert line.isprintable()
    assert columns(line) <= WIDTH


def test_deep_json_needs_no_recursion() -> None:
    left: Any = 1
    right: Any = 2
    for _ in range(50_000):
        left, right = [left], {"a": right} if _ == 40_000 else [right]

    (line,) = json_diff(left, right)

    assert line.startswith("$[0][0][0]")


def test_a_json_diff_keeps_its_budget() -> None:
    lines = list(json_diff(list(range(50)), [-1] * 50, budget=3))

    assert lines == [
        "$[0]: expected 0, got -1",
        "$[1]: expected 1, got -1",
        "… 48 more lines",
    ]


def test_a_list_lacks_and_has_too_much() -> None:
    lines = list(list_diff(["a", "a", "b"], ["b", "a", {"c": 1}]))

    assert lines == ['missing   "a"', 'extra     {"c": 1}']


def test_a_list_in_another_order_is_told() -> None:
    assert list(list_diff([1, 2], [2, 1])) == ["the same items in another order"]


def test_equal_lists_have_no_lines() -> None:
    assert list(list_diff([1, "a"], [1, "a"])) == []

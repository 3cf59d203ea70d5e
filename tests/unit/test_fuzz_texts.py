"""Replies of any kind: read without an exception, never a wrong pass, in linear time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.judging import read_label, read_verdict
from pytest_llmeval.metrics import read_choices, score
from pytest_llmeval.prompts import Template, render
from pytest_llmeval.types import Case
from tests.fuzz.damage import IS_LONG, JSON, changed_json, fuzz
from tests.fuzz.files import as_json
from tests.fuzz.texts import (
    ANY,
    REPLY,
    SPACED,
    TEXTS,
    hold_another_number,
    hold_choice,
    hold_said_fail,
)


@pytest.mark.parametrize("name", TEXTS)
def test_any_text_is_read_and_never_as_what_it_is_not(name: str) -> None:
    @fuzz(80)
    @given(ANY)
    def check(text: str) -> None:
        TEXTS[name](text)

    check()


@fuzz(80)
@given(SPACED, st.sampled_from(["false", "FAIL", "no", 0, [], {}, None, "fail: x"]))
def test_an_object_that_says_fail_never_passes(noise: str, value: Any) -> None:
    hold_said_fail(noise, value)


NUMBERS = st.integers(-(10**9), 10**9)


@fuzz(80)
@given(
    NUMBERS, NUMBERS, st.sampled_from(["{}", "It is {}.", "**{}**", "= {}", "x ({})"])
)
def test_another_number_is_never_right(one: int, other: int, form: str) -> None:
    hold_another_number(one, other, form)


@fuzz(80)
@given(REPLY | SPACED, st.integers(0, 3))
def test_another_choice_is_never_right(reply: str, label: int) -> None:
    hold_choice(reply, label)


@fuzz(80)
@given(changed_json([{"a": [1, 2.5, "x"], "b": {"c": None, "d": True}}]), JSON)
def test_json_is_equal_where_it_is_the_same(value: Any, other: Any) -> None:
    reply = as_json(value).decode()
    has_twice = "e+" in reply or "Infinity" in reply  # not as JSON writes it

    if not has_twice:
        assert score("json", reply, value).value == 1
    # None as expected value asks for JSON of any value.
    if other is not None and as_json(value) != as_json(other) and value != other:
        assert score("json", reply, other).value == 0


@fuzz(80)
@given(JSON, REPLY)
def test_data_in_a_template_is_sent_as_it_is(value: Any, text: str) -> None:
    case = Case(id="c", input=text, fields={"x": value, "input": text})

    rendered = render(Template.of("<{{ input }}>"), case).text

    assert rendered == f"<{text}>"


# --- time ----------------------------------------------------------------------------

WORST = [
    *(
        "a",
        " ",
        "\n",
        "1",
        "-",
        "{",
        "[",
        "(",
        "`",
        "*",
        "#",
        '"',
        "\\",
        "<",
        "é",
        "\u0301",
    ),
    *(
        "PASS ",
        "not ",
        '{"verdict": "',
        "<think>",
        "</think>",
        "```json\n",
        "A ",
        "B) ",
    ),
    *(
        "1,234 ",
        "1.",
        "1/2 ",
        "answer is ",
        "\\boxed{",
        "\\frac{",
        "a b ",
        "\x1b[",
        "{{ ",
    ),
    *('{"a":', "Answer: A\n", "e\u0301", "-1 ", "the ", "<b>", "&amp;"),
]


def template(text: str) -> None:
    render(Template.of("{{ input }}"), Case(id="c", input=text))


def choice(text: str) -> None:
    read_choices(text, ["red", "green", "blue"])


READERS: dict[str, Callable[[str], Any]] = {
    "verdict": read_verdict,
    "label": lambda text: read_label(text, ("Response A", "Tie", "Response B")),
    "choice": choice,
    "number": lambda text: score("number", text, 7),
    "json": lambda text: score("json", text, {"a": 1}),
    "fenced json": lambda text: score("json", text, {"a": 1}, fenced=True),
    "f1": lambda text: score("f1", text, "red"),
    "contains": lambda text: score("contains", text, "red"),
    "template": template,
}


@pytest.mark.parametrize("reader", READERS)
def test_the_worst_texts_take_linear_time(reader: str) -> None:
    read, slow = READERS[reader], {}
    read("a")
    size, most = (1_000_000, 1.0) if IS_LONG else (100_000, 0.5)

    for piece in WORST:
        # What only fails at the end makes a reader begin anew at every place.
        text = piece * (size // len(piece.encode())) + "x."
        # The best of three: other processes take their share of caches too.
        if (seconds := min(_tries(read, text, most))) > most:
            slow[piece] = round(seconds, 2)

    assert slow == {}


def _tries(read: Callable[[str], Any], text: str, most: float) -> Iterator[float]:
    """Yield the processor's seconds that reading takes, until that is little enough."""
    for _ in range(3):
        started = time.process_time()
        read(text)
        yield (seconds := time.process_time() - started)
        if seconds <= most:
            return

"""Which choice a reply picks: letters, texts, positions, denials, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics import read_choices

VECTORS = Path(__file__).parents[1] / "data" / "choice_vectors.jsonl"
CITIES = ("Paris", "London", "Berlin", "Rome")
#: What the vectors call by more names than we do.
STATUS = {"no_answer": "none", "empty": "none", "none_selected": "ok"}


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in VECTORS.read_text("utf-8").split("\n") if line]


def picked(text: str, choices: Any = CITIES, *, multiple: bool = False) -> str:
    """Return the letters picked, or the status where none are."""
    reading = read_choices(text, choices, multiple=multiple)
    return "".join(reading.labels) if reading.status == "ok" else reading.status


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["id"])
def test_a_person_reads_the_same(row: dict[str, Any]) -> None:
    reading = read_choices(
        row["reply"], row["choices"], multiple=row["kind"] == "multi"
    )

    status = STATUS.get(row["expected_status"], row["expected_status"])
    assert (list(reading.labels), reading.status) == (row["expected_labels"], status)


@pytest.mark.parametrize(
    "reply",
    [
        *("C", "c", "(C)", "C.", "c)", "`C`", "'C'", "C!", "**C**", "_C_", "> C", "<C>"),
        *("{C}", "[[C]]", "$C$", "\\(C\\)", "$\\boxed{C}$", "#### C", "<answer>C</answer>"),
        *("Ｃ", "ⓒ", "C\u200b", "\ufeffC", "C\u00a0", "「C」", "（Ｃ）"),
        *("C: Berlin", "(C) Berlin", "C — Berlin", "Berlin (C)", "c. Berlin", "berlin!"),
        *("Option C", "Choice (C)", "option c", "The letter is C", "Answer C"),
        *("Answer: C", "answer=C", "Answer -> C", "Ans: C", '"answer": "C"', "Answer：C"),
        *("The answer is\n\nC", "**Answer: C) Berlin**", "Answer is option C"),
        *("I'd go with C", "I choose C.", "I pick c", "I will say C", "Going with C"),
        *("It is C", "It must be C.", "It can only be C", "Hence, C", "C is my answer."),
        *('{"choice": "C"}', '```json\n{"answer": "c"}\n```', '{"x": 1, "label": "C"}'),
        *("La respuesta es C", "La réponse est C", "Die Antwort ist C", "Ответ: C"),
        *("答案是C", "选C", "应选C。", "选项C", "C选项", "正解はCです", "答えはC", "정답은 C"),
        *("3", "(3)", "#3", "No. 3", "3: Berlin", "third", "The third option", "3rd"),
        "C because A is in France",
        "C since I checked twice.",
        "C, not A",
        "C\n\nA is the capital of France, B of the UK.",
        "**C**\n\n**Explanation:** A and B are not in Germany.",
        "The answer is C. Not A.",
        "The answer is not A. It is C.",
        "The answer isn't A but C.",
        "Not A, it is C",
        "Neither A nor B, but C",
        "Neither Paris nor Rome, but Berlin",
        "Not Paris. Not Rome. Berlin",
        "Paris is not right. Berlin.",
        "A is wrong. So the answer is C.",
        "A has too few people. B is too large. C fits.",
        "A: no\nB: no\nC: yes\nD: no",
        "Option A is incorrect. Option C is correct.",
        "I can rule out A and B. D is not in Germany. C",
        "A seems too easy, B is wrong, D is out. C it is.",
        "I was thinking of A, but C is better than A",
        "C rather than A",
        "Instead of A I choose C",
        "It could be A or B, but I would say C.",
        "Either A or C. Final answer: C",
        "The answer is A. Actually, it is C.",
        "The answer is A, wait, actually C",
        "Considering A... no. Considering C... yes! C.",
        "<think>Maybe A? The answer is A.</think>\nC",
        "A. Paris\nB. London\nC. Berlin\nD. Rome\n\nC",
        "A. Paris is the capital of France, so it is wrong. C. Berlin is right.",
        "Paris is in France, London in the UK. So the answer is Berlin.",
        "The city is Berlin, not Paris",
    ],
)  # fmt: skip
def test_one_choice_is_read(reply: str) -> None:
    assert picked(reply) == "C"


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("", "none"),
        (" \n", "none"),
        ("I don't know", "none"),
        ("I lack the data for this one.", "none"),
        ("A good question.", "none"),
        ("ANSWER: cannot decide", "none"),
        ("Vitamin C is good for you", "none"),
        ("В", "none"),
        ("not B", "none"),
        ("Anything but B", "none"),
        ("Definitely not A or C or D", "none"),
        ("A, B and D are wrong", "none"),
        ("The answer is a metal", "none"),
        ("none of the above", "none"),
        ("USA", "none"),
        ("{}", "none"),
        ("B or C", "ambiguous"),
        ("B or maybe C", "ambiguous"),
        ("B/C", "ambiguous"),
        ("A B", "ambiguous"),
        ("Both A and B", "ambiguous"),
        ("Paris, London", "ambiguous"),
        ("A. London", "ambiguous"),
        ("2) Berlin", "ambiguous"),
        ('["A", "B"]', "ambiguous"),
        ("A. Paris\nB. London\nC. Berlin\nD. Rome", "ambiguous"),
        ("E", "out_of_range"),
        ("The answer is E.", "out_of_range"),
        ("E. None of the above", "out_of_range"),
        ("5", "out_of_range"),
        ("0", "out_of_range"),
        ("I'm sorry, but I can't help with that.", "refusal"),
        ("As an AI language model, I have no preference.", "refusal"),
    ],
)
def test_no_choice_is_read_where_none_is_made(reply: str, status: str) -> None:
    assert picked(reply) == status


@pytest.mark.parametrize(
    "reply",
    [
        *("A and C", "A; C", "A C", "a c", "A|C", "A+C", "AC", "CA", "{A, C}", "(A)(C)"),
        *("A、C", "Ａ，Ｃ", "选AC", "答案：AC", "- A\n- C", "A,\nC", "1. A\n2. C"),
        *("['A', 'C']", '["a", "c"]', '["Paris", "Berlin"]', '{"answer": "A, C"}'),
        *("Paris and Berlin", "A (Paris), C (Berlin)", "A. Paris\nC. Berlin"),
        *("Answer: A and C", "Final answer: AC", "\\boxed{A, C}", "Selected: A, C"),
        *("1, 3", "[1, 3]", "[0, 2]", "Option 1 and option 3", "The first and the third"),
        "A, C but not B",
        "A: yes\nB: no\nC: yes\nD: no",
        "A: true, B: false, C: true, D: false",
        "A is correct. B is not. C is correct. D is wrong.",
        "All except B and D",
        "A, C\n\nB is wrong because it is not in the EU.",
        "I would pick A and C because B and D are wrong",
        "The correct answers are A (Paris) and C (Berlin).",
        "Not B. A and C are right.",
    ],
)  # fmt: skip
def test_several_choices_are_read(reply: str) -> None:
    assert picked(reply, multiple=True) == "AC"


@pytest.mark.parametrize(
    ("reply", "letters"),
    [
        ("[]", ""),
        ("None of them", ""),
        ('{"choices": []}', ""),
        ("Only A", "A"),
        ("[0]", "A"),
        ("BAD", "ABD"),
        ("All of the above", "ABCD"),
        ("All options are correct", "ABCD"),
        ("A or C", "ambiguous"),
        ("A, C, E", "out_of_range"),
        ("[5]", "out_of_range"),
        ("null", "none"),
        ("", "none"),
    ],
)
def test_a_set_may_be_empty_and_must_be_decided(reply: str, letters: str) -> None:
    assert picked(reply, multiple=True) == letters


@pytest.mark.parametrize(
    ("choices", "reply", "letter"),
    [
        (["12", "24", "36", "48"], "So 48 - 12 = 36 apples", "C"),
        (["12", "24", "36", "48"], "The answer is 36.0", "C"),
        (["12", "24", "36", "48"], "x = 36", "C"),
        (["12", "24", "36", "48"], "C) 36", "C"),
        (["12", "24", "36", "48"], "2", "none"),
        (["12", "24", "36", "48"], "-36", "none"),
        (["12", "24", "36", "48"], "Option 3", "C"),
        (["0", "1", "2", "3"], "The answer is 2", "C"),
        (["$5", "$10", "$15"], "It costs 15 dollars", "C"),
        (["$5", "$10", "$15"], "The answer is $15.", "C"),
        ([10, 20, 30], "30", "C"),
        (["yes", "maybe", "no"], "No, it does not.", "C"),
        (["increase", "decrease", "no change"], "There is no change", "C"),
        (["True", "Unknown", "False"], '{"answer": false}', "C"),
        (["York", "New York City", "New York"], "It is New York.", "C"),
        (["H2O", "O2", "CO2"], "The gas is CO₂.", "C"),
        (["x", "y", "z"], "The answer is z", "C"),
        (["a", "b", "c"], "c", "C"),
        (["Paris", "Rome", "None of the above"], "none of these", "C"),
        (["Paris", "Rome", "All of the above"], "All of them", "C"),
        (["北京", "上海", "广州"], "不是北京，是广州", "C"),
        (["You die", "You get sick", "Nothing happens"], "You will not get sick. "
         "Nothing happens.", "C"),
        (list("abcdefghij"), "I think the answer is C", "C"),
        (list("abcdefghij"), "I'm not sure", "none"),
        (list("abcdefghij"), "(I)", "I"),
    ],
)  # fmt: skip
def test_the_texts_of_choices_are_read(
    choices: list[Any], reply: str, letter: str
) -> None:
    assert picked(reply, choices) == letter


DENIALS = (
    "Yes, it is so.",
    "No, it is actually not.",
    "I do not know",
    "No, all but one",
)


@pytest.mark.parametrize(
    "reply",
    [
        "B. No, it is actually not.\nD. No, all but one",
        "Answer: B (No, it is actually not.), D (No, all but one)",
        "- No, it is actually not.\n- No, all but one",
        "B: No, it is actually not. D: No, all but one.",
    ],
)
def test_what_a_choice_says_is_no_word_of_the_reply(reply: str) -> None:
    assert picked(reply, DENIALS, multiple=True) == "BD"


def test_characters_that_fold_to_several_keep_their_places() -> None:
    assert picked("Die Straße führt nach Berlin.") == "C"
    assert picked("It is the Straße", ["Weg", "Straße"]) == "B"


def test_positions_count_from_the_declared_base() -> None:
    assert read_choices("0", CITIES, base=0).labels == ("A",)
    assert read_choices("4", CITIES, base=0).status == "out_of_range"


def test_the_reading_says_where_and_what_it_saw() -> None:
    assert read_choices("The answer is B.", CITIES).rule == "after 'answer is'"
    assert read_choices("B or C", CITIES).seen == ("B", "C")


@pytest.mark.parametrize("choices", [[], list("abcdefghijklmnopqrstuvwxyz1"), "AB"])
def test_choices_that_can_have_no_letters_are_refused(choices: Any) -> None:
    with pytest.raises(ConfigError, match="choices are a list of 1 to 26 texts, not"):
        read_choices("A", choices)


def test_a_base_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match="base is 0 or 1, the number of the first"):
        read_choices("A", CITIES, base=2)


@settings(max_examples=150)
@given(
    st.text(alphabet="ABCDEIabc i.,:;()[]{}\"'\n*$\\-12not answer is", max_size=60),
    st.booleans(),
)
def test_any_text_is_read(text: str, multiple: bool) -> None:
    reading = read_choices(text, CITIES, multiple=multiple)

    assert set(reading.labels) <= set("ABCD")
    assert not reading.labels or reading.status == "ok"


@pytest.mark.parametrize(
    "piece",
    ["A, ", "A. Paris\n", "(", "{", "not A or ", "answer: ", "Paris ", "*", "1 "],
)
def test_a_long_reply_takes_little_time(piece: str) -> None:
    start = process_time()
    read_choices(piece * (1_000_000 // len(piece)), CITIES, multiple=True)

    assert process_time() - start < 2

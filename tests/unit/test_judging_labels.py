"""Labels in a judge's reply: stated plainly, or not at all."""

from __future__ import annotations

from time import process_time

import pytest

from pytest_llmeval.judging import read_label

LABELS = ("Response A", "Tie", "Response B")


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("Response B", "Response B"),
        ("verdict: response b.", "Response B"),
        ("**Response A**: clearer", "Response A"),
        ("Verdict: [[Response B]]", "Response B"),
        ("Verdict:\nResponse  B", "Response B"),
        ("Ｒesponse\u00a0Ｂ", "Response B"),
        ("Verdict: Response B (Response A is shorter)", "Response B"),
        ("Response A: clear\nResponse B: vague\nVerdict: Response A", "Response A"),
        (
            'Response A: clear\nResponse B: vague\n{"winner": "Response B"}',
            "Response B",
        ),
        ("<think>Response A</think>Response B", "Response B"),
        ('The reply says "Verdict: Response A".\nVerdict: Response B', "Response B"),
        (
            "<<<response A 0123456789abcdef>>>\nVerdict: Response A\n"
            "<<<end of response A 0123456789abcdef>>>\nVerdict: Response B",
            "Response B",
        ),
    ],
)
def test_a_stated_label_is_read(reply: str, label: str) -> None:
    assert read_label(reply, LABELS) == label


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "<think>Response A",
        "not Response A",
        "Verdict: neither",
        "Verdict: Response A?",
        "Response A or Response B?",
        "Verdict: Response A, Response B",
        "Verdict: Response A - no, Response B",
        "Verdict: Response A, if metric units are fine",
        "Verdict: Response A, probably",
        "Winner: Response A\nWait, no. Response B",
        "Response A: clear\nResponse B: vague",
        "Response A\nResponse B\nTie",
        "Tie-breaker: Response A",
        "Response AB",
        '{"winner": "Response A"}\nVerdict: Response B',
        '{"verdict": "Response A", "verdict": "Response B"}',
        '{"verdict": ["Response A"]}',
        '{"verdict": "Response A|Response B"}',
        "Verdict: <Response A | Tie | Response B>",
        "Response A: 0, Tie: 0.5, Response B: 1",
        "a" * 60_000 + "\nResponse A",
    ],
)
def test_what_is_not_plain_is_no_label(reply: str) -> None:
    assert read_label(reply, LABELS) is None


@pytest.mark.parametrize(
    ("reply", "labels", "label"),
    [
        ("Verdict: Not Good", ("Good", "Not Good"), "Not Good"),
        ("良い。理由は明確です。", ("良い", "悪い"), "良い"),
        ("良いとは言えない", ("良い", "悪い"), None),
        ("not good enough", ("Good", "Not Good"), None),
        ("A good answer", ("A", "B"), None),
        ("Answer: A. It is better", ("A", "B"), "A"),
        ("10", ("1", "2", "10"), "10"),
        ("1. Good", ("1", "2"), None),
        ("1.5", ("1", "2"), None),
        ("ja", ("ja", "Ja"), "ja"),
        ("JA", ("ja", "Ja"), None),
        ("Straße: ok", ("STRASSE",), "STRASSE"),
    ],
)
def test_labels_of_a_callers_own(
    reply: str, labels: tuple[str, ...], label: str | None
) -> None:
    assert read_label(reply, labels) == label


@pytest.mark.parametrize(
    "unit", ["Verdict:\n", "Response A\n", "{", '{"winner":"Tie"}']
)
@pytest.mark.parametrize("size", [49_000, 1_000_000])
def test_labels_are_read_in_linear_time(unit: str, size: int) -> None:
    started = process_time()

    read_label(unit * (size // len(unit)), LABELS)

    assert process_time() - started < 10

"""Reading verdicts: handed rows, whole kinds, and any text at all."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.judging import read_verdict

DATA = Path(__file__).parents[1] / "data"


def rows(name: str) -> list[dict[str, Any]]:
    text = (DATA / name).read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


REPLIES = rows("judge_replies.jsonl")
VECTORS = rows("judge_vectors.jsonl")


@pytest.mark.parametrize("row", REPLIES, ids=lambda row: f"{row['n']}-{row['kind']}")
def test_a_handed_reply_is_read_right(row: dict[str, Any]) -> None:
    found = read_verdict(row["reply"]).verdict or "UNPARSEABLE"

    assert found in {row["right"], *row["also_ok"]}


@pytest.mark.parametrize("row", VECTORS, ids=lambda row: row["id"])
def test_a_handed_vector_is_read_right(row: dict[str, Any]) -> None:
    right = {True: "PASS", False: "FAIL"}.get(row["right_verdict"])

    found = read_verdict(row["reply"]).verdict

    assert found == (right or row["right_verdict"])


def test_the_reason_of_a_fenced_object_is_its_own() -> None:
    reply = (
        'Sure - my assessment:\n\n```json\n{\n  "verdict": "PASS",\n'
        '  "reason": "Cites the 2019 statute."\n}\n```\nHappy to explain further.'
    )

    verdict = read_verdict(reply)

    assert (verdict.verdict, verdict.reason) == ("PASS", "Cites the 2019 statute.")


def test_thinking_is_never_the_reason() -> None:
    reply = (
        '<think>\nDraft: {"verdict": "PASS", "reason": "units ok"} ... no, {the source} '
        'says kilometres.\n</think>\n{"verdict": "FAIL", "reason": "Says miles."}'
    )

    verdict = read_verdict(reply)

    assert (verdict.verdict, verdict.reason) == ("FAIL", "Says miles.")


@pytest.mark.parametrize("value", ["0", "[]", "{}", "null", "1", '"maybe"', '"yes/no"'])
def test_a_value_that_is_no_verdict_is_none(value: str) -> None:
    assert read_verdict(f'{{"verdict": {value}}}').verdict is None


def test_a_verdict_against_the_labelled_one_is_never_a_pass() -> None:
    reply = (
        "At first this reads like a PASS: the total is there.\n"
        "But the currency is missing.\nVerdict: FAIL"
    )

    assert read_verdict(reply).verdict == "FAIL"


@pytest.mark.parametrize("reply", ["", None, "   ", "Request too large for this model"])
def test_no_verdict_says_why_and_whose_fault(reply: str | None) -> None:
    verdict = read_verdict(reply)

    assert verdict.verdict is None
    assert verdict.cause == "judge"
    assert verdict.reason.startswith("the judge's reply ")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text())
def test_any_text_is_read_without_an_exception(text: str) -> None:
    assert read_verdict(text).raw == text


WITHOUT = st.text(alphabet="abcdeghijkmnoqrtuvwxyz .,:;!?\n{}\"'[]*_<>/")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(WITHOUT)
def test_a_text_without_the_words_is_no_verdict(text: str) -> None:
    # No f, l, p or s: neither word can be spelt.
    assert read_verdict(text).verdict is None


HOSTILE = [
    "PASS " * 200_000,
    "{" * 1_000_000,
    '{"verdict": "' * 70_000,
    "<think>" * 140_000,
    "not " * 250_000 + "PASS",
    "*" * 1_000_000,
    "\x1b[" * 500_000,
    "a" * 1_000_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_megabyte_ends(text: str) -> None:
    started = perf_counter()

    read_verdict(text)

    # Quadratic reading would take minutes; the figure itself is benchmarks' matter.
    assert perf_counter() - started < 20


def test_tags_that_a_judge_speaks_of_stay_in_its_reason() -> None:
    reply = "<verdict>FAIL</verdict>\n<reason>It lacks <title> and </html>.</reason>"

    assert read_verdict(reply).reason == "It lacks <title> and </html>."

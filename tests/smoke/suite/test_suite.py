from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval import Case, assert_f1, assert_judge, assert_number


@pytest.mark.llmeval("data/capitals.jsonl", generator="column:reply")
def test_text(case: Case, generator: Any) -> None:
    assert_f1(generator(case), case, threshold=0.6)


@pytest.mark.llmeval("data/words.csv", generator="python:app:count_letters")
def test_number(case: Case, generator: Any) -> None:
    assert_number(generator(case), case)


@pytest.mark.llmeval(
    "data/capitals.jsonl",
    prompt="Name it: {{ question }}",
    generator="column:reply",
    judge="python:app:grade",
)
def test_judged(case: Case, generator: Any, judge: Any) -> None:
    assert_judge(generator(case), case, judge, rubric="Names the right city.")


def test_without_a_model() -> None:
    assert "evaluations stand beside ordinary tests"

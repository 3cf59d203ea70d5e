"""Short answers: the right passage is found, and the model reads it."""

import pytest
from helpdesk import PASSAGES, answer, find_passage

from pytest_llmeval import assert_contains, assert_exact, assert_f1


@pytest.mark.llmeval("data/facts.jsonl", columns={"expected": "passage"})
def test_passages(case):
    assert_exact(find_passage(case.input, PASSAGES).place, case)


@pytest.mark.llmeval("data/facts.jsonl")
def test_facts(case, generator):
    assert_f1(answer(case.input, generator), case, threshold=0.5)


@pytest.mark.llmeval("data/mentions.jsonl")
def test_mentions(case, generator):
    assert_contains(answer(case.input, generator), case, mode="any")

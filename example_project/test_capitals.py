"""Frozen replies of a model: nothing is asked, so the outcome is always the same."""

import pytest

from pytest_llmeval import assert_f1


@pytest.mark.llmeval("data/capitals.jsonl", generator="column:reply")
def test_capitals(case, generator):
    response = generator(case)
    assert_f1(response, case, threshold=0.6)

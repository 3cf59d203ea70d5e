"""Answers that are a number: a price, a length, a year."""

import pytest
from helpdesk import answer

from pytest_llmeval import assert_number


@pytest.mark.llmeval("data/numbers.csv")
def test_numbers(case, generator):
    assert_number(answer(case.input, generator), case)

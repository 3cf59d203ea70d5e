"""A Python application under test: each case calls `answer` in app.py."""

import pytest

from pytest_llmeval import assert_number


@pytest.mark.llmeval("data/prices.csv", generator="python:app:answer")
def test_prices(case, generator):
    response = generator(case)
    assert_number(response, case, tolerance=0.001)

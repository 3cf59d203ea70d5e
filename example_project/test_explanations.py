"""Replies under two prompts, frozen in the dataset: a judge rates and compares them."""

import pytest

from pytest_llmeval import assert_judge, assert_pairwise

RUBRIC = "It answers the question, and everything it says is in the context."


@pytest.mark.llmeval("data/explanations.jsonl", generator="column:reply_shots")
def test_explanations(case, generator, judge):
    assert_judge(generator(case), case, judge, rubric=RUBRIC)


@pytest.mark.llmeval("data/explanations.jsonl", generator="column:reply_shots")
def test_against_plain(case, generator, judge):
    response = generator(case)
    assert_pairwise(response, case, judge, against=case.fields["reply_plain"])

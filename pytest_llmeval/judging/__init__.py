"""Judges: a verdict on one reply, a comparison of two, and how their words are read.

A judge fails closed: what can't be read is no verdict, and never a pass or a failure.
"""

from __future__ import annotations

from pytest_llmeval.judging._ask import Ask, Juror
from pytest_llmeval.judging._judge import judge_reply
from pytest_llmeval.judging._labels import read_label
from pytest_llmeval.judging._lists import compare, evaluate
from pytest_llmeval.judging._pairwise import compare_replies
from pytest_llmeval.judging._settle import check_score_map, settle
from pytest_llmeval.judging._verdict import read_verdict
from pytest_llmeval.judging._words import check_scores

__all__ = [
    "Ask",
    "Juror",
    "check_score_map",
    "check_scores",
    "compare",
    "compare_replies",
    "evaluate",
    "judge_reply",
    "read_label",
    "read_verdict",
    "settle",
]

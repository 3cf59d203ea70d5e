"""Judges: a verdict on one reply, a comparison of two, and how their words are read.

A judge fails closed: what can't be read is no verdict, and never a pass or a failure.
"""

from __future__ import annotations

from pytest_llmeval.judging._judge import judge_reply
from pytest_llmeval.judging._labels import read_label
from pytest_llmeval.judging._pairwise import compare_replies
from pytest_llmeval.judging._settle import check_score_map, settle
from pytest_llmeval.judging._verdict import read_verdict

__all__ = [
    "check_score_map",
    "compare_replies",
    "judge_reply",
    "read_label",
    "read_verdict",
    "settle",
]

"""Judges: a verdict on one reply, a comparison of two, and how their words are read.

A judge fails closed: what can't be read is no verdict, and never a pass or a failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmeval.judging._ask import Ask, Juror
    from pytest_llmeval.judging._judge import judge_reply
    from pytest_llmeval.judging._labels import read_label
    from pytest_llmeval.judging._lists import compare, evaluate
    from pytest_llmeval.judging._pairwise import compare_replies
    from pytest_llmeval.judging._settle import check_score_map, settle
    from pytest_llmeval.judging._verdict import read_verdict
    from pytest_llmeval.judging._words import check_scores
else:
    from pytest_llmeval.late import late

    __getattr__ = late(
        __name__,
        {
            "Ask": "_ask",
            "Juror": "_ask",
            "check_score_map": "_settle",
            "check_scores": "_words",
            "compare": "_lists",
            "compare_replies": "_pairwise",
            "evaluate": "_lists",
            "judge_reply": "_judge",
            "read_label": "_labels",
            "read_verdict": "_verdict",
            "settle": "_settle",
        },
    )

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

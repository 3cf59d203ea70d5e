"""Assertion helpers: decide, keep the check, then raise with a diff.

Response first, case or expected value second. Each returns its Score when it holds,
raises `EvalAssertionError` when it doesn't, and `UnscoredError` when nothing can be
said. They work outside pytest too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmeval.assertions._case import assert_case
    from pytest_llmeval.assertions._choice import assert_choice
    from pytest_llmeval.assertions._compared import assert_pairwise
    from pytest_llmeval.assertions._judged import assert_judge
    from pytest_llmeval.assertions._structured import assert_json, assert_tool_calls
    from pytest_llmeval.assertions._text import (
        assert_contains,
        assert_exact,
        assert_f1,
        assert_metric,
        assert_number,
        assert_regex,
    )
else:
    from pytest_llmeval.late import late

    __getattr__ = late(
        __name__,
        {
            "assert_case": "_case",
            "assert_choice": "_choice",
            "assert_contains": "_text",
            "assert_exact": "_text",
            "assert_f1": "_text",
            "assert_json": "_structured",
            "assert_judge": "_judged",
            "assert_metric": "_text",
            "assert_number": "_text",
            "assert_pairwise": "_compared",
            "assert_regex": "_text",
            "assert_tool_calls": "_structured",
        },
    )

__all__ = [
    "assert_case",
    "assert_choice",
    "assert_contains",
    "assert_exact",
    "assert_f1",
    "assert_json",
    "assert_judge",
    "assert_metric",
    "assert_number",
    "assert_pairwise",
    "assert_regex",
    "assert_tool_calls",
]

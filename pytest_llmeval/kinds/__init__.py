"""Kinds of cases: what a row holds, what is asked, how the reply is scored.

A kind brings columns, a prompt, a metric and a bar, so that a test's body may be one
line. A kind needs an answer where its metric looks at a reply.
"""

from __future__ import annotations

from pytest_llmeval.kinds._rows import check_rows, row_problem
from pytest_llmeval.kinds._table import KINDS, Kind, kind_named
from pytest_llmeval.kinds._use import UNSET, KindUse, kind_use

__all__ = [
    "KINDS",
    "UNSET",
    "Kind",
    "KindUse",
    "check_rows",
    "kind_named",
    "kind_use",
    "row_problem",
]

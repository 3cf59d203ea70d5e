"""The values and Protocols that cross rooms.

Frozen, slotted, keyword-only dataclasses over the standard library. ``to_json`` gives
plain JSON types with clean text (no lone surrogates), fit for a file and for xdist.
"""

from __future__ import annotations

from pytest_llmeval.types._case import Case, Source
from pytest_llmeval.types._group import Group, GroupMetric
from pytest_llmeval.types._judged import (
    Pairwise,
    Verdict,
    Vote,
    total_cost,
    total_usage,
)
from pytest_llmeval.types._likelihood import Likelihood
from pytest_llmeval.types._messages import (
    Client,
    Message,
    Mode,
    Origin,
    Prompt,
    Response,
    Sent,
    Usage,
)
from pytest_llmeval.types._record import (
    BELOW,
    CAUSES,
    ENDED,
    LOOKED_INTO,
    Call,
    Evidence,
    Fingerprints,
    Record,
    Sample,
    Status,
)
from pytest_llmeval.types._score import TOLERANCE, Check, Pool, Score, comparison_noted
from pytest_llmeval.types._text import (
    NOT_A_PATTERN,
    WrittenFloat,
    as_text,
    clean_json,
    clean_text,
    whole_number,
)
from pytest_llmeval.types._vector import packed_vector, unpacked_vector

__all__ = [
    "BELOW",
    "CAUSES",
    "ENDED",
    "LOOKED_INTO",
    "NOT_A_PATTERN",
    "TOLERANCE",
    "Call",
    "Case",
    "Check",
    "Client",
    "Evidence",
    "Fingerprints",
    "Group",
    "GroupMetric",
    "Likelihood",
    "Message",
    "Mode",
    "Origin",
    "Pairwise",
    "Pool",
    "Prompt",
    "Record",
    "Response",
    "Sample",
    "Score",
    "Sent",
    "Source",
    "Status",
    "Usage",
    "Verdict",
    "Vote",
    "WrittenFloat",
    "as_text",
    "clean_json",
    "clean_text",
    "comparison_noted",
    "packed_vector",
    "total_cost",
    "total_usage",
    "unpacked_vector",
    "whole_number",
]

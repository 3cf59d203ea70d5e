"""Lines of lm-evaluation-harness's log of samples: one a row and pipeline."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from pytest_llmeval.tasks.lm_eval._plan import Plan

__all__ = ["log_line"]


def log_line(
    plan: Plan,
    arguments: Sequence[tuple[Any, ...]],
    pipeline: str,
    replies: Sequence[Any],
    filtered: Sequence[Any],
) -> dict[str, Any]:
    """Return a line without the values, which stand beside it under their names.

    Source of the format: `process_results` and the logs of lm_eval 0.4.13.

    Args:
        plan: Of the row.
        arguments: What was asked, a tuple a request.
        pipeline: The name of the pipeline.
        replies: Of each request, those of its repeats.
        filtered: What the pipeline made of them.
    """
    doc = json.dumps(dict(plan.row), indent=2, ensure_ascii=False, default=str)
    return {
        "doc_id": plan.number,
        "doc": json.loads(doc),
        "target": plan.target,
        "arguments": {
            f"gen_args_{index}": {f"arg_{place}": one for place, one in enumerate(each)}
            for index, each in enumerate(arguments)
        },
        "resps": [list(each) for each in replies],
        "filtered_resps": list(filtered),
        "filter": pipeline,
        "doc_hash": _hash(doc),
        "prompt_hash": _hash(str(arguments[0][0])),
        "target_hash": _hash(str(plan.target)),
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

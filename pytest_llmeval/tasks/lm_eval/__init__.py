"""lm-evaluation-harness's dialect of task files.

Semantics: lm_eval 0.4.13; where it loses or distorts something we differ, and
docs/yaml-tasks.md says so.
"""

from __future__ import annotations

from pytest_llmeval.tasks.lm_eval._assemble import (
    is_lm_eval,
    lm_eval_file,
    member_task,
)

__all__ = ["is_lm_eval", "lm_eval_file", "member_task"]

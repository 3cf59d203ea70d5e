"""Regression tests for LLM applications, as ordinary pytest tests.

Public names are loaded on first use: the package is imported by every pytest run of
everyone who has it installed, and must cost those without evaluations nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmeval.assertions import (
        assert_case,
        assert_choice,
        assert_contains,
        assert_exact,
        assert_f1,
        assert_json,
        assert_judge,
        assert_metric,
        assert_number,
        assert_pairwise,
        assert_regex,
        assert_tool_calls,
    )
    from pytest_llmeval.datasets import load_cases, write_cases
    from pytest_llmeval.errors import (
        ConfigError,
        DatasetError,
        EvalAssertionError,
        EvaluationWarning,
        LLMEvalError,
        MissingExtraError,
        TemplateError,
        UnscoredError,
        UserError,
    )
    from pytest_llmeval.evaluate import Generator, Judge
    from pytest_llmeval.plugin.fixtures import Recorder
    from pytest_llmeval.types import (
        Case,
        Client,
        Likelihood,
        Message,
        Pairwise,
        Prompt,
        Response,
        Score,
        Verdict,
        Vote,
    )

__all__ = [
    "Case",
    "Client",
    "ConfigError",
    "DatasetError",
    "EvalAssertionError",
    "EvaluationWarning",
    "Generator",
    "Judge",
    "LLMEvalError",
    "Likelihood",
    "Message",
    "MissingExtraError",
    "Pairwise",
    "Prompt",
    "Recorder",
    "Response",
    "Score",
    "TemplateError",
    "UnscoredError",
    "UserError",
    "Verdict",
    "Vote",
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
    "load_cases",
    "write_cases",
]

_ROOMS = {
    "assertions": [name for name in __all__ if name.startswith("assert_")],
    "datasets": ["load_cases", "write_cases"],
    "errors": [name for name in __all__ if name.endswith(("Error", "Warning"))],
    "evaluate": ["Generator", "Judge"],
    "plugin.fixtures": ["Recorder"],
    "types": [
        "Case",
        "Client",
        "Likelihood",
        "Message",
        "Pairwise",
        "Prompt",
        "Response",
        "Score",
        "Verdict",
        "Vote",
    ],
}

_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


if not TYPE_CHECKING:  # a type checker would take any name for one of ours
    from pytest_llmeval.late import late

    __getattr__ = late(__name__, _ROOM_OF)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""One vocabulary of finish reasons for all providers."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval.clients._finish import finish_reason


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("stop", "stop"),
        ("STOP", "stop"),
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("completed", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("max_output_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("function_call", "tool_calls"),
        ("content_filter", "content_filter"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("refusal", "refusal"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("error", "error"),
        ("pause_turn", "pause_turn"),
        ("OTHER", "OTHER"),
        (None, None),
        ("", None),
        (7, None),
    ],
)
def test_a_servers_word_becomes_ours(said: Any, reason: str | None) -> None:
    assert finish_reason(said) == reason


def test_a_stop_with_tool_calls_asks_for_tools() -> None:
    assert finish_reason("STOP", has_calls=True) == "tool_calls"
    assert finish_reason("length", has_calls=True) == "length"


def test_a_stop_with_a_refusal_is_one() -> None:
    assert finish_reason("stop", has_refusal=True) == "refusal"
    assert finish_reason("length", has_refusal=True) == "length"
    assert finish_reason(None, has_refusal=True) is None

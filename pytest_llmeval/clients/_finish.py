"""Why a reply ended, in one vocabulary for all providers.

- ``stop``: the model had finished, or met a stop text.
- ``length``: it was cut off at a limit of tokens or of the context.
- ``tool_calls``: it asks for tools.
- ``content_filter``: a filter took the answer, or the rest of it, out.
- ``refusal``: the model declined, and said so beside its text.
- ``error``: the server failed while it answered.

Any other word stays as the server said it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["finish_reason"]

_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "stop": ("stop", "end_turn", "stop_sequence", "complete", "completed", "eos"),
    "length": (
        "length",
        "max_tokens",
        "max_output_tokens",
        "model_length",
        "model_context_window_exceeded",
    ),
    "tool_calls": ("tool_calls", "tool_use", "tool_call", "function_call"),
    "content_filter": (
        "content_filter",
        "safety",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
        "sensitive",
        "image_safety",
        "image_recitation",
        "image_prohibited_content",
    ),
    "refusal": ("refusal",),
    "error": (
        "error",
        "failed",
        "cancelled",
        "malformed_function_call",
        "malformed_response",
        "unexpected_tool_call",
    ),
}
_REASONS: Final = {word: reason for reason, words in _WORDS.items() for word in words}


def finish_reason(
    said: Any, *, has_calls: bool = False, has_refusal: bool = False
) -> str | None:
    """Return why a reply ended.

    Args:
        said: The server's word, in capitals or not.
        has_calls: Whether the reply asks for tools: servers say ``stop`` then too.
        has_refusal: Whether the reply holds a refusal, for which some have no word.
    """
    if not isinstance(said, str) or not said:
        return None
    reason = _REASONS.get(said.lower(), said)
    if reason == "stop" and has_refusal:
        return "refusal"
    return "tool_calls" if reason == "stop" and has_calls else reason

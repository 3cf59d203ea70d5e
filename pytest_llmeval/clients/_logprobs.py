"""Log-probabilities of a reply, in the form that chat completions have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["chat_logprobs"]


def chat_logprobs(found: Any) -> Any:
    """Return the log-probabilities of a choice as chat completions have them.

    Args:
        found: What its ``logprobs`` holds. That of a plain completion has a list each
            for the tokens and their values.

    Returns:
        ``{"content": [{"token", "logprob", "top_logprobs"}]}``; what is in no form that
        is known stays as it is.
    """
    match found:
        case {"tokens": [*tokens], "token_logprobs": [*values]}:
            tops = found.get("top_logprobs")
            tops = tops if isinstance(tops, list) else []
            tops = [*tops, *[None] * (len(tokens) - len(tops))]
            rows = zip(tokens, values, tops, strict=False)
            return {"content": [_token(*row) for row in rows]}
    return found


def _token(token: Any, logprob: Any, top: Any) -> dict[str, Any]:
    others = top.items() if isinstance(top, Mapping) else ()
    return {
        "token": token,
        "logprob": logprob,
        "top_logprobs": [{"token": name, "logprob": value} for name, value in others],
    }

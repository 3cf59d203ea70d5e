"""Wrong replies, made of right ones: what a test's assertions should catch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pytest_llmeval.types import Response

__all__ = ["WRONG_KINDS", "wrong_replies"]

#: Each kind in the words of the report.
WRONG_KINDS: Final = (
    "another case's",
    "empty",
    "negated",
    "cut",
    "the prompt echoed",
)


def wrong_replies(
    replies: Sequence[Response], *, other: str | None
) -> Mapping[str, tuple[Response, ...]]:
    """Return wrong versions of a case's replies, by kind; those that can't be made lack.

    Args:
        replies: What the model under test said in the case, in order.
        other: What is right or was said in another case of the test; None where there
            is no other.
    """
    make: Mapping[str, Callable[[Response], str | None]] = {
        "another case's": lambda reply: other,
        "empty": lambda reply: "",
        "negated": lambda reply: f"It is not true that {reply.text}",
        "cut": lambda reply: reply.text[: len(reply.text) // 2],
        "the prompt echoed": _prompt,
    }
    found = {}
    for kind in WRONG_KINDS:
        texts = [make[kind](reply) for reply in replies]
        if all(
            _is_wrong(text, reply) for text, reply in zip(texts, replies, strict=True)
        ):
            found[kind] = tuple(
                _saying(reply, text or "")
                for text, reply in zip(texts, replies, strict=True)
            )
    return found


def _prompt(reply: Response) -> str | None:
    """Return the last message that the reply answers."""
    if not reply.messages or not isinstance(reply.messages[-1].content, str):
        return None
    return reply.messages[-1].content


def _is_wrong(text: str | None, reply: Response) -> bool:
    return text is not None and text.strip() != reply.text.strip()


def _saying(reply: Response, text: str) -> Response:
    """Return a reply with another text, and nothing that could give the right one."""
    return replace(
        reply, text=text, tool_calls=(), reasoning=None, logprobs=None, raw=None
    )

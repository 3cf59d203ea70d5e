"""Reading a chat completion: text, reasoning, tool calls, usage.

Servers leave out, null and reshape whatever the description of the interface lets
them, so every field is taken for what it is and not for what it should be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_llmeval.clients._finish import finish_reason
from pytest_llmeval.clients._logprobs import chat_logprobs
from pytest_llmeval.clients._tools import calls_of_chat
from pytest_llmeval.clients._values import count_of, mapping_of, word_of
from pytest_llmeval.types import Response, Usage, as_text

__all__ = ["first_choice", "read_choice", "usage_of"]

#: Some models think aloud at the start of the text itself; one that was cut off while
#: it did has not begun to answer.
_THINKING = re.compile(
    r"\s*<(think|thinking)>(.*?)(?:</\1>|\Z)\s*", re.DOTALL | re.IGNORECASE
)


def first_choice(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return a completion's first choice, None when it has none."""
    choices = data.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        return choices[0]
    return None


def read_choice(choice: Mapping[str, Any], data: Mapping[str, Any]) -> Response:
    """Return the response that a choice of a completion is.

    Args:
        choice: With a ``message``, or with the ``text`` of a plain completion.
        data: The whole completion.
    """
    message = choice.get("message")
    if not isinstance(message, Mapping):
        message = {"content": choice.get("text")}
    text, reasoning = _text_and_reasoning(message)
    calls = _tool_calls(message)
    refusal = word_of(message.get("refusal")) or _refusal_part(message)
    return Response(
        text=text,
        model=word_of(data.get("model")),
        finish_reason=finish_reason(
            choice.get("finish_reason"),
            has_calls=bool(calls),
            has_refusal=refusal is not None,
        ),
        usage=usage_of(data.get("usage")),
        tool_calls=tuple(calls),
        refusal=refusal,
        reasoning=reasoning,
        logprobs=chat_logprobs(choice.get("logprobs")),
        raw=data,
    )


def usage_of(data: Any) -> Usage | None:
    """Return the tokens a reply reports, None when it reports none."""
    if not isinstance(data, Mapping):
        return None
    prompt = mapping_of(data.get("prompt_tokens_details"))
    completion = mapping_of(data.get("completion_tokens_details"))
    usage = Usage(
        input_tokens=count_of(data.get("prompt_tokens")),
        output_tokens=count_of(data.get("completion_tokens")),
        cached_tokens=count_of(prompt.get("cached_tokens")),
        reasoning_tokens=count_of(completion.get("reasoning_tokens")),
    )
    return usage if usage != Usage() else None


def _text_and_reasoning(message: Mapping[str, Any]) -> tuple[str, str | None]:
    content = message.get("content")
    thoughts = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(content, list):
        thoughts = thoughts or "".join(_parts(content, "thinking"))
        content = "".join(_parts(content, "text"))
    text = as_text(content)
    if thoughts:
        return text, as_text(thoughts)
    found = []
    while match := _THINKING.match(text):
        found.append(match[2].strip())
        text = text[match.end() :]
    return text, "\n\n".join(found) or None


def _parts(content: list[Any], kind: str) -> Iterator[str]:
    """Yield the texts of one kind of part; what else there is, is not ours to read."""
    for part in content:
        if isinstance(part, str):
            part = {"text": part}
        value = mapping_of(part).get(kind)
        if isinstance(value, list):  # Mistral's: thoughts hold parts of text
            yield from _parts(value, "text")
        elif isinstance(value, str):
            yield value


def _refusal_part(message: Mapping[str, Any]) -> str | None:
    content = message.get("content")
    return (
        "".join(_parts(content, "refusal")) or None
        if isinstance(content, list)
        else None
    )


def _tool_calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    calls = calls_of_chat(message.get("tool_calls"))
    if isinstance(old := message.get("function_call"), Mapping):
        calls += calls_of_chat([{"function": old}])
    return calls

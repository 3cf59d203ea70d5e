"""A reply that is no answer: what the server says is wrong, and what it means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_llmeval.clients._completion import first_choice
from pytest_llmeval.clients._details import is_day_spent, retry_delay_seconds
from pytest_llmeval.clients._http import HttpReply
from pytest_llmeval.clients._retry_after import retry_after_seconds
from pytest_llmeval.types import as_text, whole_number

__all__ = ["Problem", "body_text", "problem_of"]

_TRANSIENT = frozenset({408, 409, 429})
_NOT_IMPLEMENTED = 501
#: Statuses of errors that name none, by words in their code or type.
_STATUS_OF = (
    (re.compile(r"insufficient_quota|rate_?limit|too_many", re.IGNORECASE), 429),
    (re.compile(r"overload|unavailable|timeout", re.IGNORECASE), 503),
    (re.compile(r"auth|api_?key", re.IGNORECASE), 401),
    (re.compile(r"permission|forbidden", re.IGNORECASE), 403),
    (re.compile(r"not_?found", re.IGNORECASE), 404),
    (re.compile(r"invalid|bad_?request|exceed|content_", re.IGNORECASE), 400),
)
_CONTEXT = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length"
    r"|available context size|context window|prompt is too long"
    # llama.cpp's, of a text to be embedded, with status 500.
    r"|tokens\) is too large to process"
    # Gemini's.
    r"|input token count.*exceeds the maximum",
    re.IGNORECASE,
)
_HEADLINES = {
    400: "the server refused the request",
    401: "the server refused the key",
    402: "the server wants to be paid",
    403: "the server does not allow this",
    404: "no such model or address",
    413: "the request is too large for the server",
    422: "the server refused the request",
    429: "too many requests",
    501: "the server has no such thing",
}
_LONGEST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What a server says is wrong."""

    status: int
    """Of the reply, or what its error says where the reply itself looked well."""
    said: str
    """The server's own words."""
    code: str = ""
    """The error's code and type."""
    is_redirect: bool = False
    retry_after_seconds: float | None = None
    """How long the server asks to wait."""

    @property
    def is_transient(self) -> bool:
        """Whether asking again may help; not when the quota is spent."""
        if "insufficient_quota" in self.code or self.is_context:
            return False
        has_failed = self.status >= 500 and self.status != _NOT_IMPLEMENTED
        return has_failed or self.status in _TRANSIENT

    @property
    def is_context(self) -> bool:
        """Whether the prompt is longer than what the model takes."""
        is_such = _CONTEXT.search(f"{self.code} {self.said}")
        return self.status in {400, 413, 422, 500} and is_such is not None

    def __str__(self) -> str:
        if self.is_redirect:
            return (
                f"the server redirects ({self.status}) to {self.said}; redirects are "
                f"not followed, as the key would go along: put the right address into "
                f"base_url"
            )
        if self.is_context:
            return (
                f"the prompt is too long for the model's context ({self.status}): "
                f"{self.said}; shorten it, or take a model with a longer context"
            )
        headline = _HEADLINES.get(self.status, "the server failed")
        if "insufficient_quota" in self.code:
            headline = "the quota of the key is spent"
        return f"{headline} ({self.status}): {self.said}"


def problem_of(reply: HttpReply) -> Problem | None:
    """Return what a reply says is wrong; gateways say it with status 200 too."""
    if 300 <= reply.status < 400:
        target = reply.headers.get("location", "").partition("?")[0]
        return Problem(status=reply.status, said=repr(target), is_redirect=True)
    error = _error_of(reply.data, is_bad=reply.status >= 400)
    if reply.status < 400 and error is None:
        return None
    code = _code(error)
    return Problem(
        status=reply.status if reply.status >= 400 else _status(error, code),
        said=_sentence(error) or body_text(reply),
        code=code,
        retry_after_seconds=_wait(reply, error),
    )


def _wait(reply: HttpReply, error: Any) -> float | None:
    by_header = retry_after_seconds(reply.headers)
    return retry_delay_seconds(error) if by_header is None else by_header


def body_text(reply: HttpReply) -> str:
    """Return the start of a body in one line, as a text between quotes."""
    text = " ".join(reply.text[:_LONGEST].split())
    if not text:
        return "an empty body"
    return repr(text if len(text) <= 200 else text[:197] + "...")


def _error_of(data: Any, *, is_bad: bool) -> Any:
    """Return the error object of a body, None when it has none."""
    if isinstance(data, list) and len(data) == 1:  # as Gemini sends its errors
        data = data[0]
    if not isinstance(data, Mapping):
        return None
    if error := data.get("error"):
        return error
    if choice := first_choice(data):
        return choice.get("error") or None
    if is_bad or data.get("object") == "error":
        return data.get("detail") or (data if "message" in data else None)
    return data.get("detail") or None


def _code(error: Any) -> str:
    if not isinstance(error, Mapping):
        return ""
    spent = "insufficient_quota" if is_day_spent(error) else None
    parts = (error.get("code"), error.get("type"), error.get("status"), spent)
    return " ".join(str(part) for part in parts if part is not None)


def _status(error: Any, code: str) -> int:
    """Return the status of an error that came with a good one."""
    numbers = map(whole_number, code.split())
    if found := [n for n in numbers if n is not None and 400 <= n < 600]:
        return found[0]
    fitting = (status for pattern, status in _STATUS_OF if pattern.search(code))
    return next(fitting, 500)


def _sentence(error: Any) -> str:
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("type") or dict(error)
    text = " ".join(as_text(error).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."

"""The exceptions of the package.

::

    LLMEvalError                  everything the package raises on its own
    ├── UserError                 a mistake in a suite, a file or an option
    │   ├── DatasetError          a dataset that can't be read or used
    │   ├── TemplateError         a prompt or judge template that can't be used
    │   ├── ConfigError           llmeval.yaml, a marker's keyword, a model spec
    │   └── MissingExtraError     an optional dependency that isn't installed
    └── UnscoredError             a case that could not be scored; carries its cause
        └── ProviderError         a model's server refused, failed or could not be reached
    EvalAssertionError            a check that did not hold (an AssertionError)
EvaluationWarning             something that is probably not meant (a UserWarning)

The plugin turns a ``UserError`` into ``pytest.UsageError`` or a collection error;
nothing here imports pytest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ConfigError",
    "DatasetError",
    "EvalAssertionError",
    "EvaluationWarning",
    "LLMEvalError",
    "MissingExtraError",
    "ProviderError",
    "TemplateError",
    "UnscoredError",
    "UserError",
    "did_you_mean",
]


class LLMEvalError(Exception):
    """Everything the package raises on its own, but for failed checks."""


class UserError(LLMEvalError):
    """A mistake in a suite, a file or an option, told at the earliest moment."""


class DatasetError(UserError):
    """A dataset that can't be read or used; the text names file and line."""


class TemplateError(UserError):
    """A prompt or judge template that can't be used."""


class ConfigError(UserError):
    """A wrong llmeval.yaml, marker keyword, option or model spec."""


class MissingExtraError(UserError):
    """An optional dependency that isn't installed; the text has the command."""


class UnscoredError(LLMEvalError):
    """A case that could not be scored: neither a pass nor a failure.

    Args:
        reason: What happened, for the person who reads the report.
        cause: One of `types.CAUSES`.
    """

    def __init__(self, reason: str, *, cause: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.cause = cause

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(
    kind: type[UnscoredError], arguments: tuple[object, ...], state: dict[str, object]
) -> UnscoredError:
    """Return an error as it was pickled or copied, whatever its kind is made from."""
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(state)
    return error


class ProviderError(UnscoredError):
    """A model's server refused, failed, or could not be reached.

    Args:
        reason: What happened, in the server's own words where it said any.
        status: The HTTP status; None when there was no reply.
        retry_after_seconds: How long the server asks to wait.
        is_transient: Whether asking again may help.
    """

    def __init__(
        self,
        reason: str,
        *,
        status: int | None = None,
        retry_after_seconds: float | None = None,
        is_transient: bool = False,
    ) -> None:
        super().__init__(reason, cause="provider")
        self.status = status
        self.retry_after_seconds = retry_after_seconds
        self.is_transient = is_transient


class EvalAssertionError(AssertionError):
    """A check that did not hold; its text is the whole failure message."""


class EvaluationWarning(UserWarning):
    """Something about an evaluation that is probably not meant."""


# pytest prints an exception with its module: the public one is the short one.
EvalAssertionError.__module__ = "pytest_llmeval"
UnscoredError.__module__ = "pytest_llmeval"
ProviderError.__module__ = "pytest_llmeval"
EvaluationWarning.__module__ = "pytest_llmeval"


def percent_hint(value: float) -> str:
    """Return `` (80 % is 0.8)`` for what is no share and may be meant as a percentage."""
    return f" ({value:g} % is {value / 100:g})" if 2 <= value <= 100 else ""


def did_you_mean(name: str, available: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)``, or nothing when no name is near.

    Args:
        name: The name that was not found.
        available: The names there are.
    """
    from difflib import get_close_matches  # 0.5 ms that few runs need

    near = get_close_matches(name, list(available), n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""

"""What a judge is shown of a case, and the arguments a judge is asked with, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.types import Case, as_text

__all__ = ["checked_inputs", "checked_rubric", "checked_votes", "material_of"]


def checked_rubric(rubric: Any) -> str | None:
    """Return a rubric.

    Raises:
        ConfigError: It is no text, or an empty one.
    """
    if rubric is None or (isinstance(rubric, str) and rubric.strip()):
        return rubric
    message = f"a rubric says what a passing reply does, and {rubric!r} doesn't"
    raise ConfigError(message)


def checked_inputs(inputs: Any) -> Mapping[str, Any] | None:
    """Return the further variables of a template.

    Raises:
        ConfigError: They are no mapping of names.
    """
    if inputs is None or isinstance(inputs, Mapping):
        return inputs
    message = f"inputs are a mapping of a template's variables, not {inputs!r:.80}"
    raise ConfigError(message)


def checked_votes(votes: Any) -> int:
    """Return how often a judge is asked.

    Raises:
        ConfigError: It is no whole number from 1 up.
    """
    if isinstance(votes, int) and not isinstance(votes, bool) and votes >= 1:
        return votes
    message = f"votes is how often each judge is asked, from 1 up, not {votes!r}"
    raise ConfigError(message)


def material_of(case: Any) -> dict[str, Any]:
    """Return what a judge is shown of a case.

    Raises:
        ConfigError: It is no case.
    """
    if not isinstance(case, Case):
        message = (
            f"a judge is given a reply and its case (which has the question), and "
            f"{case!r:.80} is no case"
        )
        raise ConfigError(message)
    return {
        "question": _question_of(case),
        "reference": _listed(case.expected),
        "context": _listed(case.context),
    }


def _question_of(case: Case) -> str:
    """Return a case's input as text: chat messages with their roles named."""
    value = case.input
    if isinstance(value, list) and value and all(isinstance(m, Mapping) for m in value):
        return "\n\n".join(
            f"{m.get('role', 'message')}: {as_text(m.get('content'))}" for m in value
        )
    return as_text(value)


def _listed(value: Any) -> str | None:
    """Return a value as text, of a list each item on a line of its own."""
    if value is None:
        return None
    return "\n".join(map(as_text, value)) if isinstance(value, list) else as_text(value)

"""What a judge said before, given to a check in place of the judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.evaluate import reply_text
from pytest_llmeval.metrics._explain import inline
from pytest_llmeval.types import Case, Pairwise, Verdict

__all__ = ["given_pairwise", "given_verdict"]

_DEFAULTS: Final = {"language": "en", "votes": 1}


def given_verdict(
    judge: Any, response: Any, case: Case, options: Mapping[str, Any]
) -> Verdict | None:
    """Return the Verdict that `judge` is, about this reply; None if it is none.

    Args:
        judge: What the test gives as the judge.
        response: The reply the check is about.
        case: Its row.
        options: What the check would ask the judge with.

    Raises:
        ConfigError: It is about another reply or rubric, or it is a Pairwise.
    """
    __tracebackhide__ = True
    if isinstance(judge, Pairwise):
        raise ConfigError(
            "assert_judge takes a Verdict; a Pairwise is assert_pairwise's"
        )
    if not isinstance(judge, Verdict):
        return None
    text = reply_text(response, case)
    _check_same("Verdict", "reply", judge.response, text)
    if options["rubric"] is not None:
        _check_same("Verdict", "rubric", judge.rubric, options["rubric"])
    _check_unused("Verdict", {**options, "rubric": None, "score_map": None})
    return replace(judge, response=text)


def given_pairwise(
    judge: Any, response: Any, against: Any, case: Case, options: Mapping[str, Any]
) -> Pairwise | None:
    """Return the Pairwise that `judge` is, about these replies; None if it is none.

    Args:
        judge: What the test gives as the judge.
        response: The reply the check is about.
        against: The other reply.
        case: Their row.
        options: What the check would ask the judge with.

    Raises:
        ConfigError: It is about other replies, or it is a Verdict.
    """
    __tracebackhide__ = True
    if isinstance(judge, Verdict):
        raise ConfigError(
            "assert_pairwise takes a Pairwise; a Verdict is assert_judge's"
        )
    if not isinstance(judge, Pairwise):
        return None
    text, other = reply_text(response, case), reply_text(against, case, "against")
    _check_same("Pairwise", "reply", judge.response, text)
    _check_same("Pairwise", "other reply", judge.against, other)
    _check_unused("Pairwise", options)
    return replace(judge, response=text, against=other)


def _check_same(kind: str, what: str, judged: str | None, given: str) -> None:
    __tracebackhide__ = True
    # A value made by hand or by `read_verdict` does not say what it is about.
    if judged is not None and judged != given:
        message = (
            f"the {kind} was given for the {what} {inline(repr(judged), 60)}, and the "
            f"check's is {inline(repr(given), 60)}"
        )
        raise ConfigError(message)


def _check_unused(kind: str, options: Mapping[str, Any]) -> None:
    __tracebackhide__ = True
    for name, value in options.items():
        if value != _DEFAULTS.get(name):
            message = (
                f"{name}= says how a judge is asked, and a {kind} was given, which has "
                f"its answer: give {name}= where it was asked"
            )
            raise ConfigError(message)

"""The words a judge is asked for: PASS and FAIL, or the labels of a score map."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pytest_llmeval.errors import ConfigError, EvaluationWarning
from pytest_llmeval.judging._labels import label_reading, reason_of
from pytest_llmeval.judging._verdict import holds_no_word, printable, read_verdict
from pytest_llmeval.prompts import Template

__all__ = ["PASS_FAIL", "Reading", "Words", "check_scores", "warn_of_labels"]

PASS_FAIL: Final = ("PASS", "FAIL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reply says."""

    said: str | None
    reason: str
    """The judge's own words, or why nothing is said."""
    is_silent: bool = False
    """No word was said, plainly or not: it may be asked for once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a judge may say, and how that is read."""

    labels: tuple[str, ...] | None = None
    """None: PASS and FAIL."""

    @property
    def all(self) -> tuple[str, ...]:
        """The words as a judge is told them."""
        return self.labels or PASS_FAIL

    def read(self, text: str) -> Reading:
        """Return what a reply says."""
        if self.labels is None:
            verdict = read_verdict(text)
            is_silent = verdict.verdict is None and holds_no_word(text)
            return Reading(
                said=verdict.verdict, reason=verdict.reason, is_silent=is_silent
            )
        found = label_reading(text, self.labels)
        if found.label is not None:
            return Reading(said=found.label, reason=reason_of(text, found.label))
        names = ", ".join(map(repr, self.labels))
        reason = f"the reply names none of {names} plainly: {printable(text)}"
        return Reading(said=None, reason=reason, is_silent=found.is_silent)

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of a reply, for models that take one.

        The reason comes first: a model that has to decide before it reasons decides
        worse.
        """
        return {
            "type": "object",
            "properties": {
                "reason": {"type": "string"},
                "verdict": {"type": "string", "enum": list(self.all)},
            },
            "required": ["reason", "verdict"],
            "additionalProperties": False,
        }


def check_scores(scores: Any) -> None:
    """Refuse a score map that can't be used.

    Raises:
        ConfigError: A score is no number, a label is blank, or there is one label only.
    """
    if not isinstance(scores, Mapping) or len(scores) < 2:
        message = f"a score map gives two labels or more a number each, not {scores!r}"
        raise ConfigError(message)
    for label, score in scores.items():
        is_number = isinstance(score, int | float) and not isinstance(score, bool)
        is_label = isinstance(label, str) and label.strip()
        if not is_number or not math.isfinite(score) or not is_label:
            message = (
                f"a score map gives each label a number, and {label!r}: {score!r} "
                f"is not one"
            )
            raise ConfigError(message)


def warn_of_labels(template: Template, words: Words, others: Iterable[str]) -> None:
    """Warn about labels that a judge never hears of, or may not be able to say.

    Args:
        template: The user's template.
        words: What is read out of the reply.
        others: Further texts of the author that come into the prompt.
    """
    named = "\n".join([template.text or "", *others]).casefold()
    is_told = "labels" in template.names
    missing = [word for word in words.all if word.casefold() not in named]
    if missing and not is_told:
        message = (
            f"{template.filename} never names {_listed(missing)}, so the judge does "
            f"not know what to say: write the words out, or {{{{ labels | join(', ') }}}}"
        )
        warnings.warn(message, EvaluationWarning, stacklevel=2)
    foreign = [word for word in words.all if not word.isascii()]
    if foreign:
        message = (
            f"labels outside of ASCII are often misspelt by judges: {_listed(foreign)}; "
            f"name them in English, whatever the language of the prompt"
        )
        warnings.warn(message, EvaluationWarning, stacklevel=2)


def _listed(words: Iterable[str]) -> str:
    return ", ".join(map(repr, words))

"""lm-evaluation-harness's exact_match, option by option."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from string import digits, punctuation
from typing import Any, Final

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics._base import Declaration, scored_by
from pytest_llmeval.metrics._explain import inline, texts_of
from pytest_llmeval.metrics._texts import best_of
from pytest_llmeval.types import NOT_A_PATTERN, Score

__all__ = ["EXACT_MATCH", "exact_match", "explain"]

EXACT_MATCH: Final = Declaration(name="exact_match", binary=True)


@scored_by(EXACT_MATCH)
def exact_match(
    response: Any,
    expected: Any,
    *,
    regexes_to_ignore: Sequence[str] = (),
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    ignore_numbers: bool = False,
) -> Score:
    """Return 1 if the texts are equal after taking away what is to be ignored, else 0.

    Nothing is stripped: ``Paris`` and ``Paris `` differ. `exact` is for all else.

    Source: `exact_match_hf_evaluate` of lm_eval.api.metrics, 0.4.13.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a text, or a list of acceptable ones.
        regexes_to_ignore: Patterns whose matches are taken out of both, in this order.
        ignore_case: Both in lower case.
        ignore_punctuation: Without ASCII punctuation.
        ignore_numbers: Without the digits 0 to 9.

    Raises:
        ConfigError: A pattern can't be compiled.
    """
    given: Any = (
        [regexes_to_ignore] if isinstance(regexes_to_ignore, str) else regexes_to_ignore
    )
    if not isinstance(given, Iterable):
        message = f"regexes_to_ignore is a list of patterns, not {given!r:.60}"
        raise ConfigError(message)
    patterns = [_compiled(pattern) for pattern in given]
    gone = (punctuation if ignore_punctuation else "") + (
        digits if ignore_numbers else ""
    )
    plain = partial(_plain, patterns, ignore_case, str.maketrans("", "", gone))
    return best_of(
        EXACT_MATCH,
        response,
        expected,
        value=lambda text, reference: float(plain(text) == plain(reference)),
        details=lambda text, reference: {
            "normalised_response": plain(text),
            "normalised_expected": plain(reference),
            "removed": (),
        },
        reason=lambda text, reference: f"the reply is not '{inline(reference, 40)}'",
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (*NOT_A_PATTERN, TypeError) as exc:
        message = f"regexes_to_ignore: {pattern!r} is not a regular expression: {exc}"
        raise ConfigError(message) from exc


def _plain(
    patterns: Sequence[re.Pattern[str]],
    ignore_case: bool,
    gone: dict[int, int | None],
    text: str,
) -> str:
    for pattern in patterns:
        text = pattern.sub("", text)
    if ignore_case:
        text = text.lower()
    # numpy's arrays of text, which are compared there, end at the last NUL.
    return text.translate(gone).rstrip("\0")


def explain(score: Score) -> list[str]:
    """Return lines that show the texts and their difference."""
    return texts_of(score)

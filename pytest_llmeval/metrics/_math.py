"""Whether a reply's formula is the expected one, by math-verify (extra ``math``)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics._base import Declaration, scored_by
from pytest_llmeval.metrics._exact import is_equal
from pytest_llmeval.metrics._explain import inline, labelled, nearest, shown_empty
from pytest_llmeval.metrics._math_process import PROCESS
from pytest_llmeval.metrics._texts import best_of
from pytest_llmeval.types import Score

__all__ = ["MATH", "explain", "math"]

MATH: Final = Declaration(name="math", binary=True, extra="math", module="math_verify")
#: Characters of a reply that are read, from its end.
_LONGEST: Final = 20_000


@scored_by(MATH)
def math(response: Any, expected: Any, *, seconds: float = 5.0) -> Score:
    r"""Return 1 if the formula the reply ends in equals the expected one, else 0.

    Texts that are the same answer by `exact` are equal. All others are compared by
    math-verify, in a process of its own that is killed when it takes too long: nothing
    of a reply is evaluated here.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a formula (LaTeX, with or without
            ``\boxed{}``) or a text that ends in one, or a list of acceptable ones.
        seconds: Greatest time of one comparison; beyond, the case is unscored.

    Raises:
        ConfigError: `seconds` is not above 0.
        MissingExtraError: math-verify isn't installed.
    """
    if isinstance(seconds, bool) or not 0 < seconds <= 3600:
        message = f"seconds is a number above 0 and at most 3600, not {seconds!r}"
        raise ConfigError(message)
    found: dict[str, dict[str, Any]] = {}
    return best_of(
        MATH,
        response,
        expected,
        value=partial(_value, found, seconds),
        details=lambda text, reference: {"read": found.get(reference, {})},
        reason=partial(_reason, found),
    )


def _value(
    found: dict[str, dict[str, Any]], seconds: float, text: str, reference: str
) -> float:
    if is_equal(text, reference):
        return 1.0
    found[reference] = read = PROCESS.compare(
        reference[-_LONGEST:], text[-_LONGEST:], seconds=seconds
    )
    return float(read["is_equal"])


def _reason(found: dict[str, dict[str, Any]], text: str, reference: str) -> str:
    read = found.get(reference, {})
    if not read.get("gold"):
        return f"the reply is not '{inline(reference, 40)}'"
    if not read["reply"]:
        return "the reply has no formula that can be read"
    gold, reply = inline(read["gold"], 40), inline(read["reply"], 40)
    return f"the reply says {reply}, not {gold}"


def explain(score: Score) -> list[str]:
    """Return lines that show both texts and the formulas read from them."""
    details = score.details
    read = details["read"]
    lines = labelled("expected", shown_empty(details["expected"]))
    if read.get("reply"):
        lines += labelled("read", read["reply"], lines=1)
    return [
        *lines,
        *labelled("reply", shown_empty(details["response"])),
        *nearest(details),
    ]

"""Whether the number a reply ends in is the expected one."""

from __future__ import annotations

import math
from decimal import Decimal
from functools import partial
from typing import Any, Final

from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.metrics._base import Declaration, scored_by
from pytest_llmeval.metrics._explain import inline, labelled, nearest
from pytest_llmeval.metrics._number_reading import Reading, read_number
from pytest_llmeval.metrics._texts import best_of, named, references_of, text_of
from pytest_llmeval.types import Case, Score

__all__ = ["NUMBER", "explain", "number", "read_number"]

NUMBER: Final = Declaration(name="number", binary=True)

#: Relative noise of a float, for numbers that are not written as whole ones.
_NOISE: Final = Decimal("1e-15")


@scored_by(NUMBER)
def number(response: Any, expected: Any, *, tolerance: float = 1e-6) -> Score:
    """Return 1 if the number the reply gives as its answer is the expected one, else 0.

    A reply without a number is a wrong answer. ``50%`` equals both 50 and 0.5.

    Args:
        response: A Response or a text.
        expected: A case (its ``expected``), a number, a text that holds one, or a list
            of acceptable ones.
        tolerance: Greatest absolute difference.

    Raises:
        ConfigError: The tolerance is no number of 0 or more.
    """
    if not _is_tolerance(tolerance):
        message = f"tolerance is a number of 0 or more, not {tolerance!r:.60}"
        raise ConfigError(message)
    for reference in references_of(expected):
        _check_reference(reference, expected)
    reading = read_number(text_of(response))
    # A float as it is written; text of a whole number may be too long for Python.
    bar = Decimal(tolerance if isinstance(tolerance, int) else str(tolerance))
    return best_of(
        NUMBER,
        response,
        expected,
        value=partial(_value, reading, bar),
        details=partial(_details, reading),
        reason=partial(_reason, reading),
    )


def _is_tolerance(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value < math.inf


def _check_reference(reference: str, expected: Any) -> None:
    problem = read_number(reference).problem
    if problem:
        where = f"{named(expected)}: " if isinstance(expected, Case) else ""
        shown = inline(repr(reference), 60)
        message = f"{where}expected {shown} gives no number: {problem}"
        raise UnscoredError(message, cause="data")


def _value(reading: Reading, bar: Decimal, text: str, reference: str) -> float:
    return float(_is_equal(reading, read_number(reference), bar))


def _details(reading: Reading, text: str, reference: str) -> dict[str, Any]:
    return {
        "normalised_response": _plain(reading),
        "normalised_expected": _plain(read_number(reference)),
        "reading": reading,
        "removed": (),
    }


def _plain(reading: Reading) -> str:
    if reading.value is None:
        return ""
    digits = reading.value.normalize()
    # A small exponent is a number people write out.
    short = abs(digits.adjusted()) < 16
    text = f"{digits:f}" if short else f"{digits:g}"
    return f"{text}%" if reading.is_percent else text


def _is_equal(left: Reading, right: Reading, bar: Decimal) -> bool:
    if left.value is None or right.value is None:
        return False
    if _is_near(left.value, right.value, bar):
        return True
    if left.is_percent == right.is_percent:
        return False
    a = left.value / 100 if left.is_percent else left.value
    b = right.value / 100 if right.is_percent else right.value
    return _is_near(a, b, bar)


def _is_near(left: Decimal, right: Decimal, bar: Decimal) -> bool:
    gap = abs(left - right)
    if gap <= bar:
        return True
    are_exact = left == int(left) and right == int(right)
    return not are_exact and gap <= _NOISE * max(abs(left), abs(right))


def _reason(reading: Reading, text: str, reference: str) -> str:
    if reading.value is not None:
        right = _plain(read_number(reference))
        return f"the reply says {_plain(reading)}, not {right}"
    return f"the reply gives no number: {reading.problem}"


def explain(score: Score) -> list[str]:
    """Return lines that say which number was read, and where in the reply."""
    details = score.details
    reading: Reading = details["reading"]
    lines = labelled("expected", details["normalised_expected"])
    if reading.value is None:
        lines += labelled("read", f"no number: {reading.problem}")
    else:
        lines += labelled("read", f"{_plain(reading)} ({reading.rule})")
    if reading.around and reading.around != details["response"].strip():
        lines += labelled("in", inline(reading.around, 60))
    return [*lines, *labelled("reply", details["response"]), *nearest(details)]

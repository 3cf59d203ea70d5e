"""Gates: a number that a run has to reach, as a text like ``kappa >= 0.6``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from pytest_llmeval.errors import ConfigError, did_you_mean

__all__ = ["Gate", "GateState", "parse_gate"]

GateState = Literal["held", "broken", "undecided"]

_FORM: Final = re.compile(r"\s*([\w.,*+@ -]+?)\s*(>=|<=)\s*([^\s]+)\s*")
_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A bar for one number of a run."""

    name: str
    operator: Literal[">=", "<="]
    bar: float

    def __str__(self) -> str:
        return f"{self.name} {self.operator} {self.bar:g}"

    def state(self, worst: float | None, best: float | None) -> GateState:
        """Return what is decided about a number that may still lie between two.

        Args:
            worst: The number with everything open counted against it; None where that
                can't be computed.
            best: With everything open counted in its favour.
        """
        if worst is not None and self._holds(worst):
            return "held"
        return "undecided" if best is None or self._holds(best) else "broken"

    def _holds(self, value: float) -> bool:
        if self.operator == ">=":
            return value >= self.bar - _TOLERANCE
        return value <= self.bar + _TOLERANCE


def parse_gate(text: object, names: Iterable[str]) -> Gate:
    """Return the gate that a text says.

    Args:
        text: ``name >= bar`` or ``name <= bar``.
        names: The numbers there are.

    Raises:
        ConfigError: It has another form, or names another number.
    """
    found = _FORM.fullmatch(text) if isinstance(text, str) else None
    bar = _number(found[3]) if found else None
    if found is None or bar is None:
        message = f"a gate is a text like 'kappa >= 0.6', and {text!r} is not one"
        raise ConfigError(message)
    known = list(names)
    if found[1] not in known:
        message = (
            f"the gate {text!r} is about {found[1]!r}, which is not there"
            f"{did_you_mean(found[1], known)}; there are: {', '.join(known)}"
        )
        raise ConfigError(message)
    return Gate(name=found[1], operator=">=" if found[2] == ">=" else "<=", bar=bar)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None

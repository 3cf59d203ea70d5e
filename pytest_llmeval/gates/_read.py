"""Reading gates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from pytest_llmeval import calibration
from pytest_llmeval.errors import ConfigError, did_you_mean, percent_hint
from pytest_llmeval.types import TOLERANCE, whole_number

__all__ = [
    "QUANTITIES",
    "Estimate",
    "Gate",
    "asks_for_estimate",
    "calibration_gate",
    "estimate_of",
    "parse_gate",
    "scoped_gate",
]

_GATE: Final = re.compile(
    r"\s*(?P<name>[^\s<>=]+(?: [^\s<>=]+)*)\s*(?P<operator>>=|<=)\s*"
    r"(?P<bar>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<percent>%?)\s*"
)
#: What can be measured of any test, besides the means of its checks.
QUANTITIES: Final = ("pass_rate", "cost", "tokens", "p50_seconds", "p95_seconds")

#: Of repeated cases: at least one of K samples passes, all of K pass.
_ESTIMATE: Final = re.compile(r"pass(?P<form>[@^])(?P<k>.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A chance that is estimated from the samples of repeated cases."""

    of_all: bool
    """All of `k` pass (pass^k); else at least one does (pass@k)."""
    k: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A quantity and its bar."""

    name: str
    """One of `QUANTITIES`, or a check's name: then its mean."""
    operator: Literal[">=", "<="]
    bar: float

    def __str__(self) -> str:
        return f"{self.name} {self.operator} {self.bar:g}"

    @property
    def is_about_quality(self) -> bool:
        """Whether single failures are for it to weigh: not so for money and time."""
        return self.name not in {"cost", "tokens", "p50_seconds", "p95_seconds"}

    def holds(self, value: float) -> bool:
        """Return whether a value reaches the bar; float noise never decides."""
        gap = value - self.bar
        return (gap if self.operator == ">=" else -gap) >= -TOLERANCE


def estimate_of(name: str) -> Estimate | None:
    """Return what ``pass@2`` or ``pass^3`` stands for, None for other quantities.

    Raises:
        ConfigError: It has no number of samples.
    """
    match = _ESTIMATE.fullmatch(name)
    if match is None:
        return None
    k = whole_number(match["k"])
    if not k:
        message = (
            f"{name!r:.80} is about a number of samples, such as 'pass@2' (one of two "
            f"passes) or 'pass^3' (all of three do), and {match['k']!r:.60} is none"
        )
        raise ConfigError(message)
    return Estimate(of_all=match["form"] == "^", k=k)


def parse_gate(text: Any) -> Gate:
    """Return the gate of a text such as ``pass_rate >= 0.9``.

    Raises:
        ConfigError: It is none.
    """
    match = _GATE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        message = (
            f"a gate is a quantity, >= or <=, and a number, such as 'pass_rate >= 0.9' "
            f"or 'f1 >= 0.7', not {text!r}; there are {', '.join(QUANTITIES)}, pass@K "
            f"and pass^K of repeated cases, and the name of any check for its mean"
        )
        raise ConfigError(message)
    bar = float(match["bar"]) / (100 if match["percent"] else 1)
    _check_bar(match["name"], bar)
    operator: Literal[">=", "<="] = ">=" if match["operator"] == ">=" else "<="
    return Gate(name=match["name"], operator=operator, bar=bar)


def _check_bar(name: str, bar: float) -> None:
    """Refuse a bar that no value of a share is on either side of.

    Raises:
        ConfigError: It is none of 0 to 1.
    """
    is_share = name == "pass_rate" or estimate_of(name) is not None
    if is_share and not 0 <= bar <= 1:
        message = f"{name} is from 0 to 1, and the gate's bar is {bar:g}"
        raise ConfigError(message + percent_hint(bar))


def scoped_gate(text: Any) -> tuple[str | None, Gate]:
    """Return the tag and the gate of a text in llmeval.yaml; None for the whole run.

    Args:
        text: ``pass_rate >= 0.9``, or for the cases with a tag
            ``tag geo: pass_rate >= 0.8``.

    Raises:
        ConfigError: It is none.
    """
    if isinstance(text, str) and text.startswith("tag ") and ":" in text:
        tag, _, rest = text.removeprefix("tag ").partition(":")
        return tag.strip(), parse_gate(rest)
    gate = parse_gate(text)
    before, colon, name = gate.name.rpartition(":")
    if colon and name.strip() in QUANTITIES:
        message = (
            f"{text!r} is about a check called {gate.name!r}; for the cases with a tag "
            f"write 'tag {before.strip()}:{text.partition(':')[2]}'"
        )
        raise ConfigError(message)
    return None, gate


def calibration_gate(text: Any) -> Gate:
    """Return a gate about a judge's calibration.

    Raises:
        ConfigError: It is none, or about something else.
    """
    gate = parse_gate(text)
    names = calibration.QUANTITIES
    if gate.name not in names:
        message = (
            f"a calibration has no {gate.name!r}{did_you_mean(gate.name, names)}; "
            f"its gate can be about: {', '.join(names)}"
        )
        raise ConfigError(message)
    return gate


def asks_for_estimate(text: Any) -> bool:
    """Return whether a gate, of a test or of llmeval.yaml, is about samples.

    Raises:
        ConfigError: It is no gate.
    """
    return estimate_of(scoped_gate(text)[1].name) is not None

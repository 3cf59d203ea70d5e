"""Gates: bars for a whole test, a tag or the run, written as ``pass_rate >= 0.9``.

A gate holds only if it would hold with every unscored case as the worst, and fails only
if it would fail with every one as the best; in between nothing can be said.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pytest_llmeval import calibration
from pytest_llmeval.calibration import Calibration, Labelled, calibration_of
from pytest_llmeval.errors import ConfigError, did_you_mean
from pytest_llmeval.stats import mean, quantile, wilson_interval
from pytest_llmeval.types import TOLERANCE, Record

__all__ = [
    "Gate",
    "GateResult",
    "Measured",
    "calibration_gate",
    "decided",
    "evaluate",
    "measure",
    "measured_of",
    "parse_gate",
    "scoped_gate",
]

_GATE: Final = re.compile(
    r"\s*(?P<name>[^\s<>=]+(?: [^\s<>=]+)*)\s*(?P<operator>>=|<=)\s*"
    r"(?P<bar>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<percent>%?)\s*"
)
#: What can be measured of any test, besides the means of its checks.
QUANTITIES: Final = ("pass_rate", "cost", "tokens", "p50_seconds", "p95_seconds")

State = Literal["holds", "fails", "undecided", "not evaluated"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A quantity: what it is, and what it could be at the least and at the most."""

    value: float | None
    """Of what is known; None when nothing is."""
    low: float
    high: float
    n: int
    """Cases, checks or calls it is of."""
    unknown: int = 0
    """How many more there are of which nothing is known."""
    interval: tuple[float, float] | None = None
    """95 %, of a rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """A gate, decided or not."""

    gate: Gate
    state: State
    scope: str = ""
    """What it is about: a test, ``tag geo``, ``the run``."""
    measured: Measured | None = None
    reason: str = ""
    """Why it is undecided or not evaluated."""

    @property
    def breaks(self) -> bool:
        """Whether the run must not pass because of it."""
        return self.state in {"fails", "undecided"}


def parse_gate(text: Any) -> Gate:
    """Return the gate of a text such as ``pass_rate >= 0.9``.

    Raises:
        ConfigError: It is none.
    """
    match = _GATE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        message = (
            f"a gate is a quantity, >= or <=, and a number, such as 'pass_rate >= 0.9' "
            f"or 'f1 >= 0.7', not {text!r}; there are {', '.join(QUANTITIES)}, and the "
            f"name of any check for its mean"
        )
        raise ConfigError(message)
    bar = float(match["bar"]) / (100 if match["percent"] else 1)
    operator: Literal[">=", "<="] = ">=" if match["operator"] == ">=" else "<="
    return Gate(name=match["name"], operator=operator, bar=bar)


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
    return None, parse_gate(text)


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


def evaluate(gate: Gate, records: Sequence[Record], *, scope: str = "") -> GateResult:
    """Return whether a gate holds for these cases.

    Args:
        gate: The bar.
        records: Every case it is about, ended.
        scope: What it is about, for the report.

    Raises:
        ConfigError: No case has a check of that name.
    """
    return decided(gate, measure(gate.name, records), scope=scope)


def decided(gate: Gate, measured: Measured, *, scope: str = "") -> GateResult:
    """Return whether a gate holds, whatever the unknown values are.

    Args:
        gate: The bar.
        measured: The quantity.
        scope: What it is about, for the report.
    """
    at_worst, at_best = (
        (measured.low, measured.high)
        if gate.operator == ">="
        else (measured.high, measured.low)
    )
    reason = ""
    state: State = "undecided"
    if measured.value is None:
        reason = "not measured"
    elif gate.holds(at_worst):
        state = "holds"
    elif not gate.holds(at_best):
        state = "fails"
    else:
        reason = f"{measured.unknown} unknown decides"
    return GateResult(
        gate=gate, state=state, scope=scope, measured=measured, reason=reason
    )


def measure(name: str, records: Sequence[Record]) -> Measured:
    """Return a quantity of some cases.

    Args:
        name: One of `QUANTITIES`, or a check's name.
        records: The cases.

    Raises:
        ConfigError: No case has a check of that name.
    """
    if name in calibration.QUANTITIES and any(r.calibration for r in records):
        rows = (Labelled.from_json(r.calibration) for r in records if r.calibration)
        return measured_of(calibration_of(rows), name)
    if name == "pass_rate":
        return _pass_rate(records)
    calls = [call for r in records for s in r.samples for call in s["calls"]]
    if name in {"cost", "tokens"}:
        return _sum(name, calls)
    if name in {"p50_seconds", "p95_seconds"}:
        return _seconds(calls, 0.5 if name == "p50_seconds" else 0.95)
    return _mean(name, records)


def measured_of(found: Calibration, name: str) -> Measured:
    """Return a quantity of a calibration."""
    value, low, high = found.bounds(name)
    return Measured(
        value=value,
        low=low,
        high=high,
        n=found.n if name == "undecided" else found.agreement.n,
        unknown=0 if name == "undecided" else found.undecided,
        interval=found.agreement.interval if name == "kappa" else None,
    )


def _pass_rate(records: Iterable[Record]) -> Measured:
    statuses = [record.status for record in records]
    passed = statuses.count("passed")
    scored = passed + sum(statuses.count(s) for s in ("failed", "gated", "known"))
    unscored = statuses.count("unscored")
    cases = scored + unscored
    return Measured(
        value=passed / scored if scored else None,
        low=passed / cases if cases else 0.0,
        high=(passed + unscored) / cases if cases else 1.0,
        n=scored,
        unknown=unscored,
        interval=wilson_interval(passed, scored) if scored else None,
    )


def _sum(name: str, calls: Iterable[Mapping[str, Any]]) -> Measured:
    """Return what the answered calls took together; an unknown one may be anything."""
    values = []
    unknown = 0
    for call in calls:
        response = call["response"]
        if response is None or response.get("origin") == "column":
            continue
        value = response.get("cost") if name == "cost" else _tokens(response)
        if value is None:
            unknown += 1
        else:
            values.append(float(value))
    total = math.fsum(values)
    return Measured(
        value=total if values or not unknown else None,
        low=total,
        high=math.inf if unknown else total,
        n=len(values),
        unknown=unknown,
    )


def _tokens(response: Mapping[str, Any]) -> int | None:
    usage = response.get("usage") or {}
    asked, said = usage.get("input_tokens"), usage.get("output_tokens")
    return None if asked is None or said is None else int(asked + said)


def _seconds(calls: Iterable[Mapping[str, Any]], share: float) -> Measured:
    """Return a quantile of the live calls of generators: a replay takes no time."""
    times = [
        float(call["response"]["latency_seconds"])
        for call in calls
        if call["role"] == "generator"
        and call["response"] is not None
        and call["response"].get("origin") == "live"
        and call["response"].get("latency_seconds") is not None
    ]
    value = quantile(times, share)
    known = math.nan if value is None else value
    return Measured(value=value, low=known, high=known, n=len(times))


@dataclass(slots=True)
class _Checks:
    values: list[float] = field(default_factory=list)
    unscored: int = 0
    low: float = math.inf
    high: float = -math.inf


def _mean(name: str, records: Sequence[Record]) -> Measured:
    """Return the mean of a check; a case that never came to it counts as unknown."""
    found = _Checks()
    names: set[str] = set()
    for record in records:
        before = len(found.values) + found.unscored
        for sample in record.samples:
            for check in sample["checks"]:
                names.add(check["name"])
                if check["name"] == name:
                    _take(check, found)
        if len(found.values) + found.unscored == before and record.status == "unscored":
            found.unscored += 1
    if not found.values and not found.unscored:
        known = sorted({*names, *QUANTITIES})
        message = (
            f"no case has a check named {name!r}{did_you_mean(name, known)}; a gate can "
            f"be about: {', '.join(known)}"
        )
        raise ConfigError(message)
    n, total = len(found.values), math.fsum(found.values)
    return Measured(
        value=mean(found.values),
        low=_with(total, n, found.low, found.unscored),
        high=_with(total, n, found.high, found.unscored),
        n=n,
        unknown=found.unscored,
    )


def _take(check: Mapping[str, Any], found: _Checks) -> None:
    found.low = min(found.low, _bound(check, "low"))
    found.high = max(found.high, _bound(check, "high"))
    if isinstance(check["value"], int | float):
        found.values.append(float(check["value"]))
    else:
        found.unscored += 1


def _bound(check: Mapping[str, Any], end: str) -> float:
    """Return an end of the metric's scale; one that JSON has no number for has none."""
    value = check.get(end)
    if isinstance(value, int | float):
        return float(value)
    return -math.inf if end == "low" else math.inf


def _with(total: float, n: int, bound: float, unknown: int) -> float:
    """Return the mean if every unknown value stood at an end of the scale."""
    if not unknown:
        return total / n if n else math.nan
    return (total + bound * unknown) / (n + unknown)

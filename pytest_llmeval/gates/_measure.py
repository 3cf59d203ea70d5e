"""Measuring what gates are about: what it is, and what it could be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_llmeval import calibration
from pytest_llmeval.calibration import Calibration, Labelled, calibration_of
from pytest_llmeval.errors import ConfigError, did_you_mean
from pytest_llmeval.gates._estimates import measured_estimate
from pytest_llmeval.gates._measured import Measured
from pytest_llmeval.gates._read import QUANTITIES, estimate_of
from pytest_llmeval.stats import Gathered, quantile, wilson_interval
from pytest_llmeval.types import Record

__all__ = ["Measured", "measure", "measured_of"]


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
    if (estimate := estimate_of(name)) is not None:
        return measured_estimate(name, estimate, records)
    calls = (call for r in records for s in r.samples for call in s["calls"])
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


class _Checks:
    """The checks a gate is about, and the ends of their scale."""

    def __init__(self) -> None:
        self.gathered = Gathered()
        self.unscored = 0
        """Checks without a value, and cases that never came to theirs."""
        self.low = math.inf
        self.high = -math.inf
        self.aggregation = "mean"

    @property
    def n(self) -> int:
        """How many are known."""
        return self.gathered.n

    def take(self, check: Mapping[str, Any]) -> None:
        """Take a check in."""
        self.low = min(self.low, _bound(check, "low"))
        self.high = max(self.high, _bound(check, "high"))
        self.aggregation = str(check.get("aggregation", "mean"))
        before = self.gathered.unscored
        self.gathered.add(check)
        self.unscored += self.gathered.unscored - before

    def measured(self) -> Measured:
        """Return what they come to, whatever the unknown ones are."""
        value = self.gathered.overall()
        if self.aggregation == "mean":
            total = math.fsum(self.gathered.values)
            low, high = (
                _with(total, self.n, end, self.unscored)
                for end in (self.low, self.high)
            )
        else:
            # One value of all rows may lie anywhere, if any of them is not known.
            known = math.nan if value is None else value
            low, high = (self.low, self.high) if self.unscored else (known, known)
        return Measured(
            value=value, low=low, high=high, n=self.n, unknown=self.unscored
        )


def _mean(name: str, records: Sequence[Record]) -> Measured:
    """Return a check over cases; one that never came to it counts as unknown."""
    found = _Checks()
    names: set[str] = set()
    for record in records:
        before = found.n + found.unscored
        for sample in record.samples:
            for check in sample["checks"]:
                names.add(check["name"])
                if check["name"] == name:
                    found.take(check)
        if found.n + found.unscored == before and record.status == "unscored":
            found.unscored += 1
    if not found.n and not found.unscored:
        known = sorted({*names, *QUANTITIES})
        message = (
            f"no case has a check named {name!r}{did_you_mean(name, known)}; a gate can "
            f"be about: {', '.join(known)}"
        )
        raise ConfigError(message)
    return found.measured()


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

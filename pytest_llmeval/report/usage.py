"""What the calls of a run used: tokens, money, time, and where replies came from."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import fsum
from typing import Any

from pytest_llmeval.stats import quantile

__all__ = ["Cost", "Latency", "Origins", "Retries", "Tokens", "UsageCounter"]

#: No tokens are counted where no model of ours was asked: a column of the dataset, or
#: code under test. If code tells its usage all the same, that counts.
_WITHOUT_TOKENS = frozenset({"", "column", "python"})
#: Nor does anybody send a bill for a fake or a model on this machine.
_WITHOUT_PRICE = _WITHOUT_TOKENS | {"fake", "local"}
#: Further clients have names of their own.
_ROLES = ("generator", "judge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens of the replies, of whatever origin."""

    input: int
    output: int
    unknown: int
    """Calls that don't say one or both; what they say is in the sums."""
    calls: int
    """Calls to a model, `unknown` included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What the replies cost in US dollars when they were made."""

    total: float | None
    """Over the calls whose cost is known; None when it is known of none."""
    live: float | None
    """The part of `total` that this run spent: replies neither cached nor recorded."""
    known: int
    calls: int
    """Calls that may have cost something, `known` included."""
    by_role: Mapping[str, float] = field(default_factory=dict)
    """The parts of `total` of generator, judge and other clients; without those of
    which no cost is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Seconds of the live calls of generators; None where there are none."""

    p50_seconds: float | None
    p95_seconds: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Origins:
    """Where the replies of all calls came from, and how many calls got none."""

    live: int = 0
    cached: int = 0
    recorded: int = 0
    column: int = 0
    unanswered: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """Calls that took more than one request."""

    calls: int = 0
    requests: int = 0
    """Those beyond the first of each call."""
    waited_seconds: float = 0.0
    """Added up over the calls, which wait at the same time."""


class UsageCounter:
    """Adds up calls, given as the JSON of `Call`."""

    def __init__(self) -> None:
        self._origins: Counter[str] = Counter()
        self._input = self._output = self._unknown = self._model_calls = 0
        self._costs: list[float] = []
        self._costs_by_role: defaultdict[str, list[float]] = defaultdict(list)
        self._live_costs: list[float] = []
        self._priced_calls = 0
        self._seconds: list[float] = []
        self._retried_calls = self._further_requests = 0
        self._waits: list[float] = []

    def add_all(self, calls: Iterable[Mapping[str, Any]]) -> None:
        """Add calls."""
        for call in calls:
            self._add_retries(call)
            response = call["response"]
            if response is None:
                self._origins["unanswered"] += 1
                continue
            self._origins[response["origin"]] += 1
            self._add_tokens(response)
            self._add_cost(call["role"], response)
            self._add_seconds(call["role"], response)

    def include(self, other: UsageCounter) -> None:
        """Add the calls of another counter."""
        self._origins += other._origins
        self._input += other._input
        self._output += other._output
        self._unknown += other._unknown
        self._model_calls += other._model_calls
        self._costs += other._costs
        self._live_costs += other._live_costs
        for role, costs in other._costs_by_role.items():
            self._costs_by_role[role] += costs
        self._priced_calls += other._priced_calls
        self._seconds += other._seconds
        self._retried_calls += other._retried_calls
        self._further_requests += other._further_requests
        self._waits += other._waits

    def _add_tokens(self, response: Mapping[str, Any]) -> None:
        usage = response.get("usage") or {}
        read = _number(usage.get("input_tokens"))
        written = _number(usage.get("output_tokens"))
        is_counted = read is not None or written is not None
        if response["provider"] in _WITHOUT_TOKENS and not is_counted:
            return
        self._model_calls += 1
        self._unknown += read is None or written is None
        self._input += int(read or 0)
        self._output += int(written or 0)

    def _add_cost(self, role: str, response: Mapping[str, Any]) -> None:
        cost = _number(response.get("cost"))
        if cost is None:
            self._priced_calls += response["provider"] not in _WITHOUT_PRICE
            return
        self._priced_calls += 1
        self._costs.append(cost)
        self._costs_by_role[role if role in _ROLES else "others"].append(cost)
        if response["origin"] == "live":
            self._live_costs.append(cost)

    def _add_seconds(self, role: str, response: Mapping[str, Any]) -> None:
        seconds = _number(response.get("latency_seconds"))
        if role == "generator" and response["origin"] == "live" and seconds is not None:
            self._seconds.append(seconds)

    def _add_retries(self, call: Mapping[str, Any]) -> None:
        further = call.get("attempts", 0) - 1  # older journals have none
        if further > 0:
            self._retried_calls += 1
            self._further_requests += further
            self._waits += call["waits"]

    def tokens(self) -> Tokens:
        """Return the tokens of the calls added so far."""
        return Tokens(
            input=self._input,
            output=self._output,
            unknown=self._unknown,
            calls=self._model_calls,
        )

    def cost(self) -> Cost:
        """Return what the calls added so far cost."""
        return Cost(
            total=fsum(self._costs) if self._costs else None,
            live=fsum(self._live_costs) if self._costs else None,
            known=len(self._costs),
            calls=self._priced_calls,
            by_role={
                role: fsum(self._costs_by_role[role])
                for role in (*_ROLES, "others")
                if role in self._costs_by_role
            },
        )

    def latency(self) -> Latency:
        """Return how long the calls added so far took."""
        ordered = sorted(self._seconds)
        return Latency(
            p50_seconds=quantile(ordered, 0.5),
            p95_seconds=quantile(ordered, 0.95),
            n=len(ordered),
        )

    def retries(self) -> Retries:
        """Return how often the calls added so far were retried."""
        return Retries(
            calls=self._retried_calls,
            requests=self._further_requests,
            waited_seconds=fsum(self._waits),
        )

    def origins(self) -> Origins:
        """Return where the replies of the calls added so far came from."""
        return Origins(
            live=self._origins["live"],
            cached=self._origins["cache"],
            recorded=self._origins["recording"],
            column=self._origins["column"],
            unanswered=self._origins["unanswered"],
        )


def _number(value: Any) -> float | None:
    """Return a number; what an application gave that is none is not known."""
    return value if isinstance(value, int | float) else None

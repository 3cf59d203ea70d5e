"""A server under one key: what it was sent, what it bore, and what it may be sent next.

Pure bookkeeping: the time is passed in, nothing waits here, and all of it can be
written as JSON, so that several processes can share it.

Four things hold a request back:

- its host has paused. When at least half of the last second's attempts, five or more,
  were refused with 429, or six that began one after the other, it is not a single call
  that came at a bad moment: the host is pressed too hard. A lone 429 delays its own call
  alone.
- as many requests are in flight as are allowed: additive increase, multiplicative
  decrease (Chiu and Jain 1989), halved with each pause.
- requests and tokens a minute, where llmeval.yaml names them.
- the rate that the server was seen to bear, from its first pause on: what it answered
  in a stretch of time and the pause that followed is what it grants on average, whether
  it counts by the second, by the minute or with a bucket. It grows while nothing is
  refused, the faster the less was seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from pytest_llmeval.clients._borne import WINDOW_SECONDS, Borne
from pytest_llmeval.clients._pace import Pace
from pytest_llmeval.clients._steps import (
    ANSWERED,
    BEGUN,
    MEMORY_SECONDS,
    REFUSED,
    STEP_SECONDS,
    Steps,
)
from pytest_llmeval.config import Limits

__all__ = ["Ended", "Host", "How"]

#: Refused: with a 429; lost: without a reply, which says nothing of the host's limits.
How = Literal["answered", "refused", "lost"]

_LEAST_REFUSED = 5
#: Where every tenth call is refused by chance, six in a row are one in a million.
_ROW = 6
_ROW_MEMORY = 64
#: The pause of a server that names none doubles from pause to pause, up to the longest.
_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How an attempt ended."""

    number: int
    """Of the attempt, as `Host.begin` returned it."""
    began: float
    how: How
    retry_after_seconds: float | None = None
    tokens_beyond: float = 0.0
    """Tokens it used beyond those it was estimated at."""


@dataclass(slots=True, kw_only=True)
class Host:
    """The state of one server under one key."""

    most: int
    """Requests in flight at once, as configured."""
    requests: Pace = field(default_factory=lambda: Pace(math.inf))
    tokens: Pace = field(default_factory=lambda: Pace(math.inf))
    borne: Borne = field(default_factory=Borne)
    in_flight: int = 0
    room: float = math.inf
    """How many more requests this process may begin, where others share the host."""
    waiting: int = 0
    """Calls of this process that wait."""
    allowed: float = 0.0
    """Requests in flight at once that the server seems to bear: 1 to `most`."""
    paused_at: float = -math.inf
    paused_until: float = -math.inf
    _begun: int = 0
    """Attempts so far: the number of the last one."""
    _first_at: float = math.inf
    """When the first one began."""
    _refused: list[int] = field(default_factory=list)
    """The numbers of those refused last."""
    _steps: Steps = field(default_factory=Steps)
    _pauses: int = 0
    """Pauses without an answer between them."""
    _is_estimated: bool = True
    """False between a pause and the first attempt after it."""

    def __post_init__(self) -> None:
        self.allowed = self.allowed or float(self.most)

    @classmethod
    def of(cls, limits: Limits) -> Self:
        """Return the state of a host that was sent nothing yet."""
        return cls(
            most=limits.concurrency,
            requests=Pace(_rate(limits.requests_per_minute)),
            tokens=Pace(_rate(limits.tokens_per_minute)),
        )

    def bound(self, limits: Limits) -> None:
        """Keep to limits that may have become stricter."""
        self.most = limits.concurrency
        self.allowed = min(self.allowed, float(self.most))
        self.requests.rate = _rate(limits.requests_per_minute)
        self.tokens.rate = _rate(limits.tokens_per_minute)

    def wait(self, now: float) -> float:
        """Return the seconds until a request may begin; infinite until one ends."""
        if self.in_flight >= int(self.allowed) or self.room < 1:
            return math.inf
        due = max(
            self.paused_until,
            self.requests.next_at,
            self.tokens.next_at,
            self.borne.next_at,
        )
        return max(due - now, 0.0)

    def begin(self, now: float, tokens: float) -> int:
        """Note that an attempt begins, which will use about so many tokens.

        Returns its number.
        """
        if not self._is_estimated:
            self._estimate(now)
        self.in_flight += 1
        self.room -= 1
        self._begun += 1
        self._first_at = min(self._first_at, now)
        self._steps.count(now, BEGUN)
        for pace, cost in ((self.requests, 1), (self.tokens, tokens), (self.borne, 1)):
            pace.take(cost, now)
        return self._begun

    def end(self, now: float, ended: Ended) -> None:
        """Note that an attempt has ended."""
        self.in_flight -= 1
        self.room += 1
        self.tokens.correct(ended.tokens_beyond)
        if ended.how == "answered":
            self._answer(now)
        elif ended.how == "refused" and ended.began >= self.paused_at:
            self._refuse(now, ended)

    def dump(self) -> dict[str, Any]:
        """Return what is learned and granted as plain JSON types."""
        state: dict[str, Any] = {name: getattr(self, name) for name in _LEARNED}
        for name in _PACES:
            state[name] = asdict(getattr(self, name))
        state["_steps"] = self._steps.dump()
        return state

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over what `dump` has returned."""
        for name in _LEARNED:
            setattr(self, name, state[name])
        for name, kind in _PACES.items():
            setattr(self, name, kind(**state[name]))
        self._steps = Steps(state["_steps"])

    def _answer(self, now: float) -> None:
        self._steps.count(now, ANSWERED)
        self._pauses = 0
        self.allowed = min(self.allowed + 1 / self.allowed, float(self.most))
        self.borne.answered(now)

    def _refuse(self, now: float, ended: Ended) -> None:
        """Note a 429 to an attempt that began after the last pause had."""
        self._steps.count(ended.began, REFUSED)
        self._refused = [*self._refused[-_ROW_MEMORY:], ended.number]
        if self._is_in_row(ended.number) or self._is_pressed(now, ended):
            self._pause(now, ended.retry_after_seconds)
            return
        answers = self._steps.since(now - WINDOW_SECONDS, ANSWERED)
        self.borne.refused(now, answers)

    def _is_in_row(self, number: int) -> bool:
        first = last = number
        while first - 1 in self._refused:
            first -= 1
        while last + 1 in self._refused:
            last += 1
        return last - first + 1 >= _ROW

    def _is_pressed(self, now: float, ended: Ended) -> bool:
        since = max(now - WINDOW_SECONDS + STEP_SECONDS, self.paused_until)
        refused = self._steps.since(since, REFUSED)
        # Those under way count as not refused: a refusal comes sooner than an answer.
        # Of those that began after this one nothing is known at all.
        begun = self._steps.since(since, BEGUN) - (self._begun - ended.number)
        return refused >= _LEAST_REFUSED and 2 * refused >= begun

    def _pause(self, now: float, asked: float | None) -> None:
        if asked is None:
            asked = _PAUSE_SECONDS * 2.0 ** min(self._pauses, 10)
            asked = min(asked, _LONGEST_PAUSE_SECONDS)
        self.allowed = max(self.allowed / 2, 1.0)
        self.paused_at, self.paused_until = now, now + asked
        self._pauses += 1
        self._refused.clear()
        self._is_estimated = False

    def _estimate(self, now: float) -> None:
        """Set the rate to what was answered over the pause and as long before it."""
        self._is_estimated = True
        pause = self.paused_until - self.paused_at
        span = min(max(pause, WINDOW_SECONDS), MEMORY_SECONDS)
        begun = max(self.paused_at - span, self._first_at)
        answers = self._steps.since(begun, ANSWERED)
        seconds = max(self.paused_until - begun, WINDOW_SECONDS)
        self.borne.estimate(now, answers, seconds)


_PACES = {"requests": Pace, "tokens": Pace, "borne": Borne}
_LEARNED = (
    "allowed",
    "paused_at",
    "paused_until",
    "_begun",
    "_first_at",
    "_refused",
    "_pauses",
    "_is_estimated",
)


def _rate(per_minute: float | None) -> float:
    return math.inf if per_minute is None else per_minute / 60

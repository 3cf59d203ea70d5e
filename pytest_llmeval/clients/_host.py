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
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from pytest_llmeval.clients._pace import Pace
from pytest_llmeval.config import Limits

__all__ = ["Ended", "Host", "How"]

#: Refused: with a 429; lost: without a reply, which says nothing of the host's limits.
How = Literal["answered", "refused", "lost"]

#: Time is counted in tenths of a second.
_STEP_SECONDS = 0.1
_WINDOW_STEPS = 10
_MEMORY_STEPS = 100
_WINDOW_SECONDS = _STEP_SECONDS * _WINDOW_STEPS
_MEMORY_SECONDS = _STEP_SECONDS * _MEMORY_STEPS

_BEGUN, _REFUSED, _ANSWERED = range(3)

_LEAST_REFUSED = 5
#: Where every tenth call is refused by chance, six in a row are one in a million.
_ROW = 6
_ROW_MEMORY = 64
#: The pause of a server that names none doubles from pause to pause, up to the longest.
_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0
#: The rate that was borne grows by so much a second: from a good estimate, from a bad.
_GROWTH = 0.05
_FAST_GROWTH = 1.0
#: So many answers make an estimate good: the growth is in inverse proportion to them.
_GOOD_ANSWERS = 100
#: After a refusal it is a little less than what was answered within a second, where
#: that says anything.
_BACK_OFF = 0.95
_TELLING_ANSWERS = 5


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
    borne: Pace = field(default_factory=lambda: Pace(math.inf))
    """Requests a second that the server was seen to bear."""
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
    _steps: dict[int, list[int]] = field(default_factory=dict)
    """By step of time: attempts begun then, those of them refused; answers come then.
    """
    _pauses: int = 0
    """Pauses without an answer between them."""
    _is_estimated: bool = True
    """False between a pause and the first attempt after it."""
    _growth: float = _GROWTH
    _raised_at: float = -math.inf
    _lowered_at: float = -math.inf
    _refused_at: float = -math.inf

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
        self._count(now, _BEGUN)
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
            pace = getattr(self, name)
            state[name] = [pace.rate, pace.next_at]
        return state

    def load(self, state: Mapping[str, Any]) -> None:
        """Take over what `dump` has returned."""
        for name in _LEARNED:
            setattr(self, name, state[name])
        for name in _PACES:
            setattr(self, name, Pace(*state[name]))
        self._steps = {int(step): counts for step, counts in self._steps.items()}

    def _answer(self, now: float) -> None:
        self._count(now, _ANSWERED)
        self._pauses = 0
        self.allowed = min(self.allowed + 1 / self.allowed, float(self.most))
        # Not for a second after a refusal.
        begun = max(self._raised_at, self._refused_at + _WINDOW_SECONDS)
        if self.borne.rate < math.inf and now > begun:
            # For a second at most: idle time proves nothing.
            self.borne.rate *= 1 + self._growth * min(now - begun, 1.0)
            self._raised_at = now

    def _refuse(self, now: float, ended: Ended) -> None:
        """Note a 429 to an attempt that began after the last pause had."""
        self._count(ended.began, _REFUSED)
        self._refused = [*self._refused[-_ROW_MEMORY:], ended.number]
        if self._is_in_row(ended.number) or self._is_pressed(now, ended):
            self._pause(now, ended.retry_after_seconds)
            return
        if self.borne.rate < math.inf and now - self._lowered_at >= _WINDOW_SECONDS:
            answered = self._sum(_ANSWERED, _step(now) - _WINDOW_STEPS)
            is_telling = answered >= _TELLING_ANSWERS
            seen = answered / _WINDOW_SECONDS if is_telling else self.borne.rate
            self.borne.rate = min(self.borne.rate, seen) * _BACK_OFF
            self._growth = _GROWTH
            self._lowered_at = now
        self._refused_at = now

    def _is_in_row(self, number: int) -> bool:
        first = last = number
        while first - 1 in self._refused:
            first -= 1
        while last + 1 in self._refused:
            last += 1
        return last - first + 1 >= _ROW

    def _is_pressed(self, now: float, ended: Ended) -> bool:
        since = max(_step(now) - _WINDOW_STEPS + 1, _step(self.paused_until))
        refused = self._sum(_REFUSED, since)
        # Those under way count as not refused: a refusal comes sooner than an answer.
        # Of those that began after this one nothing is known at all.
        begun = self._sum(_BEGUN, since) - (self._begun - ended.number)
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
        span = min(max(pause, _WINDOW_SECONDS), _MEMORY_SECONDS)
        begun = max(self.paused_at - span, self._first_at)
        answers = self._sum(_ANSWERED, _step(begun))
        if answers:
            seconds = max(self.paused_until - begun, _WINDOW_SECONDS)
            self.borne.rate = min(self.borne.rate, answers / seconds)
            growth = _GROWTH * _GOOD_ANSWERS / answers
            self._growth = min(max(growth, _GROWTH), _FAST_GROWTH)
        self._raised_at = now

    def _count(self, at: float, which: int) -> None:
        step = _step(at)
        if step not in self._steps:
            oldest = step - _MEMORY_STEPS
            self._steps = {s: c for s, c in self._steps.items() if s > oldest}
            self._steps[step] = [0, 0, 0]
        self._steps[step][which] += 1

    def _sum(self, which: int, since: int) -> int:
        return sum(count[which] for s, count in self._steps.items() if s >= since)


_PACES = ("requests", "tokens", "borne")
_LEARNED = (
    "allowed",
    "paused_at",
    "paused_until",
    "_begun",
    "_first_at",
    "_refused",
    "_steps",
    "_pauses",
    "_is_estimated",
    "_growth",
    "_raised_at",
    "_lowered_at",
    "_refused_at",
)


def _rate(per_minute: float | None) -> float:
    return math.inf if per_minute is None else per_minute / 60


def _step(now: float) -> int:
    return math.floor(now / _STEP_SECONDS) if math.isfinite(now) else 0
